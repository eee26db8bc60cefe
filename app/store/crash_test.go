package store_test

import (
	"cmp"
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

// TestKilledAtEachBoundary copies the database before and after each effect — the state that a killed process leaves on
// the disk — and continues from every copy: each has the same end, and each outcome is applied once.
//
//test:plain
func TestKilledAtEachBoundary(t *testing.T) {
	t.Parallel()
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
	// From a red check to the next attempt: gate and recover, diagnose and escalate, review, publish (memory and
	// comment), begin, decompose and assign, attempt. With the delivery that brought the check's result it is seven jobs.
	jobs := column(t, disk, `SELECT key FROM effects WHERE job_id <> 0 AND kind NOT IN ('sync', 'push', 'pull')
		AND (attempt = 1 AND kind IN ('gate', 'diagnose', 'review', 'memory', 'announce', 'decide')
			OR attempt = 2 AND kind IN ('begin', 'attempt')) ORDER BY created_at, key`)
	if len(jobs) != 6 {
		t.Errorf("a red check is %d jobs beside its delivery: %q", len(jobs), jobs)
	}
	if joined := column(t, disk, `SELECT key FROM effects WHERE job_id = 0`); len(joined) != 6 {
		t.Errorf("these joined others: %q", joined)
	}
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
	t *testing.T, s *store.Store, clock worldClock, id sia.TaskID, boundary func(context.Context, string, sia.Effect),
) {
	t.Helper()
	finishDespite(t, s, clock, id, boundary, store.EngineConfig{}, nil)
}

// finishDespite is finish, but continues after errors for which trouble returns true.
func finishDespite(
	t *testing.T, s *store.Store, clock worldClock, id sia.TaskID, boundary func(context.Context, string, sia.Effect),
	c store.EngineConfig, trouble func(error) bool,
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c.Grace = time.Second
	e, err := s.Start(ctx, store.Handlers{
		Effect: allWell, Boundary: boundary,
		Delivery: func(context.Context, store.Delivery) error { return nil },
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	for passed := false; !passed; {
		passed, err = goOn(ctx, s, e, clock, id)
		if err != nil && (trouble == nil || !trouble(err)) {
			t.Fatal(err)
		}
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

// goOn runs the engine until nothing is due, and moves the clock to the next due time until the task has passed.
func goOn(ctx context.Context, s *store.Store, e *store.Engine, clock worldClock, id sia.TaskID) (
	passed bool, _ error,
) {
	if err := e.Idle(ctx); err != nil {
		return false, err
	}
	task, err := s.Replay(ctx, id)
	if err != nil || task.State == sia.Passed {
		return err == nil, err
	}
	due, err := e.NextDue(ctx)
	if err == nil && due.IsZero() {
		err = fmt.Errorf("the task is %s and nothing waits", task.State)
	}
	if err == nil {
		clock.set(due)
	}
	return false, err
}

// allWell returns handlers with which the checks of the first attempt fail, and everything else succeeds immediately.
func allWell(_ context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	switch f.Kind {
	case sia.DoBegin:
		set := sia.DefaultSettings()
		set.Checks.Settle = sia.Duration(time.Millisecond)
		return sia.Begun{Settings: set, BaseBranch: "main", BaseSHA: "ba5e", Title: t.Title}, nil
	case sia.DoDecide:
		choice := map[sia.DecisionType]string{sia.DecideRecover: sia.ChooseSIA, sia.DecideEscalate: sia.ChooseGoOn}
		return sia.Decided{Type: f.Question, Choice: cmp.Or(choice[f.Question], "coder"), Agent: "a", Reason: "so it is"}, nil
	case sia.DoAttempt:
		return sia.AttemptEnded{End: sia.EndFinished, Commit: sia.SHA(fmt.Sprint("c0ffee", f.Attempt)),
			Diff: sia.DiffStat{Files: 1}, Hunks: []uint64{uint64(f.Attempt)}}, nil
	case sia.DoPush:
		return sia.Pushed{SHA: f.SHA}, nil
	case sia.DoPull:
		return sia.PullOpened{Number: 43}, nil
	case sia.DoFinalReview:
		return sia.FinalReviewed{Review: sia.FinalReview{SHA: f.SHA}}, nil
	case sia.DoGate:
		if f.Attempt == 1 {
			return sia.Judged{SHA: f.SHA, Looked: f.At, Verdict: sia.VerdictRed}, nil
		}
		return sia.Judged{SHA: f.SHA, Looked: f.At, Verdict: sia.VerdictGreen}, nil
	case sia.DoDiagnose:
		d := sia.Diagnosis{Summary: "so it is", Pattern: sia.Environment, Technique: sia.FreshStart, Prompt: "otherwise"}
		d.Brief = sia.Brief{Technique: d.Technique, Prompt: d.Prompt}
		return sia.Diagnosed{Diagnosis: d}, nil
	case sia.DoReview:
		return sia.Reviewed{Review: sia.Review{Verdict: sia.Approved}}, nil
	case sia.DoAnnounce:
		return sia.CommentPosted{URL: "https://example.com/comment/1"}, nil
	case sia.DoMemory:
		return sia.MemoryCommitted{SHA: "3e304"}, nil
	case sia.DoSync:
		return sia.SyncDone{Version: t.Visible}, nil
	}
	return nil, nil
}
