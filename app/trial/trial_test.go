package trial_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// openPulls is a forge where every pull request is open.
type openPulls struct{ trial.NoForge }

func (openPulls) Look(context.Context, store.Experiment) (trial.PullState, error) {
	return trial.PullState{Open: true}, nil
}

func (openPulls) UpsertComment(context.Context, store.Experiment, evolve.Standing) (int64, error) {
	return 9, nil
}

func (openPulls) Close(context.Context, store.Experiment) error { return nil }

// own are the settings of repositories with policies of their own.
type own struct {
	shipped
	set *policies.Set
}

func (o *own) Policies(context.Context, int64, sia.Repo) (*policies.Set, error) { return o.set, nil }

// onTrial returns a fixture where a change of a policy of the repository is on trial, and the settings. change, if not
// nil, alters the experiment before.
func onTrial(t *testing.T, change func(*store.Experiment)) (h *fixture, x store.Experiment, o *own) {
	t.Helper()
	h = newFixture(t, nil, "app")
	present := escalate(t)
	candidate, err := policies.Mutate(present, policies.Mutation{Path: "parameters.threshold", Value: "0.8"})
	check(t, err)
	for _, p := range []policies.Policy{present, candidate} {
		check(t, h.store.KeepPolicyVersion(t.Context(), p.ID(), string(p.Decision), p.Source))
	}
	x = store.Experiment{ID: "escalate-1-abc", Installation: 3, Place: h.repos[0], Alone: true,
		Layer: int(policies.Repository), Decision: "escalate", Name: "escalate", Present: present.ID(),
		Candidate: candidate.ID(), Phase: store.ExperimentRunning, Pull: 1, StartedAt: h.now}
	if change != nil {
		change(&x)
	}
	check(t, h.store.SaveExperiment(t.Context(), "", x, "began"))
	o = &own{set: policies.ShippedSet()}
	h.Evolver, err = trial.New(trial.Deps{Store: h.store, Tasks: h.store, Settings: o, Forge: openPulls{},
		Log: records{h.store}, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return h.now }})
	check(t, err)
	return h, x, o
}

// watch advances the only change, and returns it.
func (h *fixture) watch(t *testing.T) store.Experiment {
	t.Helper()
	check(t, h.Watch(t.Context()))
	all, err := h.store.Experiments(t.Context(), 0, false)
	check(t, err)
	return all[0]
}

// A stored version that this SIA can't read stops no decision: the policy in force decides, and a trial of it ends.
func TestVersionsThatCannotBeRead(t *testing.T) {
	const unread, lost = "escalate/7@000000000000", "escalate/6@000000000000"
	inForce := escalate(t).ID()
	for name, c := range map[string]struct {
		hold   string // the version that decides instead of the one in force
		change func(*store.Experiment)
	}{
		"held back for it":           {unread, func(x *store.Experiment) { x.StartedAt = x.StartedAt.AddDate(1, 0, 0) }},
		"held back for one not kept": {lost, func(x *store.Experiment) { x.StartedAt = x.StartedAt.AddDate(1, 0, 0) }},
		"on trial":                   {"", func(x *store.Experiment) { x.Candidate = unread }},
		"on trial, and not kept":     {"", func(x *store.Experiment) { x.Candidate = lost }},
		"promoted, and compared with": {"", func(x *store.Experiment) {
			x.Phase, x.PromotedAt, x.Candidate, x.Present = store.ExperimentPromoted, x.StartedAt, x.Present, unread
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h, x, o := onTrial(t, c.change)
			check(t, h.store.KeepPolicyVersion(t.Context(), unread, "escalate", "decision: escalate\nformer: true\n"))
			if c.hold != "" {
				check(t, h.store.HoldPolicy(t.Context(), store.PolicyHold{Installation: 3, Place: 1, Decision: "escalate",
					Name: "escalate", Bad: inForce, Instead: c.hold}))
			}
			for n := range 60 { // some are compared with the version before
				task := sia.Task{ID: sia.NewTaskID(1, n+1), Installation: 3, Repo: h.repos[0], CreatedAt: h.now.Add(time.Hour)}
				p, err := h.For(t.Context(), task, policies.TypeEscalate, o.set, policies.Context{})
				if err != nil || p.ID() != inForce {
					t.Fatalf("%s decides, %v", p.ID(), err)
				}
			}
			if x.Phase != store.ExperimentRunning || c.hold != "" {
				return
			}
			if x = h.watch(t); x.Phase != store.ExperimentStopped || !strings.Contains(x.Why, "can't be used any more") {
				t.Errorf("%s: %s", x.Phase, x.Why)
			}
		})
	}
}

// A trial ends when a person changes the policy's file: its tasks would be compared with nothing.
func TestTrialEndsWhenTheFileIsChanged(t *testing.T) {
	present := escalate(t)
	edited, err := policies.Mutate(present, policies.Mutation{Path: "parameters.threshold", Value: "0.9"})
	check(t, err)
	again, err := policies.Mutate(edited, policies.Mutation{Path: "parameters.threshold", Value: "0.91"})
	check(t, err)
	for name, c := range map[string]struct {
		present policies.Policy
		set     *policies.Set
		end     bool
	}{
		"as it was":              {present, policies.ShippedSet(), false},
		"a file as it was":       {edited, policies.ShippedSet().With(policies.Repository, edited), false},
		"the owner's file":       {present, policies.ShippedSet().With(policies.Owner, edited), false},
		"a new file":             {present, policies.ShippedSet().With(policies.Repository, edited), true},
		"another file":           {edited, policies.ShippedSet().With(policies.Repository, again), true},
		"a file that is deleted": {edited, policies.ShippedSet(), true},
	} {
		h, _, o := onTrial(t, func(x *store.Experiment) { x.Present = c.present.ID() })
		o.set = c.set
		x := h.watch(t)
		if ended := x.Phase == store.ExperimentStopped && x.Why == trial.ErrMoved.Error(); ended != c.end {
			t.Errorf("%s: %s: %s", name, x.Phase, x.Why)
		}
	}
}
