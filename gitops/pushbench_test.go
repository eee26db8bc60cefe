package gitops

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// longRepository is a repository of 2,000 files and 5,000 commits, each of
// which changes one of them.
func longRepository(b *testing.B) (s *gitServer, head string) {
	s = newGitServer(b)
	bare, _ := s.create("long.git")
	var in bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata 1\nc\n", 1700000000+i)
		first, last := i%2000, i%2000
		if i == 0 {
			last = 1999
		}
		for n := first; n <= last; n++ {
			text := fmt.Sprintf("package p\n\nconst version%d = %d\n%s", n, i, strings.Repeat("// prose\n", n%50))
			fmt.Fprintf(&in, "M 100644 inline d%d/e%d/f%d.go\ndata %d\n%s\n", n%20, n%200, n, len(text), text)
		}
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = bare, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git fast-import: %v\n%s", err, out)
	}
	return s, git(b, bare, "rev-parse", "main")
}

// BenchmarkPush pushes a commit that changes one of 2,000 files, on top of 5,000 commits: from one fetched commit, as
// SIA does, and from a full clone with the git command line. docs/adr/0006-git-by-hand.md quotes it.
func BenchmarkPush(b *testing.B) {
	s, base := longRepository(b)
	w, err := openCache(b, b.TempDir(), CacheOptions{}).Repo(s.remote("long.git")).Workspace(b.Context(), "", base)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Remove()
	pushes := 0
	b.Run("sia", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			pushes++
			write(b, w.Dir(), map[string]string{"d1/new.go": fmt.Sprint("package p // ", pushes)})
			head, err := w.Commit(b.Context(), testSpec("c"))
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if err := w.repo.Push(b.Context(), fmt.Sprintf("sia-%d", pushes), head, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	clone := filepath.Join(b.TempDir(), "clone")
	git(b, b.TempDir(), "clone", "-q",
		strings.Replace(s.url, "://", "://x-access-token:"+testToken+"@", 1)+"/long.git", clone)
	commit := func() {
		pushes++
		write(b, clone, map[string]string{"d1/new.go": fmt.Sprint("package p // git ", pushes)})
		git(b, clone, "add", "-A")
		git(b, clone, "commit", "-q", "-m", "c")
	}
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			commit()
			b.StartTimer()
			git(b, clone, "push", "-q", "origin", fmt.Sprintf("HEAD:refs/heads/git-%d", pushes))
		}
	})
}
