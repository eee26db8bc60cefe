package gitops

import (
	"errors"
	"testing"
)

// A history is fetched to the requested depth, again when the branch moved, and through a mirror that is replaced.
func TestFetchHistory(t *testing.T) {
	s := newGitServer(t)
	_, work := s.create("app.git")
	push := func() string {
		write(t, work, map[string]string{"count": git(t, work, "rev-list", "--all", "--count") + "\n"})
		sha := commitAll(t, work, "one more")
		git(t, work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
		return sha
	}
	for range 6 {
		push()
	}
	repo := openCache(t, t.TempDir(), CacheOptions{}).Repo(s.remote("app.git"))
	for i := range maxHistories + 2 {
		tip := push()
		for range 2 { // the second time nothing is fetched
			h, err := repo.FetchHistory(t.Context(), "main", 4)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			var got []string
			err = h.Commits(t.Context(), func(c HistoryCommit) (bool, error) {
				got = append(got, c.SHA)
				_, err := h.Changes(t.Context(), c.Parent, c.SHA, 10)
				return true, err
			})
			if err != nil || len(got) < 3 || i == 0 && len(got) > 3 || got[0] != tip {
				t.Fatalf("commits %v, %v; want the last 3, and what was fetched before, from %s", got, err, tip)
			}
			if head, err := h.Head(); err != nil || head != tip {
				t.Errorf("Head = %s, %v", head, err)
			}
		}
	}
	if _, err := repo.FetchHistory(t.Context(), "nowhere", 4); !errors.Is(err, ErrNoBranch) {
		t.Errorf("a branch that there is not: %v", err)
	}
}
