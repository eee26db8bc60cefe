package gitops

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func files(m map[string][]byte) func(func(string) ([]byte, error)) (map[string][]byte, error) {
	return func(func(string) ([]byte, error)) (map[string][]byte, error) { return m, nil }
}

func (f *fixture) memory(update func(func(string) ([]byte, error)) (map[string][]byte, error)) (string, bool, error) {
	return f.repo.CommitFiles(f.t.Context(), FilesSpec{
		Branch: "sia/memory", Message: "Remember", Author: testSpec("").Author, Update: update,
	})
}

func TestCommitFiles(t *testing.T) {
	f := newFixture(t)
	if sha, changed, err := f.memory(files(nil)); sha != "" || changed || err != nil {
		t.Errorf("nothing on no branch: %q %v %v", sha, changed, err)
	}
	one, changed, err := f.memory(files(map[string][]byte{".sia/tasks/1.md": []byte("one"),
		".sia/tasks/1.json": []byte("{}"), ".sia/same": []byte("{}"), "x": {}}))
	must0(t, err)
	if got := git(t, f.bare, "log", "--format=%P|%s", "sia/memory"); !changed || got != "|Remember" {
		t.Errorf("first commit: %v %q", changed, got)
	}
	same, changed, err := f.memory(files(map[string][]byte{".sia/tasks/1.md": []byte("one"), "absent": nil}))
	if same != one || changed || err != nil {
		t.Errorf("unchanged: %q %v %v", same, changed, err)
	}
	two, _, err := f.memory(func(read func(string) ([]byte, error)) (map[string][]byte, error) {
		b, err := read(".sia/tasks/1.md")
		if _, missing := read("absent"); !errors.Is(missing, fs.ErrNotExist) {
			t.Errorf("read of an absent file: %v", missing)
		}
		return map[string][]byte{".sia/tasks/2.md": append(b, '2'), ".sia/tasks/1.json": nil, ".sia/same": nil, "x": nil}, err
	})
	must0(t, err)
	git(t, f.bare, "fsck", "--strict")
	if got := git(t, f.bare, "ls-tree", "-r", "--name-only", two); got != ".sia/tasks/1.md\n.sia/tasks/2.md" {
		t.Errorf("files: %q", got)
	}
	if got := git(t, f.bare, "show", two+":.sia/tasks/2.md"); got != "one2" {
		t.Errorf("2.md = %q", got)
	}
	for name, bad := range map[string]string{"up": "../x", "git": ".git/config", "in a file": ".sia/tasks/1.md/x",
		"a folder": ".sia/tasks", "absolute": "/x", "empty": ""} {
		if _, _, err := f.memory(files(map[string][]byte{bad: []byte("x")})); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if _, _, err := f.memory(files(map[string][]byte{".sia": nil})); err == nil {
		t.Error("a folder was removed as if it were a file")
	}
	sorry := errors.New("cannot")
	fails := func(func(string) ([]byte, error)) (map[string][]byte, error) { return nil, sorry }
	if _, _, err := f.memory(fails); !errors.Is(err, sorry) {
		t.Errorf("Update fails: %v", err)
	}
}

// A branch that should have some content is not changed if it has another.
func TestCommitFilesMindsContent(t *testing.T) {
	f := newFixture(t)
	commit := func(branch string) error {
		_, _, err := f.repo.CommitFiles(t.Context(), FilesSpec{Branch: branch, Message: "Remember",
			Author: testSpec("").Author, Holds: []string{".sia/lessons.md", ".sia/tasks"},
			Update: files(map[string][]byte{".sia/tasks/1.md": []byte(branch)})})
		return err
	}
	for range 2 { // absent, then its own
		must0(t, commit("notes"))
		_, _, err := f.repo.CommitFiles(t.Context(), FilesSpec{Branch: "notes", Message: "Explain",
			Author: testSpec("").Author, Update: files(map[string][]byte{"README.md": []byte("SIA's notes")})})
		must0(t, err)
	}
	git(t, f.bare, "branch", "merged", "main")
	_, _, err := f.repo.CommitFiles(t.Context(), FilesSpec{Branch: "merged", Message: "Merge notes",
		Author: testSpec("").Author, Update: files(map[string][]byte{".sia/tasks/1.md": []byte("notes")})})
	must0(t, err)
	_, _, err = f.repo.CommitFiles(t.Context(), FilesSpec{Branch: "settings", Message: "Set", Author: testSpec("").Author,
		Update: files(map[string][]byte{".sia/config.yml": []byte("label: x")})})
	must0(t, err)
	for _, branch := range []string{"main", "merged", "settings"} {
		before := git(t, f.bare, "rev-parse", branch)
		if err := commit(branch); !errors.Is(err, ErrOtherContent) || git(t, f.bare, "rev-parse", branch) != before {
			t.Errorf("another branch, %s: %v", branch, err)
		}
		if err := f.repo.CheckHolds(t.Context(), before, []string{".sia/tasks"}); !errors.Is(err, ErrOtherContent) {
			t.Errorf("what is in %s: %v", branch, err)
		}
	}
	notes := git(t, f.bare, "rev-parse", "notes")
	if err := f.repo.CheckHolds(t.Context(), notes, []string{".sia/tasks"}); err != nil {
		t.Errorf("its own: %v", err)
	}
}

func TestCommitFilesKeepsMode(t *testing.T) {
	f := newFixture(t)
	sha, _, err := f.repo.CommitFiles(t.Context(), FilesSpec{
		Branch: "main", Message: "m", Author: testSpec("").Author,
		Update: files(map[string][]byte{"run.sh": []byte("new"), "link": []byte("file now")}),
	})
	must0(t, err)
	if got := git(t, f.bare, "ls-tree", sha, "run.sh", "link"); !strings.Contains(got, "100755 blob") ||
		!strings.Contains(got, "100644 blob") {
		t.Errorf("modes:\n%s", got)
	}
	if got := git(t, f.bare, "rev-parse", sha+"^"); got != f.main {
		t.Errorf("parent %s", got)
	}
}

// Six concurrent writers increment a counter; no update is lost.
func TestCommitFilesConcurrently(t *testing.T) {
	f := newFixture(t)
	other := openCache(t, t.TempDir(), CacheOptions{}).Repo(f.remote("app.git"))
	var wg sync.WaitGroup
	for i := range 6 {
		r := f.repo
		if i%2 == 1 {
			r = other
		}
		wg.Go(func() {
			_, _, err := r.CommitFiles(t.Context(), FilesSpec{
				Branch: "sia/memory", Message: fmt.Sprint("step of ", i), Author: testSpec("").Author,
				Update: func(read func(string) ([]byte, error)) (map[string][]byte, error) {
					b, err := read("count")
					if err != nil && !errors.Is(err, fs.ErrNotExist) {
						return nil, err
					}
					n, _ := strconv.Atoi(string(b))
					return map[string][]byte{"count": []byte(strconv.Itoa(n + 1))}, nil
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := git(t, f.bare, "show", "sia/memory:count"); got != "6" {
		t.Errorf("count = %s, want 6", got)
	}
	if got := git(t, f.bare, "rev-list", "--count", "sia/memory"); got != "6" {
		t.Errorf("%s commits", got)
	}
}

func TestCommitFilesGivesUp(t *testing.T) {
	f := newFixture(t)
	n := 0
	f.on(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			n++
			git(t, f.work, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(n))
			git(t, f.work, "push", "-q", "-f", "origin", "HEAD:refs/heads/sia/memory")
		}
		return false
	})
	calls := 0
	_, _, err := f.repo.CommitFiles(t.Context(), FilesSpec{
		Branch: "sia/memory", Message: "m", Author: testSpec("").Author,
		Update: func(func(string) ([]byte, error)) (map[string][]byte, error) {
			calls++
			return map[string][]byte{"x": []byte("y")}, nil
		},
	})
	var lease *LeaseError
	if !errors.As(err, &lease) || calls != pushRetries+1 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

// Commits of a whole work tree equal what git itself makes of it.
func TestCommitEqualsGit(t *testing.T) {
	f := newFixture(t)
	steps := []func(dir string){
		func(dir string) {
			write(t, dir, map[string]string{".gitignore": "/only-root\n**/deep/*.tmp\n!keep.log\n*.log\nlogs/**\n!/logs/keep\n" +
				"\\#hash\nsp\\ \n[ab].x\nq{1,2}\nfoo*bar/\n\nsub/dir/\n"})
			write(t, dir, map[string]string{"only-root": "", "d/only-root": "", "x/deep/a.tmp": "", "x/deep/y/a.tmp": "",
				"keep.log": "", "d/z.log": "", "logs/a": "", "logs/keep": "", "logs/s/t": "",
				"#hash": "", "sp ": "", "a.x": "", "c.x": "", "q1": "", "q{1,2}": "", "fooXbar/f": "", "d/foobar": "",
				"sub/dir/f": "", "o/sub/dir/f": ""})
		},
		func(dir string) {
			write(t, dir, map[string]string{"n/.gitignore": "*\n!.gitignore\n!k*\n", "n/k": "", "n/l": "", "n/kk/l": "",
				"n/kk/k": "", "src/lib/.gitignore": "*.in\n", "src/lib/data.in": "tracked, changed\n", "src/lib/other.in": ""})
		},
		func(dir string) {
			must0(t, os.RemoveAll(filepath.Join(dir, "d")))
			must0(t, os.Rename(filepath.Join(dir, "src"), filepath.Join(dir, "source")))
			must0(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o644))
			write(t, dir, map[string]string{"build/x": "", "build2/x": "", "🙂/é": "é", "a\nb": "newline", "-dash": ""})
		},
	}
	head := f.main
	for i, step := range steps {
		w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", head))
		step(w.Dir())
		head = must[string](t)(w.Commit(t.Context(), testSpec(fmt.Sprint(i))))
		git(t, w.Dir(), "add", "-A")
		want := git(t, w.Dir(), "write-tree")
		got := git(t, must[generation](t)(f.repo.mirror.current(t.Context())).dir, "rev-parse", head+"^{tree}")
		if got != want {
			ours := must[[]File](t)(f.repo.Files(t.Context(), head, ""))
			var names []string
			for _, x := range ours {
				names = append(names, x.Path)
			}
			theirs := strings.Split(strings.TrimSuffix(git(t, w.Dir(), "ls-files", "-z"), "\x00"), "\x00")
			t.Fatalf("step %d (-git +ours):\n%s", i, cmp.Diff(theirs, names))
		}
	}
	must0(t, f.repo.Push(t.Context(), "chain", head, ""))
	git(t, f.bare, "fsck", "--strict")
}

// An absent branch can be created at a commit; later calls ignore that commit.
func TestCommitFilesBeginsAtBase(t *testing.T) {
	f := newFixture(t)
	main, err := f.repo.Fetch(t.Context(), "main")
	must0(t, err)
	write := func(content string) string {
		t.Helper()
		sha, _, err := f.repo.CommitFiles(t.Context(), FilesSpec{
			Branch: "sia/proposal", Base: main, Message: "m", Author: testSpec("").Author,
			Update: files(map[string][]byte{".sia/techniques/x.md": []byte(content)}),
		})
		must0(t, err)
		return sha
	}
	one := write("one")
	if got := git(t, f.bare, "diff", "--name-status", main, one); got != "A\t.sia/techniques/x.md" {
		t.Errorf("against the base: %q", got)
	}
	if two := write("two"); git(t, f.bare, "rev-parse", two+"^") != one {
		t.Error("the second commit does not stand on the first")
	}
}
