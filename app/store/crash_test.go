package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// TestKilledAtEachBoundary copies the database as it stands before and after
// each effect — what a killed process leaves on the disk — and goes on from
// every copy: each comes to the same end, and each outcome is applied once.
func TestKilledAtEachBoundary(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sia.db")
	clock := frozen(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	s := storetest.Open(t, store.Config{URL: path, Now: clock.now})
	id := sia.NewTaskID(7, 42)
	apply(t, s, id, sia.Event{ID: "start", At: clock.now(),
		Fact: sia.Start{Installation: 3, Repo: sia.Repo{ID: 7, Owner: "octo", Name: "demo"}, Issue: 42, Title: "t",
			DefaultBranch: "main"}})

	disk, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var mu sync.Mutex
	copies := map[string]string{}
	finish(t, s, clock, id, func(_ context.Context, when string, f sia.Effect) {
		mu.Lock()
		defer mu.Unlock()
		to := filepath.Join(dir, fmt.Sprintf("%d.db", len(copies)))
		if _, err := disk.Exec(`VACUUM INTO ?`, to); err != nil {
			t.Error(err)
		}
		copies[when+" "+f.Key] = to
	})
	if len(copies) < 16 {
		t.Fatalf("only %d boundaries were met", len(copies))
	}
	for name, path := range copies {
		t.Run(strings.ReplaceAll(name, "/", ":"), func(t *testing.T) {
			t.Parallel()
			clock := frozen(clock.now())
			finish(t, storetest.Open(t, store.Config{URL: path, Now: clock.now}), clock, id, nil)
		})
	}
}

func apply(t *testing.T, s *store.Store, id sia.TaskID, e sia.Event) {
	t.Helper()
	if _, err := s.Apply(context.Background(), id, e); err != nil {
		t.Fatal(err)
	}
}

// finish runs a task until it has passed and nothing is due, and checks that
// each effect reported once and that the log gives the task.
func finish(
	t *testing.T, s *store.Store, clock *frozenClock, id sia.TaskID, boundary func(context.Context, string, sia.Effect),
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	e, err := s.Start(ctx, store.Handlers{
		Effect: allWell, Boundary: boundary,
		Delivery: func(context.Context, store.Delivery) error { return nil },
	}, store.EngineConfig{Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	for {
		if err := e.Idle(ctx); err != nil {
			t.Fatal(err)
		}
		task, err := s.Replay(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if task.State == sia.Passed {
			break
		}
		due, err := e.NextDue(ctx)
		if err != nil || due.IsZero() {
			t.Fatalf("the task is %s and nothing waits, %v", task.State, err)
		}
		clock.set(due)
	}
	events, err := s.Events(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	reported := map[string]bool{}
	for _, r := range events {
		if key := r.Event.Effect; key != "" && reported[key] {
			t.Errorf("effect %s reported twice", key)
		} else {
			reported[key] = true
		}
	}
}

// allWell is a world in which everything goes well at once.
func allWell(_ context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	switch f.Kind {
	case sia.DoBegin:
		set := sia.DefaultSettings()
		set.Checks.Settle = sia.Duration(time.Millisecond)
		return sia.Begun{Settings: set, BaseBranch: "main", BaseSHA: "ba5e", Title: t.Title}, nil
	case sia.DoDecide:
		return sia.Decided{Type: f.Question, Choice: "coder", Agent: "a", Reason: "it is the only one"}, nil
	case sia.DoAttempt:
		return sia.AttemptEnded{End: sia.EndFinished, Commit: "c0ffee", Diff: sia.DiffStat{Files: 1}, Hunks: []uint64{1}}, nil
	case sia.DoPush:
		return sia.Pushed{SHA: f.SHA}, nil
	case sia.DoPull:
		return sia.PullOpened{Number: 43}, nil
	case sia.DoFinalReview:
		return sia.FinalReviewed{Review: sia.FinalReview{SHA: f.SHA}}, nil
	case sia.DoGate:
		return sia.Judged{SHA: f.SHA, Looked: f.At, Verdict: sia.VerdictGreen}, nil
	case sia.DoMemory:
		return sia.MemoryCommitted{SHA: "3e304"}, nil
	case sia.DoSync:
		return sia.SyncDone{Version: t.Visible}, nil
	}
	return nil, nil
}
