package gitops

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

// merges makes commits for a merge with a file moved by one side and changed by the other.
func (f *fixture) merges() (base, ours, theirs string) {
	text := lines("one two three four five six seven eight nine ten")
	b := fileTree{"big.bin": "\x00" + strings.Repeat("no text ", 500),
		"dir/sub/k": "k", "c": "0\n", "f": text, "old": text + "old\n"}
	o, t := maps.Clone(b), maps.Clone(b)
	o["f"], o["c"], o["moved/old"], o["ours"] = strings.Replace(text, "one", "ONE", 1), "a\n", text+"old\n", "only ours"
	delete(o, "old")
	t["f"], t["c"], t["old"], t["theirs"] = strings.Replace(text, "ten", "TEN", 1), "b\n", text+"new\n", "only theirs"
	at := importTrees(f.t, f.bare, [3]fileTree{b, o, t})[0]
	git(f.t, f.bare, "branch", "-f", "ours", at[1])
	git(f.t, f.bare, "branch", "-f", "theirs", at[2])
	return at[0], at[1], at[2]
}

// sentObjects pushes a commit to a branch and returns which objects the server got.
func (f *fixture) sentObjects(branch, sha, expect string) []string {
	f.t.Helper()
	o := must[generation](f.t)(f.repo.mirror.current(f.t.Context()))
	objs := must[*packedObjects](f.t)(openObjects(o.dir))
	defer objs.close()
	at, err := f.repo.client.discoverRefs(f.t.Context(), "test", "refs/heads/"+branch)
	must0(f.t, err)
	var out []string
	for _, n := range must[[]newObject](f.t)(objs.unsentObjects(plumbing.NewHash(sha), at.has)) {
		out = append(out, n.id.String())
	}
	must0(f.t, f.repo.Push(f.t.Context(), branch, sha, expect))
	git(f.t, f.bare, "fsck", "--strict", "--full", "--connectivity-only")
	slices.Sort(out)
	return out
}

// lackedObjects lists, by git, the objects of a commit that other commits lack.
func (f *fixture) lackedObjects(sha string, others ...string) []string {
	f.t.Helper()
	args := append([]string{"rev-list", "--objects", "--no-object-names", sha, "--not"}, others...)
	out := strings.Fields(git(f.t, f.bare, args...))
	slices.Sort(out)
	return out
}

// A merge commit, as made or as resolved in a workspace, is pushed with only the objects that the server lacks. The
// resolved one is not a child of the one with markers.
func TestPushMerge(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	base, ours, theirs := f.merges()
	m := must[Merged](t)(f.repo.Merge(ctx, base, ours, theirs, testSpec("merge"), MergeLabels{"ours", "theirs"}))
	if want := []Conflict{{"c", ConflictContent}}; !slices.Equal(m.Conflicts, want) {
		t.Fatalf("conflicts %v", m.Conflicts)
	}
	sent := f.sentObjects("marked", m.SHA, "")
	if diff := cmp.Diff(f.lackedObjects(m.SHA, ours, theirs), sent); diff != "" {
		t.Errorf("marked: objects (-lacked +sent):\n%s", diff)
	}
	git(t, f.bare, "branch", "-D", "marked")
	git(t, f.bare, "gc", "-q", "--prune=now")

	// Later, in another process, with a resolution.
	f.repo = openCache(t, f.cache.dir, CacheOptions{}).Repo(f.remote("app.git"))
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", m.SHA))
	if got := must[[]byte](t)(os.ReadFile(filepath.Join(w.Dir(), "c"))); string(got) !=
		"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n" {
		t.Errorf("c = %q", got)
	}
	write(t, w.Dir(), map[string]string{"c": "ab\n", "dir/sub/copy": "k"})
	spec := testSpec("resolved")
	spec.Parents = []string{ours, theirs}
	resolved := must[string](t)(w.Commit(ctx, spec))
	if again := must[string](t)(w.Commit(ctx, spec)); again != resolved {
		t.Errorf("committed again: %s, %s", resolved, again)
	}
	sent = f.sentObjects("resolved", resolved, "")
	if diff := cmp.Diff(f.lackedObjects(resolved, ours, theirs), sent); diff != "" {
		t.Errorf("resolved: objects (-lacked +sent):\n%s", diff)
	}
	if got := git(t, f.bare, "log", "-1", "--format=%P", resolved); got != ours+" "+theirs {
		t.Errorf("parents %s", got)
	}
	if _, err := gitTry(f.bare, "cat-file", "-e", m.SHA); err == nil {
		t.Error("the commit with markers was pushed")
	}
	want := f.tree(resolved)
	fresh := openCache(t, t.TempDir(), CacheOptions{}).Repo(f.remote("app.git"))
	f.repo = fresh
	if diff := cmp.Diff(want, f.tree(resolved)); diff != "" {
		t.Errorf("the server's files (-here +there):\n%s", diff)
	}
	if want["moved/old"] != lines("one two three four five six seven eight nine ten new") || want["c"] != "ab\n" {
		t.Errorf("files %v", want)
	}
}

