package gitops

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (f *fixture) workspace() *Workspace {
	f.t.Helper()
	return must[*Workspace](f.t)(f.repo.Workspace(f.t.Context(), filepath.Join(f.t.TempDir(), "w"), f.main))
}

func paths(d Diff) (out []string) {
	for _, x := range d.Files {
		out = append(out, string(x.Status[0])+" "+x.Path)
	}
	return out
}

func TestReopen(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	w := f.workspace()
	write(t, w.Dir(), map[string]string{"kept": "x"})
	if w.Reused() {
		t.Error("a new workspace is said to be an old one")
	}
	repo := openCache(t, f.cache.dir, CacheOptions{}).Repo(f.remote("app.git"))
	again := must[*Workspace](t)(repo.Workspace(ctx, w.Dir(), f.main))
	if got := paths(must[Diff](t)(again.Diff(ctx))); !cmp.Equal(got, []string{"a kept"}) || !again.Reused() {
		t.Errorf("after opening again: %q, reused %v", got, again.Reused())
	}
	write(t, f.work, map[string]string{"n": "1"})
	next := commitAll(t, f.work, "next")
	if _, err := f.repo.Workspace(ctx, w.Dir(), next); !errors.Is(err, ErrNotWorkspace) {
		t.Errorf("of another commit: %v", err)
	}
	if _, err := f.cache.Repo(Remote{Key: "other", URL: f.url + "/app.git"}).Workspace(ctx, w.Dir(),
		f.main); !errors.Is(err, ErrNotWorkspace) {
		t.Errorf("of another repository: %v", err)
	}
	foreign := t.TempDir()
	write(t, foreign, map[string]string{"precious": "x"})
	if _, err := f.repo.Workspace(ctx, foreign, f.main); !errors.Is(err, ErrNotWorkspace) {
		t.Errorf("in somebody's directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(foreign, "precious")); err != nil {
		t.Error(err)
	}
	if _, err := f.repo.Workspace(ctx, filepath.Join(foreign, "precious"), f.main); err == nil {
		t.Error("a file became a workspace")
	}
	must0(t, w.Remove())
	if _, err := f.repo.Workspace(ctx, w.Dir(), next); err != nil {
		t.Errorf("after Remove: %v", err)
	}
}

// The directory of a key is found again, also by another process.
func TestWorkspaceDir(t *testing.T) {
	f := newFixture(t)
	dir := f.cache.WorkspaceDir("1-2/3/attempt")
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), dir, f.main))
	write(t, w.Dir(), map[string]string{"kept": "x"})
	other := openCache(t, f.cache.dir, CacheOptions{})
	if other.WorkspaceDir("1-2/3/attempt") != dir || other.WorkspaceDir("1-2/4/attempt") == dir {
		t.Error("the directory is not that of the key")
	}
	if again := must[*Workspace](t)(other.Repo(f.remote("app.git")).Workspace(t.Context(), dir, f.main)); !again.Reused() {
		t.Error("it was made anew")
	}
	must0(t, w.Remove())
	if again := must[*Workspace](t)(f.repo.Workspace(t.Context(), dir, f.main)); again.Reused() {
		t.Error("after Remove it was still there")
	}
}

