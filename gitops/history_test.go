package gitops_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
)

// inGit runs git in a folder.
func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// makeHistory makes a repository with eight commits, among them a merge, and files of each kind.
func makeHistory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	inGit(t, dir, "init", "--quiet", "--initial-branch=main")
	inGit(t, dir, "remote", "add", "origin", "git@github.com:acme/calc.git")
	for i := range 6 {
		write := func(name, text string) {
			p := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if i < 4 {
			write(fmt.Sprintf("a/b/file%d", i%3), fmt.Sprint("text ", i))
		}
		write("a.txt", strings.Repeat(fmt.Sprintln("line", i), 100)) // sorts between the folder and what is in it
		switch i {
		case 2:
			if err := errors.Join(os.Symlink("a/b", filepath.Join(dir, "link")),
				os.Chmod(filepath.Join(dir, "a.txt"), 0o755)); err != nil {
				t.Fatal(err)
			}
		case 4: // a folder becomes a file
			if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
				t.Fatal(err)
			}
			write("a", "a file now")
		case 5:
			if err := os.Remove(filepath.Join(dir, "a")); err != nil {
				t.Fatal(err)
			}
			write("a/again", "a folder again")
		}
		inGit(t, dir, "add", "--all")
		inGit(t, dir, "commit", "--quiet", "-m", fmt.Sprint("commit ", i, "\n\nMore."))
	}
	inGit(t, dir, "checkout", "--quiet", "-b", "side", "HEAD~1")
	inGit(t, dir, "commit", "--quiet", "--allow-empty", "-m", "aside")
	inGit(t, dir, "checkout", "--quiet", "main")
	inGit(t, dir, "merge", "--quiet", "--no-ff", "-m", "merge", "side")
	return dir
}

// historyView is the content of a history: its commits, their changes, and the files of the first.
type historyView struct {
	Commits []string
	Changes map[string][]string
	Files   []string
}

