package gitops

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bigRepository is a repository of 5,000 files of source-like text, 30 MB.
func bigRepository(b *testing.B) (*gitServer, string, string) {
	s := newGitServer(b)
	bare, work := s.create("big.git")
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("func return if err nil string int for range package import type struct interface " +
		"map slice chan select case default context")
	files := map[string]string{}
	for i := range 5000 {
		var sb strings.Builder
		for range 20 + rnd.IntN(300) {
			for range 4 + rnd.IntN(5) {
				sb.WriteString(words[rnd.IntN(len(words))])
				sb.WriteByte(' ')
			}
			sb.WriteByte('\n')
		}
		files[fmt.Sprintf("pkg%d/sub%d/file%d.go", i%20, i%200, i)] = sb.String()
	}
	write(b, work, files)
	return s, bare, commitAll(b, work, "big")
}

// BenchmarkSecondWorkspace makes the workspace of a second attempt with its base in the mirror, and compares it with
// the git command line's clone that borrows the mirror's objects.
func BenchmarkSecondWorkspace(b *testing.B) {
	s, bare, sha := bigRepository(b)
	r := openCache(b, b.TempDir(), CacheOptions{}).Repo(s.remote("big.git"))
	if err := r.FetchCommit(b.Context(), sha); err != nil {
		b.Fatal(err)
	}
	b.Run("sia", func(b *testing.B) {
		for b.Loop() {
			w, err := r.Workspace(b.Context(), "", sha)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			w.Remove()
			b.StartTimer()
		}
	})
	b.Run("git", func(b *testing.B) {
		mirror := filepath.Join(b.TempDir(), "mirror.git")
		git(b, b.TempDir(), "clone", "-q", "--bare", "file://"+bare, mirror) // git can't borrow from a shallow one
		for b.Loop() {
			dir := filepath.Join(b.TempDir(), "w")
			git(b, mirror, "clone", "-q", "--reference", mirror, "--depth", "1", "file://"+bare, dir)
			b.StopTimer()
			os.RemoveAll(dir)
			b.StartTimer()
		}
	})
}

// BenchmarkCommit changes one file of 5,000 and commits.
func BenchmarkCommit(b *testing.B) {
	s, _, sha := bigRepository(b)
	r := openCache(b, b.TempDir(), CacheOptions{}).Repo(s.remote("big.git"))
	w, err := r.Workspace(b.Context(), "", sha)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Remove()
	i := 0
	for b.Loop() {
		i++
		write(b, w.Dir(), map[string]string{"pkg1/new.go": fmt.Sprint("package p // ", i)})
		if _, err := w.Commit(b.Context(), testSpec("c")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFetch fetches the big repository for the first time.
func BenchmarkFetch(b *testing.B) {
	s, bare, sha := bigRepository(b)
	b.Run("sia", func(b *testing.B) {
		for b.Loop() {
			r := openCache(b, b.TempDir(), CacheOptions{}).Repo(s.remote("big.git"))
			if err := r.FetchCommit(b.Context(), sha); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			git(b, b.TempDir(), "clone", "-q", "--bare", "--depth", "1", "file://"+bare, filepath.Join(b.TempDir(), "m"))
		}
	})
}