// A checkout interrupted by a crash is repeated.
func TestInterruptedCheckout(t *testing.T) {
	f := newFixture(t)
	w := f.workspace()
	must0(t, w.note(false))
	must0(t, os.Remove(filepath.Join(w.Dir(), "README.md")))
	write(t, w.Dir(), map[string]string{"src/main.go": "half"})
	w = must[*Workspace](t)(f.repo.Workspace(t.Context(), w.Dir(), f.main))
	if got := git(t, w.Dir(), "status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
}

// Files that the cache's patterns match are left out, as git in the workspace does, unless a .gitignore re-includes
// them.
func TestIgnored(t *testing.T) {
	f := newFixture(t)
	cache := openCache(t, t.TempDir(), CacheOptions{Ignored: []byte("deps/\n*.tmp\n")})
	w := must[*Workspace](t)(cache.Repo(f.remote("app.git")).Workspace(t.Context(), "", f.main))
	write(t, w.Dir(), map[string]string{"deps/x": "x", "a.tmp": "x", "src/b.tmp": "x", "src/.gitignore": "!c.tmp\n",
		"src/c.tmp": "x", "new": "x"})
	if got := paths(must[Diff](t)(w.Diff(t.Context()))); !cmp.Equal(got, []string{"a new", "a src/.gitignore",
		"a src/c.tmp"}) {
		t.Errorf("Diff = %q", got)
	}
	if got := git(t, w.Dir(), "status", "--porcelain", "-uall"); got != "?? new\n?? src/.gitignore\n?? src/c.tmp" {
		t.Errorf("git status:\n%s", got)
	}
}

// Changes that were left are not part of the change, also after a restart, until somebody changes them. A workspace
// that is made again has none.
func TestLeaveChanges(t *testing.T) {
	f := newFixture(t)
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "w")
	w := must[*Workspace](t)(f.repo.Workspace(ctx, dir, f.main))
	write(t, dir, map[string]string{"deps/a": "a", "deps/b": "b", "made": "made"})
	must0(t, w.LeaveChanges(ctx))
	if sha, err := w.Commit(ctx, testSpec("nothing")); !errors.Is(err, ErrEmpty) {
		t.Errorf("commit %s, %v", sha, err)
	}
	repo := openCache(t, f.cache.dir, CacheOptions{}).Repo(f.remote("app.git"))
	w = must[*Workspace](t)(repo.Workspace(ctx, dir, f.main))
	write(t, dir, map[string]string{"deps/b": "changed", "deps/c": "c", "README.md": "changed"})
	must0(t, os.Chmod(filepath.Join(dir, "made"), 0o755))
	want := []string{"m README.md", "a deps/b", "a deps/c", "a made"}
	if got := paths(must[Diff](t)(w.Diff(ctx))); !cmp.Equal(got, want) || !w.Reused() {
		t.Errorf("Diff = %q, want %q", got, want)
	}
	must0(t, w.Reset(ctx))
	write(t, dir, map[string]string{"deps/a": "a"})
	if got := paths(must[Diff](t)(w.Diff(ctx))); !cmp.Equal(got, []string{"a deps/a"}) {
		t.Errorf("made again, Diff = %q", got)
	}
}

// Of tracked files, changes and deletions that were left are named, unless the files were written on purpose.
func TestLeaveChangesOfTrackedFiles(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	first := f.workspace()
	write(t, first.Dir(), map[string]string{"lock": "1", "gone": "x", "both": "1", "written": "1", "mode": "x"})
	base := must[string](t)(first.Commit(ctx, testSpec("files of a package manager")))
	dir := filepath.Join(t.TempDir(), "w")
	w := must[*Workspace](t)(f.repo.Workspace(ctx, dir, base))
	write(t, dir, map[string]string{"lock": "2", "both": "2", "written": "2", "new": "n"})
	must0(t, os.Remove(filepath.Join(dir, "gone")))
	must0(t, os.Chmod(filepath.Join(dir, "mode"), 0o755))
	must0(t, w.LeaveChanges(ctx))
	if sha, err := w.Commit(ctx, testSpec("nothing")); !errors.Is(err, ErrEmpty) {
		t.Errorf("commit %s, %v", sha, err)
	}
	write(t, dir, map[string]string{"both": "3", "README.md": "changed"})
	w.KeepWritten([]string{"written"})
	want := []string{"m README.md", "m both", "m written"}
	if got := paths(must[Diff](t)(w.Diff(ctx))); !cmp.Equal(got, want) {
		t.Errorf("Diff = %q, want %q", got, want)
	}
	if got := w.LeftOut().Before; !cmp.Equal(got, []string{"gone", "lock", "mode"}) {
		t.Errorf("LeftOut().Before = %q", got)
	}
}