func viewHistory(t *testing.T, h *gitops.History) (out historyView) {
	t.Helper()
	out.Changes = map[string][]string{}
	err := h.Commits(t.Context(), func(c gitops.HistoryCommit) (bool, error) {
		out.Commits = append(out.Commits, c.SHA)
		changes, err := h.Changes(t.Context(), c.Parent, c.SHA, 100)
		if err != nil {
			return false, err
		}
		for _, f := range changes {
			status := "M"
			switch {
			case f.Was.ID == "":
				status = "A"
			case f.Now.ID == "":
				status = "D"
			case f.Was.Link != f.Now.Link:
				status = "T"
			}
			out.Changes[c.SHA] = append(out.Changes[c.SHA], status+"\t"+f.Path)
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Commits) > 0 {
		out.Files = filesOf(t, h, out.Commits[0])
	}
	slices.Sort(out.Commits)
	return out
}

func filesOf(t *testing.T, h *gitops.History, sha string) (out []string) {
	t.Helper()
	files, err := h.Files(t.Context(), sha)
	if err != nil {
		t.Fatal(err)
	}
	for p, f := range files {
		mode := "100644"
		if f.Executable {
			mode = "100755"
		}
		if f.Link {
			mode = "120000"
		}
		out = append(out, mode+" blob "+f.ID+"\t"+p)
	}
	slices.Sort(out)
	return out
}

// viewWithGit reads the same with git.
func viewWithGit(t *testing.T, dir string) (out historyView) {
	t.Helper()
	out.Changes = map[string][]string{}
	for line := range strings.Lines(inGit(t, dir, "rev-list", "--no-merges", "--min-parents=1", "HEAD")) {
		sha := strings.TrimSpace(line)
		if out.Commits == nil {
			out.Files = strings.Split(inGit(t, dir, "ls-tree", "-r", sha), "\n")
			slices.Sort(out.Files)
		}
		out.Commits = append(out.Commits, sha)
		changed := inGit(t, dir, "diff-tree", "-r", "--no-renames", "--no-commit-id", "--name-status", sha)
		if changed != "" {
			out.Changes[sha] = strings.Split(changed, "\n")
			slices.SortFunc(out.Changes[sha], func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
		}
	}
	slices.Sort(out.Commits)
	return out
}

// TestHistory reads a clone in each common form, and compares it with git.
func TestHistory(t *testing.T) {
	from := makeHistory(t)
	for name, prepare := range map[string]func(t *testing.T) (at, dir string){
		"as it is": func(*testing.T) (string, string) { return from, from },
		"a folder": func(*testing.T) (string, string) { return filepath.Join(from, "a"), from },
		"bare":     func(t *testing.T) (string, string) { return cloned(t, from, "--bare") },
		"packed": func(t *testing.T) (string, string) {
			_, dir := cloned(t, from)
			inGit(t, dir, "gc", "--quiet")
			return dir, dir
		},
		"shallow":   func(t *testing.T) (string, string) { return cloned(t, "file://"+from, "--depth=3") },
		"borrowing": func(t *testing.T) (string, string) { return cloned(t, from, "--shared") },
		"detached": func(t *testing.T) (string, string) {
			_, dir := cloned(t, from)
			inGit(t, dir, "checkout", "--quiet", "--detach", "HEAD~2")
			return dir, dir
		},
		"linked work tree": func(t *testing.T) (string, string) {
			_, dir := cloned(t, from)
			linked := filepath.Join(t.TempDir(), "linked")
			inGit(t, dir, "worktree", "add", "--quiet", "--detach", linked, "HEAD~1")
			return linked, linked
		},
	} {
		t.Run(name, func(t *testing.T) {
			at, dir := prepare(t)
			before := inGit(t, dir, "count-objects", "-v")
			h, err := gitops.OpenHistory(at)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if diff := cmp.Diff(viewWithGit(t, dir), viewHistory(t, h)); diff != "" {
				t.Errorf("(-git +ours):\n%s", diff)
			}
			if after := inGit(t, dir, "count-objects", "-v"); after != before {
				t.Errorf("reading changed the clone: %s, then %s", before, after)
			}
			head, err := h.Head()
			if want := inGit(t, dir, "rev-parse", "HEAD"); err != nil || head != want {
				t.Errorf("Head = %s, %v; want %s", head, err, want)
			}
		})
	}
}

func cloned(t *testing.T, from string, args ...string) (at, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "clone")
	inGit(t, t.TempDir(), append(append([]string{"clone", "--quiet"}, args...), from, dir)...)
	return dir, dir
}

// TestHistoryOfNothing opens a folder that is no clone, and an empty clone.
func TestHistoryOfNothing(t *testing.T) {
	if _, err := gitops.OpenHistory(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not in a git repository") {
		t.Errorf("a folder without a repository: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+strings.Repeat("x", 1<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := gitops.OpenHistory(dir); err == nil {
		t.Error("a .git that leads nowhere is opened")
	}
	empty := t.TempDir()
	inGit(t, empty, "init", "--quiet")
	h, err := gitops.OpenHistory(empty)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if got := viewHistory(t, h); len(got.Commits) > 0 {
		t.Errorf("an empty repository has %v", got.Commits)
	}
	full, err := gitops.OpenHistory(makeHistory(t))
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if full.Origin() != "git@github.com:acme/calc.git" {
		t.Errorf("Origin = %q", full.Origin())
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	err = full.Commits(stopped, func(gitops.HistoryCommit) (bool, error) { return true, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a walk that is cancelled: %v", err)
	}
}

// TestHistoryLacksObjects reads a clone that lacks a tree: that is an error, and the other commits can be read.
func TestHistoryLacksObjects(t *testing.T) {
	dir := makeHistory(t)
	sha := inGit(t, dir, "rev-parse", "HEAD~1")
	tree := inGit(t, dir, "rev-parse", sha+"^{tree}")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	h, err := gitops.OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Files(t.Context(), sha); !errors.Is(err, gitops.ErrMissing) {
		t.Errorf("Files of a commit without its tree: %v", err)
	}
	if _, err := h.Files(t.Context(), inGit(t, dir, "rev-parse", "HEAD~3")); err != nil {
		t.Errorf("Files of another: %v", err)
	}
}

// TestSnapshot makes a repository of one commit: git finds a clean work tree, and no earlier or later commits.
func TestSnapshot(t *testing.T) {
	from := makeHistory(t)
	h, err := gitops.OpenHistory(from)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	sha := inGit(t, from, "rev-parse", "HEAD~3")
	dir := t.TempDir()
	made, err := h.Snapshot(t.Context(), dir, sha)
	if err != nil {
		t.Fatal(err)
	}
	inGit(t, dir, "checkout", "--quiet", "--force", "main")
	if got := inGit(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status:\n%s", got)
	}
	if got := inGit(t, dir, "rev-list", "--all"); got != made {
		t.Errorf("commits %s, want %s alone", got, made)
	}
	if diff := cmp.Diff(inGit(t, from, "ls-tree", "-r", sha), inGit(t, dir, "ls-tree", "-r", "HEAD")); diff != "" {
		t.Errorf("files (-commit +snapshot):\n%s", diff)
	}
	inGit(t, dir, "fsck", "--strict")
	head := inGit(t, from, "rev-parse", "HEAD")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "cat-file", "-t", head).Output(); err == nil {
		t.Errorf("the head of the history is there: a %s", out)
	}
}
