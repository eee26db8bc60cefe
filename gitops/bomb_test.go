package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// putObject writes an object into a repository: a blob, a tree as mktree reads it, or a
// commit of a tree.
func putObject(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@x")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// multiplied makes a commit of a tree in which each folder contains the same folder ten times, deep levels deep, within
// other folders.
func multiplied(t *testing.T, dir, content string, deep int, within ...string) string {
	t.Helper()
	mode, id := "100644 blob", putObject(t, dir, content, "hash-object", "-w", "--stdin")
	for range deep {
		var tree strings.Builder
		for i := range 10 {
			fmt.Fprintf(&tree, "%s %s\t%d\n", mode, id, i)
		}
		mode, id = "040000 tree", putObject(t, dir, tree.String(), "mktree")
	}
	for _, folder := range within {
		id = putObject(t, dir, fmt.Sprintf("%s %s\t%s\n", mode, id, folder), "mktree")
	}
	sha := putObject(t, dir, "", "commit-tree", "-m", "bomb", id)
	git(t, dir, "push", "-q", "origin", sha+":refs/heads/"+sha)
	return sha
}

// A few objects that describe a million files, or terabytes, are refused before anything is written, and so is a
// comparison with them.
//
//test:plain
//test:thorough
func TestTreeBombs(t *testing.T) {
	f := newFixture(t)
	for name, sha := range map[string]string{
		"files":             multiplied(t, f.work, "x", 6),
		"files without end": multiplied(t, f.work, "x", 60),
		"bytes":             multiplied(t, f.work, strings.Repeat("\x00", 12<<20), 3),
		"names":             multiplied(t, f.work, "x", 5, slices.Repeat([]string{strings.Repeat("n", 250)}, 16)...),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "w")
			if _, err := f.repo.Workspace(t.Context(), dir, sha); !errors.Is(err, ErrTree) {
				t.Errorf("Workspace: %v", err)
			}
			if left, err := filepath.Glob(dir + "/*"); err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}
			if name != "files without end" {
				return
			}
			if _, err := f.repo.Diff(t.Context(), f.main, sha); !errors.Is(err, ErrTree) {
				t.Errorf("Diff: %v", err)
			}
			if _, err := f.repo.Files(t.Context(), sha, ""); !errors.Is(err, ErrTree) {
				t.Errorf("Files: %v", err)
			}
		})
	}
}

// A checkout ends when its context is cancelled.
func TestCheckoutIsCancelled(t *testing.T) {
	f := newFixture(t)
	sha := multiplied(t, f.work, "x", 4)
	must0(t, f.repo.FetchCommit(t.Context(), sha))
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	must0(t, f.repo.viewCommit(t.Context(), "look", sha, func(o *packedObjects, h plumbing.Hash) error {
		tree := must[*object.Commit](t)(o.readCommit(h)).TreeHash
		if _, err := o.listTree(ctx, tree); !errors.Is(err, over) {
			t.Errorf("listed: %v", err)
		}
		all := must[[]treeFile](t)(o.listTree(t.Context(), tree))
		root := must[*os.Root](t)(os.OpenRoot(t.TempDir()))
		defer root.Close()
		if _, _, err := o.makeFolders(ctx, all, root); !errors.Is(err, over) {
			t.Errorf("made: %v", err)
		}
		return nil
	}))
}

// A work tree that is no valid tree is refused with a reason, as is a commit of it.
func TestCommitOfAnUnfitTree(t *testing.T) {
	f := newFixture(t)
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
	write(t, w.Dir(), map[string]string{strings.Repeat("d/", 205) + "f": "x"})
	if _, err := w.Commit(t.Context(), testSpec("c")); !errors.Is(err, ErrTree) ||
		!strings.Contains(err.Error(), "nested deeper than 200") || len(err.Error()) > 400 {
		t.Errorf("Commit: %v", err)
	}
	if _, err := w.Diff(t.Context()); !errors.Is(err, ErrTree) {
		t.Errorf("Diff: %v", err)
	}
}