// What builds make is left out and named, unless files in it are tracked or written on purpose. What only looks like
// it, and what setup had made, is not named.
func TestBuildsAreLeftOut(t *testing.T) {
	f := newFixture(t)
	ctx, w := t.Context(), f.workspace()
	write(t, w.Dir(), map[string]string{"tools/__pycache__/setup.pyc": "x"})
	must0(t, w.LeaveChanges(ctx))
	elf := "\x7fELF\x02\x01\x01\x00rest"
	write(t, w.Dir(), map[string]string{"Cargo.toml": "", "target/debug/x": "x", "src/lib/target/kept": "x",
		"env/pyvenv.cfg": "", "env/bin/python": "x", "node_modules/a/index.js": "x", "src/__pycache__/a.pyc": "x",
		"half.o": elf, "half": elf, "notes": "\x7fELF in words", "dist/a.js": "x", "gen/a.c": "x",
		"package.json": "{}", "build/a.js": "x", "web/package.json": "{}", "web/build/written.js": "x",
		"web/build/other.js": "x", "fixture.bin": elf, "ignored.log": "x", "other.log": "x", ".gitignore": "*.log\nout/\n",
		"out/report": "x"})
	w.KeepWritten([]string{"web/build/written.js", "./fixture.bin", "ignored.log", "out/report", "gone.log"})
	want := []string{"m .gitignore", "a Cargo.toml", "a fixture.bin", "a gen/a.c", "a notes", "a package.json",
		"a src/lib/target/kept", "a web/build/other.js", "a web/build/written.js", "a web/package.json"}
	if diff := cmp.Diff(want, paths(must[Diff](t)(w.Diff(ctx)))); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
	left := LeftOut{Built: []string{"build", "dist", "env", "half", "half.o", "node_modules", "src/__pycache__", "target"},
		Ignored: []string{"ignored.log", "out/report"}}
	if diff := cmp.Diff(left, w.LeftOut()); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// A changed file that Git stores through a filter is left out, unless its content is as the filter stores it.
func TestFilteredFilesAreLeftOut(t *testing.T) {
	f := newFixture(t)
	ctx, w := t.Context(), f.workspace()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
	write(t, w.Dir(), map[string]string{
		".gitattributes": "[attr]large filter=lfs diff=lfs -text\n*.bin large\nsecret/** filter=git-crypt diff=git-crypt\n" +
			"\"a b.dat\" filter=lfs\n*.txt text\nkept.bin !filter\n# *.go filter=x\n",
		"a.bin": "raw", "kept.bin": "raw", "pointer.bin": pointer, "secret/key": "raw", "a b.dat": "raw", "c.txt": "x",
		"secret/.gitattributes": ".gitattributes !filter\nopen -filter\n", "secret/open": "x", "c.go": "x",
		"secret/cipher": "\x00GITCRYPT\x00x", "src/.gitattributes": "lib.go filter=x\n", "src/lib/lib.go": "raw"})
	want := []string{"a .gitattributes", "a c.go", "a c.txt", "a kept.bin", "a pointer.bin", "a secret/.gitattributes",
		"a secret/cipher", "a secret/open", "a src/.gitattributes"}
	if diff := cmp.Diff(want, paths(must[Diff](t)(w.Diff(ctx)))); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
	left := LeftOut{Filtered: []string{"a b.dat", "a.bin", "secret/key", "src/lib/lib.go"}}
	if diff := cmp.Diff(left, w.LeftOut()); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// Programs in the work tree try to have files outside read or written.
//
//test:thorough
func TestHostileTree(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	w := f.workspace()
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(outside), map[string]string{"secret": "secret content"})
	at := func(p string) string { return filepath.Join(w.Dir(), p) }
	must0(t, os.RemoveAll(at("src/lib")))
	must0(t, os.Symlink(filepath.Dir(outside), at("src/lib")))
	must0(t, os.Remove(at("README.md")))
	must0(t, os.Symlink(outside, at("README.md")))
	must0(t, os.Symlink(".", at("loop")))
	must0(t, os.Remove(at(".gitignore")))
	must0(t, os.Symlink(outside, at(".gitignore")))
	must0(t, syscall.Mkfifo(at("pipe"), 0o600))
	write(t, w.Dir(), map[string]string{".GIT/config": "x", "sub/.git/config": "x", "sub/x": "x",
		".git/hooks/pre-commit": "x", ".git/objects/pack/x.idx": "x"})
	must0(t, os.RemoveAll(at(".git/objects")))
	d := must[Diff](t)(w.Diff(ctx))
	want := []string{"m .gitignore", "m README.md", "a loop", "a src/lib", "d src/lib/data.in", "d src/lib/lib.go"}
	if got := paths(d); !cmp.Equal(got, want) {
		t.Errorf("Diff = %q, want %q", got, want)
	}
	if got := w.LeftOut().Repositories; !cmp.Equal(got, []string{"sub"}) {
		t.Errorf("left out: %q", got)
	}
	if strings.Contains(d.Patch, "secret content") {
		t.Error("a symlink was followed")
	}
	sha := must[string](t)(w.Commit(ctx, testSpec("hostile")))
	must0(t, f.repo.Push(ctx, "b", sha, ""))
	git(t, f.bare, "fsck", "--strict")
	if got := git(t, f.bare, "cat-file", "-p", sha+":README.md"); got != outside {
		t.Errorf("README.md is %q, want the link's target", got)
	}
}

// The same size and a restored time of modification: the time of change reveals the change.
func TestStatCacheIsNotFooled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("on %s only the time of modification is known", runtime.GOOS)
		return
	}
	f := newFixture(t)
	w := f.workspace()
	p := filepath.Join(w.Dir(), "src/main.go")
	st, err := os.Stat(p)
	must0(t, err)
	b, err := os.ReadFile(p)
	must0(t, err)
	must0(t, os.WriteFile(p, []byte(strings.Replace(string(b), "1", "7", 1)), 0o644))
	must0(t, os.Chtimes(p, st.ModTime(), st.ModTime()))
	if got := paths(must[Diff](t)(w.Diff(t.Context()))); !cmp.Equal(got, []string{"m src/main.go"}) {
		t.Errorf("Diff = %q", got)
	}
	// Touched but the same: no change.
	must0(t, os.WriteFile(p, b, 0o644))
	must0(t, os.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)))
	if got := paths(must[Diff](t)(w.Diff(t.Context()))); len(got) != 0 {
		t.Errorf("Diff = %q", got)
	}
}

