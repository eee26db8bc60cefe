package work

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// A repair with an outdated task overwrites what an effect wrote meanwhile, detects that, and writes the present task.
func TestARepairIsOvertaken(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	issue, err := s.sim.OpenIssue("acme/shop", "ann", "Greet", "Greet the customers.")
	if err != nil {
		t.Fatal(err)
	}
	common := s.begin(time.Now())
	db := storetest.Open(t, store.Config{})
	common.Store = db
	w := &surfaceWorker{common: common}
	id := sia.NewTaskID(s.repo.Name().ID, issue)
	apply := func(event string, fact sia.Fact) sia.Task {
		t.Helper()
		res, err := db.Apply(t.Context(), id, sia.Event{ID: event, At: time.Now(), By: sia.Actor{Login: "ann"}, Fact: fact})
		if err != nil || res.Ignored != "" {
			t.Fatal(res.Ignored, err)
		}
		if _, err := w.sync(t.Context(), res.Task, sia.Effect{}); err != nil {
			t.Fatal(err)
		}
		return res.Task
	}
	was := apply("start", sia.Start{Installation: s.in, Repo: s.repo.Name(), Issue: issue, Title: "Greet",
		DefaultBranch: "main"})
	apply("pause", sia.PauseAsked{Reason: "lunch"})
	if err := w.repair(t.Context(), was); err != nil {
		t.Fatal(err)
	}
	on, err := s.sim.Issue("acme/shop", issue)
	if err != nil || len(on.Comments) != 1 || !strings.Contains(on.Comments[0].Body, "Paused by `ann`") {
		t.Errorf("it shows %+v, %v", on.Comments, err)
	}
	if labels := strings.Join(on.Labels, " "); !strings.Contains(labels, "paused") {
		t.Errorf("its labels are %s", labels)
	}
}
