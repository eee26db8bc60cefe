package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAttempt runs an attempt: fetch, workspace, change, commit, push, and a second commit on top. The git command line
// checks the results.
func TestAttempt(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	sha := must[string](t)(f.repo.Fetch(ctx, "main"))
	if sha != f.main {
		t.Fatalf("Fetch = %s, want %s", sha, f.main)
	}
	w := must[*Workspace](t)(f.repo.Workspace(ctx, filepath.Join(t.TempDir(), "w"), sha))
	if got := git(t, w.Dir(), "status", "--porcelain"); got != "" {
		t.Errorf("git status in a new workspace:\n%s", got)
	}
	if _, err := w.Commit(ctx, testSpec("nothing")); err == nil {
		t.Error("Commit of nothing succeeded")
	}

	write(t, w.Dir(), map[string]string{
		"src/main.go":      "package main\n\nfunc main() {\n\tprintln(2)\n}\n",
		"src/new/new.go":   "package new",
		"debug.log":        "ignored",
		"build/out/a":      "ignored",
		"space dir/tab\t.": "odd\n",
	})
	os.Remove(filepath.Join(w.Dir(), "README.md"))
	os.Chmod(filepath.Join(w.Dir(), "src/lib/lib.go"), 0o755)
	os.Remove(filepath.Join(w.Dir(), "link"))
	os.Symlink("/etc/passwd", filepath.Join(w.Dir(), "link"))
	os.Rename(filepath.Join(w.Dir(), "src/lib/data.in"), filepath.Join(w.Dir(), "moved.in"))

	d := must[Diff](t)(w.Diff(ctx))
	type line struct {
		Path, Old string
		Status    FileStatus
		Add, Del  int
	}
	var got []line
	for _, x := range d.Files {
		got = append(got, line{x.Path, x.OldPath, x.Status, x.Added, x.Deleted})
	}
	want := []line{
		{"README.md", "", FileDeleted, 0, 3},
		{"link", "", FileModified, 1, 1},
		{"moved.in", "src/lib/data.in", FileRenamed, 0, 0},
		{"space dir/tab\t.", "", FileAdded, 1, 0},
		{"src/lib/lib.go", "", FileModified, 0, 0},
		{"src/main.go", "", FileModified, 1, 1},
		{"src/new/new.go", "", FileAdded, 1, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}

	spec := testSpec("Change things\n\nBecause.")
	spec.Trailers = []Trailer{{"Sia-Task", "1-2"}, {"Sia-Attempt", "1"}}
	c1 := must[string](t)(w.Commit(ctx, spec))
	if again := must[string](t)(w.Commit(ctx, spec)); again != c1 {
		t.Errorf("Commit again = %s, want %s", again, c1)
	}
	if err := w.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := f.repo.Push(ctx, "sia/issue-1", c1, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.repo.Push(ctx, "sia/issue-1", c1, ""); err != nil {
		t.Errorf("second Push: %v", err)
	}
	git(t, f.bare, "fsck", "--strict", "--full")
	wantNames := "D\tREADME.md\nM\tlink\nR100\tsrc/lib/data.in\tmoved.in\nA\t\"space dir/tab\\t.\"\n" +
		"M\tsrc/lib/lib.go\nM\tsrc/main.go\nA\tsrc/new/new.go"
	if got := git(t, f.bare, "diff", "--name-status", "-M", f.main, c1); got != wantNames {
		t.Errorf("git sees:\n%s\nwant:\n%s", got, wantNames)
	}
	if got := git(t, f.bare, "ls-tree", c1, "link"); !strings.HasPrefix(got, "120000") {
		t.Errorf("link: %s", got)
	}
	if got := git(t, f.bare, "ls-tree", c1, "src/lib/lib.go"); !strings.HasPrefix(got, "100755") {
		t.Errorf("lib.go: %s", got)
	}
	// The patch, applied by git, gives the commit's tree.
	check := filepath.Join(t.TempDir(), "check")
	git(t, f.root, "clone", "-q", f.bare, check)
	patch := filepath.Join(t.TempDir(), "p.diff")
	os.WriteFile(patch, []byte(d.Patch), 0o600)
	git(t, check, "apply", "--index", patch)
	if got, want := git(t, check, "write-tree"), git(t, f.bare, "rev-parse", c1+"^{tree}"); got != want {
		t.Errorf("tree after git apply: %s, want %s\n%s", got, want, d.Patch)
	}

	if got := git(t, f.bare, "log", "-1", "--format=%an|%ae|%aI|%cn|%P|%(trailers:only,unfold)", c1); got !=
		"SIA|sia@example.com|2026-01-02T03:04:05+01:00|SIA|"+f.main+"|Sia-Task: 1-2\nSia-Attempt: 1\n" && got !=
		"SIA|sia@example.com|2026-01-02T03:04:05+01:00|SIA|"+f.main+"|Sia-Task: 1-2\nSia-Attempt: 1" {
		t.Errorf("git log: %q", got)
	}

	// A second attempt on top, which sends only its own objects.
	w2 := must[*Workspace](t)(f.repo.Workspace(ctx, "", c1))
	write(t, w2.Dir(), map[string]string{"src/main.go": "package main\n"})
	c2 := must[string](t)(w2.Commit(ctx, testSpec("second")))
	if err := f.repo.Push(ctx, "sia/issue-1", c2, c1); err != nil {
		t.Fatal(err)
	}
	if f.received > 1500 {
		t.Errorf("pushed %d bytes for one small file", f.received)
	}
	if got := git(t, f.bare, "rev-parse", "sia/issue-1"); got != c2 {
		t.Errorf("branch at %s, want %s", got, c2)
	}
	git(t, f.bare, "fsck", "--strict", "--full")
	dd := must[Diff](t)(f.repo.Diff(ctx, f.main, c2))
	if dd.Added != 3 || dd.Deleted != 8 {
		t.Errorf("Diff main..c2: +%d -%d\n%s", dd.Added, dd.Deleted, dd.Patch)
	}
	if strings.Contains(f.logs.String(), testToken) {
		t.Error("the token is in the log")
	}
}

// A commit with more bytes or objects than the limits is not fetched, nothing of it is left behind, and it is not taken
// for a file that is too large.
func TestFetchTooLarge(t *testing.T) {
	for name, limits := range map[string]packLimits{
		"bytes": {size: 100, objects: maxFetchedObjects}, "objects": {size: maxFetchedBytes, objects: 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.cache.fetched = limits
			f.log()
			_, err := f.repo.ReadFile(t.Context(), f.main, "README.md", 1<<20)
			if !errors.Is(err, ErrFetchTooLarge) || errors.Is(err, ErrTooLarge) {
				t.Errorf("fetched: %v", err)
			}
			if asked := f.log(); len(asked) > 2 {
				t.Errorf("tried again: %v", asked)
			}
			if left, err := filepath.Glob(filepath.Join(f.cache.tmp(), "*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}