// Submodules stay as they are, and changes of them are named.
func TestSubmoduleLeftAlone(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	git(t, f.work, "update-index", "--add", "--cacheinfo", "160000,"+f.main+",vendor/sub")
	git(t, f.work, "commit", "-q", "-m", "submodule")
	git(t, f.work, "push", "-q", "origin", "HEAD")
	sha := git(t, f.work, "rev-parse", "HEAD")
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", sha))
	if st, err := os.Stat(filepath.Join(w.Dir(), "vendor/sub")); err != nil || !st.IsDir() {
		t.Errorf("submodule folder: %v", err)
	}
	must[Diff](t)(w.Diff(ctx))
	if got := w.LeftOut().Repositories; len(got) != 0 {
		t.Errorf("left out without a change: %q", got)
	}
	write(t, w.Dir(), map[string]string{"vendor/sub/x": "x", "vendor/y": "y"})
	c := must[string](t)(w.Commit(ctx, testSpec("c")))
	if got := w.LeftOut().Repositories; !slices.Equal(got, []string{"vendor/sub"}) {
		t.Errorf("left out: %q", got)
	}
	must0(t, f.repo.Push(ctx, "b", c, ""))
	if got := git(t, f.bare, "ls-tree", "-r", "--name-only", c, "vendor"); got != "vendor/sub\nvendor/y" {
		t.Errorf("vendor: %q", got)
	}
	if files := must[[]File](t)(f.repo.Files(ctx, c, "vendor")); len(files) != 2 || !files[0].Mode.IsDir() {
		t.Errorf("Files = %v", files)
	}
	must0(t, os.RemoveAll(filepath.Join(w.Dir(), "vendor")))
	if got := paths(must[Diff](t)(w.Diff(ctx))); len(got) != 0 || len(w.LeftOut().Repositories) != 1 {
		t.Errorf("removed: %q, left out %q", got, w.LeftOut().Repositories)
	}
	must0(t, w.LeaveChanges(ctx)) // as if setup had removed it
	must[Diff](t)(w.Diff(ctx))
	if got := w.LeftOut().Repositories; len(got) != 0 {
		t.Errorf("left out what setup removed: %q", got)
	}
}

func TestFileBecomesFolder(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	w := f.workspace()
	must0(t, os.Remove(filepath.Join(w.Dir(), "run.sh")))
	must0(t, os.RemoveAll(filepath.Join(w.Dir(), "src")))
	write(t, w.Dir(), map[string]string{"run.sh/a/b": "x", "src": "y", "src.d/z": "z", "src-": "z"})
	sha := must[string](t)(w.Commit(ctx, testSpec("c")))
	must0(t, f.repo.Push(ctx, "b", sha, ""))
	git(t, f.bare, "fsck", "--strict")
	want := ".gitignore\nREADME.md\nempty\nlink\nrun.sh/a/b\nsrc\nsrc-\nsrc.d/z\n\"w\\303\\266rld/\\303\\274 b.txt\""
	if got := git(t, f.bare, "ls-tree", "-r", "--name-only", sha); got != want {
		t.Errorf("files:\n%s", got)
	}
}

//test:plain
func TestHugeFile(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	w := f.workspace()
	big := strings.Repeat("0123456789abcde\n", 1<<20) // 16 MiB
	write(t, w.Dir(), map[string]string{"big": big, "bin": "a\x00b"})
	d := must[Diff](t)(w.Diff(ctx))
	if !d.Truncated || len(d.Files) != 2 || len(d.Files[0].Hunks) != 0 || !d.Files[1].Binary {
		t.Errorf("Diff of a huge file: truncated %v", d.Truncated)
	}
	sha := must[string](t)(w.Commit(ctx, testSpec("big")))
	must0(t, f.repo.Push(ctx, "b", sha, ""))
	fresh := openCache(t, t.TempDir(), CacheOptions{}).Repo(f.remote("app.git"))
	w2 := must[*Workspace](t)(fresh.Workspace(ctx, "", sha))
	if b := must[[]byte](t)(os.ReadFile(filepath.Join(w2.Dir(), "big"))); string(b) != big {
		t.Error("the file came back different")
	}
}