// Nothing was changed in the workspace: with named parents it is still a commit.
func TestCommitParents(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	base, ours, theirs := f.merges()
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", ours))
	if _, err := w.Commit(ctx, testSpec("none")); !errors.Is(err, ErrEmpty) {
		t.Errorf("without parents: %v", err)
	}
	dir := must[generation](t)(f.repo.mirror.current(ctx)).dir
	for name, c := range map[string]struct{ given, want []string }{
		"one":       {[]string{theirs}, []string{theirs}},
		"two":       {[]string{ours, theirs}, []string{ours, theirs}},
		"three":     {[]string{theirs, ours, base}, []string{theirs, ours, base}},
		"one twice": {[]string{ours, theirs, ours}, []string{ours, theirs}},
	} {
		spec := testSpec(name)
		spec.Parents = c.given
		sha := must[string](t)(w.Commit(ctx, spec))
		if got := git(t, dir, "log", "-1", "--format=%P", sha); got != strings.Join(c.want, " ") {
			t.Errorf("%s: parents %s", name, got)
		}
		if git(t, dir, "rev-parse", sha+"^{tree}") != git(t, dir, "rev-parse", ours+"^{tree}") {
			t.Errorf("%s: another tree", name)
		}
		sent := f.sentObjects(strings.ReplaceAll(name, " ", "-"), sha, "")
		if diff := cmp.Diff(f.lackedObjects(sha, c.want...), sent); diff != "" {
			t.Errorf("%s: objects (-lacked +sent):\n%s", name, diff)
		}
	}
	for _, bad := range []string{"", "main", strings.Repeat("0", 39), strings.Repeat("a", 40)} {
		spec := testSpec("bad")
		spec.Parents = []string{ours, bad}
		if sha, err := w.Commit(ctx, spec); err == nil {
			t.Errorf("parent %q: %s", bad, sha)
		}
	}
}

// Ours was made here and not pushed yet: it is pushed with the merge.
func TestMergeOfUnpushed(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	_, head, theirs := f.merges()
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", head))
	write(t, w.Dir(), map[string]string{"mine/a": "1", "c": "b\n"})
	ours := must[string](t)(w.Commit(ctx, testSpec("mine")))
	m := must[Merged](t)(f.repo.Merge(ctx, head, ours, theirs, testSpec("merge"), MergeLabels{}))
	sent := f.sentObjects("ours", m.SHA, head)
	if diff := cmp.Diff(f.lackedObjects(m.SHA, head, theirs), sent); diff != "" {
		t.Errorf("objects (-lacked +sent):\n%s", diff)
	}
	write(t, w.Dir(), map[string]string{"mine/a": "2"})
	more := must[string](t)(w.Commit(ctx, testSpec("more")))
	m2 := must[Merged](t)(f.repo.Merge(ctx, head, m.SHA, more, testSpec("on a merge"), MergeLabels{}))
	if len(m2.Conflicts) != 1 || m2.Conflicts[0].Path != "mine/a" {
		t.Errorf("conflicts %v", m2.Conflicts)
	}
	sent = f.sentObjects("ours", m2.SHA, m.SHA)
	if diff := cmp.Diff(f.lackedObjects(m2.SHA, m.SHA), sent); diff != "" {
		t.Errorf("objects of the second (-lacked +sent):\n%s", diff)
	}
}

