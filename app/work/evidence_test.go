package work

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// What is kept for a repository depends on its id: another one can have its name after it was renamed.
func TestRenamedRepositoryKeepsItsCaches(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	common := s.begin(time.Now())
	common.Store = storetest.Open(t, store.Config{})
	var err error
	common.Git, err = gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: common.Logger})
	must(t, err)
	w := &attemptWorker{common, newDecisionWorker(common), &branchWorker{common}}
	keys := func(repo sia.Repo) [2]string {
		branches, err := s.sim.Branches(repo.String())
		must(t, err)
		task := sia.Task{ID: "9-1", Installation: s.in, Repo: repo, BaseSHA: sia.SHA(branches["main"]),
			Attempts: []sia.Attempt{{Number: 1}}}
		in, err := w.input(t.Context(), task, "", policies.Interrupt{})
		must(t, err)
		return [2]string{in.Key, w.evidenceRequest(task, "").Repository}
	}
	was := s.repo.Name()
	before := keys(was)
	must(t, s.sim.RenameRepo("acme/shop", "old-shop"))
	if after := keys(sia.Repo{ID: was.ID, Owner: "acme", Name: "old-shop"}); before != after || before[0] == "" {
		t.Errorf("before and after it was renamed: %q, %q", before, after)
	}
}
