package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// TestAnotherBaseComesFirst: if the pull request has another base, and the previous one is gone, the new base is
// processed first, even while a user is asked about a check that the settings there may name.
func TestAnotherBaseComesFirst(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	pull, err := s.sim.OpenPull("acme/shop", "ann", "work", "main", "A change", "", false)
	if err != nil {
		t.Fatal(err)
	}
	w := &checkWorker{common: s.begin(time.Now())}
	if w.Git, err = gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: w.Logger}); err != nil {
		t.Fatal(err)
	}
	task := s.task(t)
	task.Pull, task.BaseBranch = sia.Pull{Number: pull}, "merged-since"
	task.Escalation = &sia.Escalation{Number: 1, Kind: sia.AskBlocked}
	e, err := w.headChecks(t.Context(), task)
	if err != nil || e.found == nil || e.found.Base != "main" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestEarlierHeads: checks that reported on earlier heads are missed, including those of the latest attempts, even if
// others have pushed more commits since than a task records.
func TestEarlierHeads(t *testing.T) {
	task := sia.Task{Head: "h9", Former: []sia.SHA{"p1", "p2", "p3"},
		Attempts: []sia.Attempt{{Head: "a1"}, {Head: "a2"}, {}, {Head: "h9"}}}
	if got := strings.Join(earlierHeads(task), " "); got != "p3 p2 p1 a2 a1" {
		t.Errorf("the heads are %s", got)
	}
	task.Former = append(task.Former, "a2")
	for i := range 10 {
		task.Attempts = append(task.Attempts, sia.Attempt{Head: sia.SHA(fmt.Sprint("b", i))})
	}
	if got := earlierHeads(task); strings.Join(got, " ") != "a2 p3 p2 p1 b9" || len(got) != github.MaxEarlier {
		t.Errorf("the heads are %v", got)
	}
}
