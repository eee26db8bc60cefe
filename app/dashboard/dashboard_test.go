package dashboard

import (
	"fmt"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// A draft that waits for a person is listed, however many pull requests to review are older.
func TestDraftsAreListed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 3, 7, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := storetest.Open(t, store.Config{URL: storetest.SQLite(t), Now: clock})
	repo := sia.Repo{ID: 7, Owner: "octo", Name: "demo"}
	for n := 1; n <= maxTasks+1; n++ {
		now = now.Add(time.Minute)
		task := sia.Task{ID: sia.NewTaskID(repo.ID, n), Installation: 3, Repo: repo, Issue: n, State: sia.Passed, Since: now,
			Pull: sia.Pull{Number: 1000 + n}}
		if n > maxTasks {
			task.Pull.Draft, task.Pull.Refused = true, "the plan has no drafts"
		}
		e := sia.Event{ID: fmt.Sprint("restored ", n), At: now, Fact: sia.Restored{Task: task}}
		if _, err := s.Apply(t.Context(), task.ID, e); err != nil {
			t.Fatal(err)
		}
	}
	v, err := New(s, nil, nil, render.Links{}, clock).view(t.Context(), 3, repo)
	if err != nil || len(v.Ready) != maxTasks || len(v.Tasks) != 1 || v.Tasks[0].Issue != maxTasks+1 {
		t.Errorf("%d to review, waiting: %+v, %v", len(v.Ready), v.Tasks, err)
	}
}
