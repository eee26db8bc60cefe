package work

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// An update with a lost outcome finds its own merge on the branch, although the base has moved since. Otherwise the
// merge would count as somebody else's push.
func TestAnUpdateIsFoundAgain(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	push := func(name string) string {
		t.Helper()
		sha, err := s.sim.PushFiles("acme/shop", "main", "ann", name, map[string]string{name: name + "\n"})
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	branches, err := s.sim.Branches("acme/shop")
	if err != nil {
		t.Fatal(err)
	}
	base := branches["main"]
	onto := push("first")

	common := s.begin(time.Now())
	if common.Git, err = gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: common.Logger}); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, store.Config{})
	common.Store = db
	task := sia.Task{ID: sia.NewTaskID(s.repo.Name().ID, 1), Installation: s.in, Repo: s.repo.Name(), Issue: 1,
		BaseBranch: "main", BaseSHA: sia.SHA(base), Branch: "work", Head: sia.SHA(s.head),
		Attempts: []sia.Attempt{{Number: 1, Head: sia.SHA(s.head)}}}
	if _, err := db.Apply(t.Context(), task.ID, sia.Event{ID: "start", At: time.Now(), By: sia.Actor{Login: "ann"},
		Fact: sia.Start{Installation: s.in, Repo: task.Repo, Issue: 1, Title: "Greet", DefaultBranch: "main"}}); err != nil {
		t.Fatal(err)
	}
	f := sia.Effect{Key: string(task.ID) + "/1/update-v9", Task: task.ID, Kind: sia.DoUpdate, Attempt: 1, SHA: task.Head,
		At: time.Now()}
	var first sia.Updated
	for try := range 2 {
		fact, err := (&branchWorker{common: common}).update(t.Context(), task, f)
		if err != nil {
			t.Fatal(err)
		}
		got := fact.(sia.Updated)
		if try == 0 {
			first = got
			push("second")
		}
		if got.SHA == "" || got.SHA != first.SHA || got.Onto != sia.SHA(onto) || got.From != task.Head {
			t.Errorf("try %d: %+v, after %+v", try+1, got, first)
		}
	}
}
