package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// script has handlers that always succeed. on replaces the handler of a kind of effect; calls counts the calls by key.
type script struct {
	t  *testing.T
	s  *fixture
	on map[sia.EffectKind]func(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error)

	mu    sync.Mutex
	calls map[string]int
	order []sia.EffectKind
}

func newScript(t *testing.T, s *fixture) *script {
	return &script{t: t, s: s, calls: map[string]int{},
		on: map[sia.EffectKind]func(context.Context, sia.Task, sia.Effect) (sia.Fact, error){}}
}

func (w *script) effect(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	w.mu.Lock()
	w.calls[f.Key]++
	w.order = append(w.order, f.Kind)
	do := w.on[f.Kind]
	w.mu.Unlock()
	if do != nil {
		return do(ctx, t, f)
	}
	return w.well(ctx, t, f)
}

// well returns the usual fact of a successful effect.
func (w *script) well(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	sha := sia.SHA(fmt.Sprintf("c0ffee%d", f.Attempt))
	switch f.Kind {
	case sia.DoBegin:
		set := sia.DefaultSettings()
		set.Checks.Settle = sia.Duration(10 * time.Millisecond)
		return sia.Begun{Settings: set, BaseBranch: "main", BaseSHA: "ba5e", Title: t.Title, Body: t.Body}, nil
	case sia.DoDecide:
		return decided(f.Question), nil
	case sia.DoAttempt:
		return sia.AttemptEnded{End: sia.EndFinished, Commit: sha, Diff: sia.DiffStat{Files: 1, Added: f.Attempt},
			Hunks: []uint64{uint64(f.Attempt)}, Turns: 2, Cost: 3 * sia.Credit}, nil
	case sia.DoCancel:
		return sia.Done{}, w.s.CancelEffect(ctx, f.TargetKey)
	case sia.DoPush:
		return sia.Pushed{SHA: f.SHA}, nil
	case sia.DoPull:
		return sia.PullOpened{Number: 100 + t.Issue, NodeID: "PR_1", URL: "https://example.com/pull/1"}, nil
	case sia.DoGate:
		return sia.Judged{SHA: f.SHA, Looked: w.s.clock.now(), Verdict: sia.VerdictGreen,
			Checks: []sia.Check{{Name: "test", Colour: sia.Green, Required: true}}, Explain: []string{"test is green"}}, nil
	case sia.DoMemory:
		return sia.MemoryCommitted{SHA: "3e304"}, nil
	case sia.DoAnnounce:
		return sia.CommentPosted{URL: "https://example.com/comment/1"}, nil
	case sia.DoEscalate:
		return sia.EscalationOpened{Issue: 200 + t.Issue, URL: "https://example.com/issues/2"}, nil
	case sia.DoSync:
		return sia.SyncDone{Version: t.Visible}, nil
	case sia.DoWeigh:
		return sia.Weighed{SHA: f.SHA, Cost: sia.Credit}, nil
	case sia.DoFinalReview:
		return sia.FinalReviewed{Review: sia.FinalReview{SHA: f.SHA}}, nil
	case sia.DoReview:
		return sia.Reviewed{Review: sia.Review{Verdict: sia.Approved}, Cost: sia.Credit}, nil
	}
	return nil, nil
}

// decided returns the usual answer to a question.
func decided(q sia.DecisionType) sia.Decided {
	d := sia.Decided{Type: q, Reason: "it is usual"}
	switch q {
	case sia.DecideRecover:
		d.Choice = sia.ChooseSIA
	case sia.DecideEscalate:
		d.Choice = sia.ChooseGoOn
	case sia.DecideDecompose:
		d.Choice = string(plan.Whole)
	default:
		d.Choice, d.Agent = "coder", "builtin/scripted"
	}
	return d
}

func (w *script) count(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[key]
}

// handlers returns the script's handlers, which reject deliveries.
func (w *script) handlers() store.Handlers {
	return store.Handlers{
		Effect: w.effect,
		Spent: func(context.Context, sia.Effect) (sia.AttemptEnded, error) {
			return sia.AttemptEnded{Cost: sia.Credit}, nil
		},
		Delivery: func(context.Context, store.Delivery) error { return errors.New("no delivery was expected") },
	}
}

// quick retries immediately.
func quick() store.EngineConfig {
	return store.EngineConfig{Backoff: func(int) time.Duration { return 0 }, Tries: 4, Grace: time.Second}
}

// engine starts an engine that runs until the test ends.
func engine(t *testing.T, s *fixture, h store.Handlers, c store.EngineConfig) *store.Engine {
	t.Helper()
	e, err := s.Start(patient(t), h, c)
	must(t, err)
	t.Cleanup(func() { stop(t, e) })
	return e
}

func stop(t *testing.T, e *store.Engine) {
	t.Helper()
	if err := e.Stop(patient(t)); err != nil {
		t.Error(err)
	}
}

// run runs the engine until nothing is due.
func run(t *testing.T, s *fixture, w *script) *store.Engine {
	t.Helper()
	e := engine(t, s, w.handlers(), quick())
	must(t, e.Idle(patient(t)))
	return e
}

// settle runs the engine until a task is in a state, and moves the clock to scheduled jobs: the gate's poll, the
// debounced sync.
func settle(t *testing.T, s *fixture, e *store.Engine, id sia.TaskID, want sia.State) sia.Task {
	t.Helper()
	ctx := patient(t)
	for {
		must(t, e.Idle(ctx))
		task, err := s.Task(ctx, id)
		must(t, err)
		if task.State == want {
			return task
		}
		due, err := e.NextDue(ctx)
		must(t, err)
		if due.IsZero() {
			t.Fatalf("nothing is left to do and the task is %s (%+v%s), want %s", task.State, task.Pause, task.Ended, want)
		}
		s.clock.reach(due)
	}
}

// exhaust runs the engine until no job is left, and moves the clock to scheduled jobs.
func exhaust(t *testing.T, s *fixture, e *store.Engine) {
	t.Helper()
	ctx := patient(t)
	for {
		must(t, e.Idle(ctx))
		due, err := e.NextDue(ctx)
		must(t, err)
		if due.IsZero() {
			return
		}
		s.clock.reach(due)
	}
}

// record returns the only or last effect of a kind.
func record(t *testing.T, s *fixture, id sia.TaskID, kind sia.EffectKind) store.EffectRecord {
	t.Helper()
	all, err := s.Effects(patient(t), id)
	must(t, err)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			return all[i]
		}
	}
	t.Fatalf("there is no effect %s", kind)
	return store.EffectRecord{}
}