// Names that are paths on Windows are left out and named, since programs that are tested on Linux make such files.
func TestBackslashesAreLeftOut(t *testing.T) {
	f := newFixture(t)
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
	write(t, w.Dir(), map[string]string{`a\.git\hooks\x`: "x", `.git\hooks/x`: "x", "new": "x"})
	sha := must[string](t)(w.Commit(t.Context(), testSpec("c")))
	must0(t, f.repo.Push(t.Context(), "b", sha, ""))
	if got := git(t, f.bare, "diff-tree", "-r", "--name-only", f.main, sha); got != "new" {
		t.Errorf("committed: %q", got)
	}
	if got := w.LeftOut().Misnamed; !slices.Equal(got, []string{`.git\hooks`, `a\.git\hooks\x`}) {
		t.Errorf("left out: %q", got)
	}
}

// A work tree that was removed or replaced is not taken for a change of every file.
func TestCommitOfAnotherFolder(t *testing.T) {
	for name, instead := range map[string]func(dir string) error{
		"nothing":      func(string) error { return nil },
		"an empty one": func(dir string) error { return os.Mkdir(dir, 0o755) },
		"a link":       func(dir string) error { return os.Symlink(dir+".was", dir) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
			if err := errors.Join(os.Rename(w.Dir(), w.Dir()+".was"), instead(w.Dir())); err != nil {
				t.Fatal(err)
			}
			if sha, err := w.Commit(t.Context(), testSpec("c")); !errors.Is(err, ErrTree) {
				t.Errorf("Commit: %s %v", sha, err)
			}
			if _, err := w.Diff(t.Context()); !errors.Is(err, ErrTree) {
				t.Errorf("Diff: %v", err)
			}
		})
	}
}

// Names that mean .git on some system are left out of every tree.
func TestCommitLeavesOutOtherGits(t *testing.T) {
	f := newFixture(t)
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
	files := map[string]string{"good.txt": "x"}
	for _, bad := range []string{".GIT", ".git ", ".git ::$INDEX_ALLOCATION", ".git::$DATA", "git~1", "GIT~1",
		".g\u200cit",
		".git.", ".git . .:x", "\ufeff.git"} {
		files[bad+"/config"] = "[core]\n\tfsmonitor = evil\n"
		files["sub/"+bad] = "gitdir: /x\n"
	}
	write(t, w.Dir(), files)
	sha := must[string](t)(w.Commit(t.Context(), testSpec("c")))
	var added []string
	must0(t, f.repo.EachChange(t.Context(), f.main, sha,
		func(c Change, _ func(string, int64) ([]byte, error)) error { added = append(added, c.Path); return nil }))
	if len(added) != 1 || added[0] != "good.txt" {
		t.Errorf("committed: %q", added)
	}
}

// EachChange visits every path that a commit adds or changes, with its content, however large.
func TestEachChange(t *testing.T) {
	f := newFixture(t)
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
	large := strings.Repeat("0123456789abcdef", 5<<20/16)
	write(t, w.Dir(), map[string]string{"large": large, "copy": large, "empty2": "", "src/main.go": "package main\n"})
	must0(t, os.Rename(filepath.Join(w.Dir(), "run.sh"), filepath.Join(w.Dir(), "go.sh")))
	must0(t, os.Symlink("there", filepath.Join(w.Dir(), "new-link")))
	sha := must[string](t)(w.Commit(t.Context(), testSpec("c")))
	got := map[string]string{}
	must0(t, f.repo.EachChange(t.Context(), f.main, sha, func(
		c Change, before func(string, int64) ([]byte, error),
	) error {
		in := must[io.ReadCloser](t)(c.Open())
		b := must[[]byte](t)(io.ReadAll(in))
		must0(t, in.Close())
		old, err := before(c.Path, 1<<20)
		got[c.Path] = fmt.Sprintf("%d %v %d %v", len(b), c.Seen, len(old), err)
		return nil
	}))
	for path, want := range map[string]string{"copy": "5242880 false 0 file does not exist",
		"large": "5242880 true 0 file does not exist", "empty2": "0 false 0 file does not exist",
		"go.sh": "18 false 0 file does not exist", "new-link": "5 false 0 file does not exist",
		"src/main.go": "13 false 42 <nil>"} {
		if got[path] != want {
			t.Errorf("%s: %s, want %s", path, got[path], want)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d changes: %v", len(got), got)
	}
}
