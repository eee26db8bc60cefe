package gitops

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Names are fetched without any content from a server that omits contents, and are kept for a day.
func TestFetchNames(t *testing.T) {
	s := newGitServer(t)
	bare, work := s.create("app.git")
	git(t, bare, "config", "uploadpack.allowFilter", "true")
	git(t, bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	commit := func(files map[string]string) string {
		write(t, work, files)
		sha := commitAll(t, work, "change")
		git(t, work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
		return sha
	}
	commit(map[string]string{"a/x.go": "1", "a/x_test.go": "1", "b.go": strings.Repeat("a large file\n", 100_000)})
	commit(map[string]string{"a/x.go": "2", "a/x_test.go": "2"})
	tip := commit(map[string]string{"b.go": "2"})
	many := map[string]string{}
	for i := range mostNamedFiles + 1 {
		many[fmt.Sprintf("many/%d", i)] = "1"
	}
	last := commit(many)

	dir := t.TempDir()
	c := openCache(t, dir, CacheOptions{})
	repo := c.Repo(s.remote("app.git"))
	want := [][]string{{"b.go"}, {"a/x.go", "a/x_test.go"}}
	check := func(sha string) {
		t.Helper()
		got, err := repo.FetchNames(t.Context(), sha)
		if err != nil {
			t.Fatal(err)
		}
		var paths [][]string
		for _, n := range got {
			paths = append(paths, n.Paths)
		}
		if !slices.EqualFunc(paths, want, slices.Equal) {
			t.Errorf("%v, want %v", paths, want)
		}
	}
	check(tip)
	s.log()
	check(last) // less than a day later: nothing is fetched
	if asked := s.log(); len(asked) > 0 {
		t.Errorf("asked again: %v", asked)
	}
	if left, err := filepath.Glob(filepath.Join(dir, tmpDir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	now := time.Now().Add(namesFor + time.Hour)
	c.now = func() time.Time { return now }
	check(last) // the commit with many files is left out
	if asked := s.log(); len(asked) == 0 {
		t.Error("not asked after a day")
	}
}

// A server that refuses the filter has no names, and is not asked again for a day. An unreachable server is an error.
func TestFetchNamesRefused(t *testing.T) {
	s := newGitServer(t)
	bare, work := s.create("app.git")
	git(t, bare, "config", "uploadpack.allowFilter", "false")
	write(t, work, map[string]string{"a.go": "1"})
	commitAll(t, work, "one")
	write(t, work, map[string]string{"a.go": "2"})
	tip := commitAll(t, work, "two")
	git(t, work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
	repo := openCache(t, t.TempDir(), CacheOptions{}).Repo(s.remote("app.git"))
	for i := range 2 {
		s.log()
		if got, err := repo.FetchNames(t.Context(), tip); err != nil || len(got) > 0 {
			t.Fatalf("%v, %v; want no names and no error", got, err)
		}
		if asked := s.log(); i == 1 && len(asked) > 0 {
			t.Errorf("asked again: %v", asked)
		}
	}
	s.before(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "no", http.StatusForbidden)
		return true
	})
	other := openCache(t, t.TempDir(), CacheOptions{})
	if _, err := other.Repo(s.remote("app.git")).FetchNames(t.Context(), tip); err == nil {
		t.Error("a server that says no: no error")
	}
}
