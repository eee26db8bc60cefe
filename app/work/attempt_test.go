package work

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// claimer is a paid agent that adds a test, and claims that nothing else has to be done.
type claimer struct{ runs int }

func (*claimer) Name() string { return "command/claimer" }

func (c *claimer) Run(_ context.Context, in agent.Input, _ agent.Recorder) (agent.Result, error) {
	c.runs++
	return agent.Result{End: sia.EndFinished, Cost: sia.Credit, Usage: llm.Usage{Input: 7},
			Summary: "It greets.\n\nAlready so\nTest: go test ./...\n"},
		os.WriteFile(filepath.Join(in.Dir, "greet_test.go"), []byte("package greet\n"), 0o600)
}

// claimed are machines whose agent claims something. The server ends during the first run of tests.
type claimed struct {
	Remote
	by    *claimer
	end   func()
	tests int
}

func (c *claimed) Agent(sia.Task, sia.Effect, string, string, bool) agent.Agent { return c.by }

func (c *claimed) Check(
	ctx context.Context, _ sia.Task, _ sia.Effect, _ string, commands []string, _ *sia.CheckRun,
) ([]sia.CheckRun, error) {
	c.tests++
	c.end()
	return []sia.CheckRun{{Command: commands[0], Holds: true, Ran: true}}, context.Cause(ctx)
}

type shippedSettings struct{ Settings }

func (shippedSettings) Policies(context.Context, int64, sia.Repo) (*policies.Set, error) {
	return policies.ShippedSet(), nil
}

type shippedDecider struct{ Decider }

func (shippedDecider) InForce(_ context.Context, set *policies.Set, _ sia.Task, typ policies.Type, _ string, _ int) (
	policies.Policy, policies.Context, error,
) {
	return set.For(typ, policies.Context{}), policies.Context{}, nil
}

// When a server ends, or a task is cancelled, while an attempt's end is tested, the agent is not run and paid again.
func TestEndedAttemptIsKept(t *testing.T) {
	ends := errors.New("this server ends")
	for name, next := range map[string]error{"tested later": nil, "cancelled": store.ErrCancelled} {
		t.Run(name, func(t *testing.T) {
			s := openShop(t, "junit", writesReport)
			branches, err := s.sim.Branches("acme/shop")
			must(t, err)
			common := s.begin(time.Now())
			common.Git, err = gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: common.Logger})
			must(t, err)
			db := storetest.Open(t, store.Config{})
			task := sia.Task{ID: sia.NewTaskID(s.repo.Name().ID, 1), Installation: s.in, Repo: s.repo.Name(), Issue: 1,
				Title: "Greet", BaseBranch: "main", BaseSHA: sia.SHA(branches["main"]), Settings: sia.DefaultSettings(),
				Attempts: []sia.Attempt{{Number: 1, StartedAt: time.Now()}}}
			_, err = db.Apply(t.Context(), task.ID, sia.Event{ID: "start", At: time.Now(), By: sia.Actor{Login: "ann"},
				Fact: sia.Start{Installation: s.in, Repo: task.Repo, Issue: 1, Title: "Greet", DefaultBranch: "main"}})
			must(t, err)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			remote := &claimed{by: &claimer{}, end: func() { cancel(ends) }}
			common.Store, common.Remote, common.Anonymous = db, remote, true
			common.Settings, common.Decider = shippedSettings{}, shippedDecider{}
			common.Coders = Coders{All: []Coder{{Name: "claimer", Builtin: remote.by}}}
			w := &attemptWorker{common, newDecisionWorker(common), &branchWorker{common}}
			f := sia.Effect{Key: string(task.ID) + "/1/attempt", Task: task.ID, Kind: sia.DoAttempt, Attempt: 1}

			if got, err := w.attempt(ctx, task, f); !errors.Is(err, ends) {
				t.Fatalf("%+v, %v", got, err)
			}
			later, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			if next != nil {
				stop(next)
			}
			remote.end = func() {}
			fact, err := w.attempt(later, task, f)
			must(t, err)
			got := fact.(sia.AttemptEnded)
			if remote.by.runs != 1 || got.Cost != sia.Credit || got.Commit == "" || got.Tokens.Input != 7 {
				t.Errorf("after %d runs of the agent: %+v", remote.by.runs, got)
			}
			if cancelled := next != nil; (got.End == sia.EndCancelled) != cancelled || (got.Claim == nil) != cancelled {
				t.Errorf("%+v", got)
			}
			again, err := w.attempt(t.Context(), task, f)
			if err != nil || !cmp.Equal(again, fact) || remote.by.runs != 1 || remote.tests != 2 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// After a pass the next attempt is told so, and not what had failed before the checks were run again.
func TestPreviousAttempts(t *testing.T) {
	red := []sia.CheckFailure{{Check: "test", Excerpt: "no room"}}
	task := sia.Task{Head: "a", Kept: "a", BaseSHA: "0", Brief: sia.Brief{FromKept: true}, Attempts: []sia.Attempt{
		{Number: 1, Outcome: sia.AttemptAsked}, {Number: 2, Outcome: sia.AttemptPass, Head: "a", Failures: red},
		{Number: 3, Outcome: sia.AttemptFail, From: "a", Head: "b", Failures: red}, {Number: 4, From: "a"}}}
	want := []agent.PreviousAttempt{{Number: 2, Outcome: sia.AttemptPass, Kept: true, InTree: true},
		{Number: 3, Outcome: sia.AttemptFail, Kept: true, Failures: red}}
	if d := cmp.Diff(want, previousAttempts(task)); d != "" {
		t.Error(d)
	}
}

// unreachable are machines behind a database that does not answer.
type unreachable struct{ Remote }

func (unreachable) Look(context.Context, sia.Task, sia.Effect, string) (sia.TestEvidence, error) {
	return sia.TestEvidence{}, errors.New("the database does not answer")
}

// An error on the way to a runner is no result: the effect is tried again. If its time is up, the tests were not run.
func TestEvidenceIsTriedAgain(t *testing.T) {
	w := &attemptWorker{common: &common{Deps: Deps{Remote: unreachable{}, Logger: slog.New(slog.DiscardHandler)}}}
	if fact, err := w.evidence(t.Context(), sia.Task{}, sia.Effect{}); err == nil {
		t.Errorf("%+v", fact)
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	fact, err := w.evidence(late, sia.Task{}, sia.Effect{})
	if e, ok := fact.(sia.Evidenced); err != nil || !ok || e.Evidence.NotRun == "" {
		t.Errorf("%+v, %v", fact, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