// Files written by programs are removed by the configured function: programs make folders read-only, as Go's module
// cache does.
func TestRemove(t *testing.T) {
	f := newFixture(t)
	var removed string
	f.cache.remove = func(name string) error {
		removed = name
		return os.RemoveAll(name)
	}
	w := f.workspace()
	must0(t, w.Remove())
	if _, err := os.Stat(w.Dir()); !os.IsNotExist(err) || removed != w.Dir() {
		t.Errorf("still there: %v; removed %q", err, removed)
	}
}

func TestCommitSpecRefused(t *testing.T) {
	f := newFixture(t)
	w := f.workspace()
	write(t, w.Dir(), map[string]string{"x": "x"})
	for name, spec := range map[string]CommitSpec{
		"no message":  testSpec(" \n"),
		"NUL":         testSpec("a\x00b"),
		"no author":   {Message: "m"},
		"no time":     {Message: "m", Author: Signature{Name: "a", Email: "b"}},
		"bad trailer": {Message: "m", Author: testSpec("").Author, Trailers: []Trailer{{"a b", "c"}}},
	} {
		if _, err := w.Commit(t.Context(), spec); err == nil {
			t.Errorf("%s: committed", name)
		}
	}
	spec := testSpec("m")
	spec.Author.Name = "Eve <eve@example.com>\nparent 0000"
	spec.Trailers = []Trailer{{"Key", "a\nOther: b"}}
	sha := must[string](t)(w.Commit(t.Context(), spec))
	m := must[generation](t)(f.repo.mirror.current(t.Context()))
	want := "Eve eve@example.com parent 0000|" + f.main + "|Key: a Other: b"
	if got := git(t, m.dir, "log", "-1", "--format=%an|%P|%(trailers:only,unfold)", sha); strings.TrimSpace(got) != want {
		t.Errorf("commit = %q, want %q", got, want)
	}
}

// A mirror to which nothing is added for long loses its content, unless a workspace uses it.
func TestUnusedMirrors(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	f.workspace()
	remote := f.remote("app.git")
	remote.Key = "2/app.git"
	unused := f.cache.Repo(remote)
	must[string](t)(unused.Fetch(ctx, "main"))
	packs := func(r *Repo) int {
		return len(must[[]string](t)(filepath.Glob(filepath.Join(r.mirror.dir, "g-*/objects/pack/*.pack"))))
	}
	for _, days := range []int{29, 31} {
		want := (31 - days) / 2
		f.cache.now = func() time.Time { return time.Now().AddDate(0, 0, days) }
		if f.cache.Tidy(ctx); packs(unused) != want || packs(f.repo) != 1 {
			t.Errorf("after %d days: %d packs, and %d where a workspace is", days, packs(unused), packs(f.repo))
		}
	}
	must[string](t)(unused.Fetch(ctx, "main"))
	for _, c := range []struct {
		after time.Duration
		keys  []string
		err   error
		want  int
	}{
		{2 * time.Hour, []string{f.repo.mirror.key, remote.Key}, nil, 1}, {2 * time.Hour, nil, errors.New("no answer"), 1},
		{2 * time.Hour, []string{"another"}, errors.New("the answer breaks off"), 1},
		{time.Minute, nil, nil, 1}, // it may be about to be used
		{2 * time.Hour, nil, nil, 0}, {3 * time.Hour, nil, nil, 0},
	} {
		f.cache.now = func() time.Time { return time.Now().Add(c.after) }
		f.cache.keys = func(context.Context) ([]string, error) { return c.keys, c.err }
		if f.cache.Tidy(ctx); packs(unused) != c.want || packs(f.repo) != 1 {
			t.Errorf("%+v: %d packs, and %d where a workspace is", c, packs(unused), packs(f.repo))
		}
	}
	must[string](t)(unused.Fetch(ctx, "main"))
	if got := must[[]byte](t)(unused.ReadFile(ctx, f.main, "README.md", 100)); len(got) == 0 {
		t.Error("nothing is read after it was emptied")
	}
}

func TestOpenSweeps(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, CacheOptions{})
	old := filepath.Join(c.tmp(), "old")
	write(t, c.tmp(), map[string]string{"old": "", "new": ""})
	long := time.Now().Add(-leftoverAge - time.Hour)
	must0(t, os.Chtimes(old, long, long))
	openCache(t, dir, CacheOptions{})
	if left := must[[]os.DirEntry](t)(os.ReadDir(c.tmp())); len(left) != 1 || left[0].Name() != "new" {
		t.Errorf("left: %v", left)
	}
}