// With nothing to merge, the result is ours.
func TestMergeNothing(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	base, ours, theirs := f.merges()
	for name, c := range map[string][3]string{"theirs is base": {base, ours, base}, "theirs is ours": {base, ours, ours}} {
		m, err := f.repo.Merge(ctx, c[0], c[1], c[2], testSpec("m"), MergeLabels{})
		if err != nil || m.SHA != ours || m.Conflicts != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	m := must[Merged](t)(f.repo.Merge(ctx, base, base, theirs, testSpec("m"), MergeLabels{}))
	if diff := cmp.Diff(f.tree(theirs), f.tree(m.SHA)); diff != "" || m.Conflicts != nil {
		t.Errorf("ours is base: %v, %s", m.Conflicts, diff)
	}
}

func TestMergeRefused(t *testing.T) {
	f := newFixture(t)
	base, ours, theirs := f.merges()
	var missing *NotFoundError
	absent := strings.Repeat("a", 40)
	for i := range 3 {
		at := [3]string{base, ours, theirs}
		at[i] = absent
		m, err := f.repo.Merge(t.Context(), at[0], at[1], at[2], testSpec("m"), MergeLabels{})
		if !errors.As(err, &missing) || m.SHA != "" {
			t.Errorf("commit %d is missing: %v, %v", i, m, err)
		}
		at[i] = "HEAD"
		if m, err := f.repo.Merge(t.Context(), at[0], at[1], at[2], testSpec("m"), MergeLabels{}); err == nil {
			t.Errorf("commit %d is no hash: %v", i, m)
		}
	}
	if m, err := f.repo.Merge(t.Context(), base, ours, theirs, CommitSpec{}, MergeLabels{}); err == nil {
		t.Errorf("without a message: %v", m)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if m, err := f.repo.Merge(ended, base, ours, theirs, testSpec("m"), MergeLabels{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v, %v", m, err)
	}
	if _, err := f.repo.Unresolved(t.Context(), ours, []string{"../x"}); err == nil {
		t.Error("a path outside was looked at")
	}
	got, err := f.repo.Unresolved(t.Context(), ours, []string{"absent", "dir", "c/x", "big.bin"})
	if err != nil || got != nil {
		t.Errorf("Unresolved: %q, %v", got, err)
	}
}

// The mirror is replaced while the three commits are fetched, and loses its content: the merge is the same, and can
// still be pushed after another replacement.
func TestMergeInOvergrownMirror(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	base, ours, theirs := f.merges()
	fresh := openCache(t, t.TempDir(), CacheOptions{}).Repo(f.remote("app.git"))
	want := must[Merged](t)(fresh.Merge(ctx, base, ours, theirs, testSpec("m"), MergeLabels{}))
	must0(t, fresh.Push(ctx, "elsewhere", want.SHA, ""))
	m := fillMirror(t, f.repo, maxPacks-1)
	if got := must[Merged](t)(f.repo.Merge(ctx, base, ours, theirs, testSpec("m"), MergeLabels{})); !cmp.Equal(got, want) {
		t.Errorf("merged %v, want %v", got, want)
	}
	now := must[generation](t)(f.repo.mirror.current(ctx))
	if now == m {
		t.Fatal("the mirror was not renewed")
	}
	// The same merge is fetched, so that the mirror has all objects of the next one already.
	must0(t, f.repo.FetchCommit(ctx, want.SHA))
	made := must[Merged](t)(f.repo.Merge(ctx, base, ours, theirs, testSpec("another message"), MergeLabels{}))
	git(t, f.bare, "branch", "-D", "elsewhere")
	git(t, f.bare, "gc", "-q", "--prune=now")
	must0(t, f.repo.mirror.renew(ctx, now))
	must0(t, f.repo.Push(ctx, "b", made.SHA, ""))
	git(t, f.bare, "fsck", "--strict", "--full")
}

// Merged files are held in memory, so their size is limited: beyond it, ours is kept.
func TestMergedTextBounded(t *testing.T) {
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	text := lines("one two three four five")
	at := importTrees(t, bare, [3]fileTree{{"f": text}, {"f": "0\n" + text}, {"f": text + "six\n"}})[0]
	o := must[*packedObjects](t)(openObjects(bare))
	defer o.close()
	entry := func(commit string) treeEntry {
		trees := must[[]plumbing.Hash](t)(o.treesOf([]plumbing.Hash{plumbing.NewHash(commit)}))
		return must[[]treeEntry](t)(o.readTree(trees[0]))[0]
	}
	ours := entry(at[1])
	for held, want := range map[int]ConflictKind{0: "", maxMergedText - 100: "", maxMergedText: ConflictTooLarge,
		10 * maxMergedText: ConflictTooLarge} {
		m := &treeMerge{ctx: t.Context(), objects: o, text: held}
		merged, kind, err := m.mergeFile(entry(at[0]), ours, entry(at[2]))
		if err != nil || kind != want || merged.sameAs(ours) != (want != "") {
			t.Errorf("with %d bytes held: %v, %v, %v", held, merged, kind, err)
		}
	}
}

// A merge ends when its context is cancelled.
func TestMergeEnds(t *testing.T) {
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	at := importTrees(t, bare, [3]fileTree{{"f": "0\n"}, {"f": "a\n"}, {"f": "b\n"}})[0]
	o := must[*packedObjects](t)(openObjects(bare))
	defer o.close()
	trees := must[[]plumbing.Hash](t)(o.treesOf(must[[]plumbing.Hash](t)(parseSHAs(at[:]))))
	sorry := errors.New("the task was stopped")
	ctx, end := context.WithCancelCause(t.Context())
	end(sorry)
	if _, err := mergeTrees(ctx, o, trees[0], trees[1], trees[2], MergeLabels{}); !errors.Is(err, sorry) {
		t.Errorf("trees: %v", err)
	}
	m := &treeMerge{ctx: ctx, objects: o}
	if err := m.mergeEntry("f", treeEntry{}, treeEntry{}, treeEntry{}); !errors.Is(err, sorry) {
		t.Errorf("a file: %v", err)
	}
}
