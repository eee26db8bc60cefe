package trial_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
)

// shipped returns the settings of repositories without their own.
type shipped struct{}

func (shipped) Policies(context.Context, int64, sia.Repo) (*policies.Set, error) {
	return policies.ShippedSet(), nil
}

func (shipped) Settings(context.Context, int64, sia.Repo) (sia.Settings, error) {
	return sia.DefaultSettings(), nil
}

// records is a log of decisions with only the number of passed tasks.
type records struct{ *store.Store }

func (r records) Record(
	ctx context.Context, installation, repo int64, policy string, after time.Time,
) (store.PolicyRecord, error) {
	return r.PolicyRecord(ctx, installation, repo, policy, after)
}

func (records) Mined(context.Context, int64, policies.Type) ([]mine.Decision, error) { return nil, nil }

func (records) Duels(context.Context, int64, policies.Policy, policies.Policy) (won, lost int, err error) {
	return 0, 0, nil
}

// fixture is an installation with repositories, without a key for GitHub.
type fixture struct {
	*trial.Evolver
	store *store.Store
	repos []sia.Repo
	now   time.Time
}

func newFixture(t *testing.T, author trial.Author, names ...string) *fixture {
	t.Helper()
	h := &fixture{now: time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return h.now }
	h.store = storetest.Open(t, store.Config{Now: now})
	check(t, h.store.UpsertInstallation(t.Context(), store.Installation{ID: 3, Account: "acme"}))
	for i, name := range names {
		r := sia.Repo{ID: int64(i + 1), Owner: "acme", Name: name}
		check(t, h.store.UpsertRepository(t.Context(), store.Repository{Repo: r, Installation: 3, DefaultBranch: "main"}))
		h.repos = append(h.repos, r)
	}
	var err error
	h.Evolver, err = trial.New(trial.Deps{Store: h.store, Tasks: h.store, Settings: shipped{}, Author: author,
		Forge: trial.NoForge{Why: errors.New("there is no key")}, Log: records{h.store},
		Logger: slog.New(slog.DiscardHandler), Now: now})
	check(t, err)
	return h
}

// end ends n tasks of a repository about which policies decided. Every other one passed.
func (h *fixture) end(t *testing.T, r sia.Repo, n int, by ...policies.Policy) {
	t.Helper()
	for _, p := range by {
		check(t, h.store.KeepPolicyVersion(t.Context(), p.ID(), string(p.Decision), p.Source))
	}
	for i := range n {
		id := sia.NewTaskID(r.ID, i+1)
		_, err := h.store.Apply(t.Context(), id, sia.Event{ID: "start", At: h.now, By: sia.Actor{Login: "ann"},
			Fact: sia.Start{Installation: 3, Repo: r, Issue: i + 1, Title: "t", DefaultBranch: "main"}})
		check(t, err)
		for _, p := range by {
			check(t, h.store.LogDecision(t.Context(), sia.Decision{ID: fmt.Sprint(id, p.Name), Task: id, Repo: r.ID,
				Type: sia.DecisionType(p.Decision), Policy: p.ID(), At: h.now}))
		}
		check(t, h.store.RecordTaskEnd(t.Context(), store.TaskEnd{Task: id, Repo: r.ID, Kind: "bug", Passed: i%2 == 0}))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// If the owner has no repository for policies, a change is proposed to a repository, for its own tasks.
func TestProposesWhereTasksEnded(t *testing.T) {
	author, _ := model(t, changes(policies.Mutation{Path: "parameters.threshold", Value: "0.8", Reason: "r"}))
	h := newFixture(t, author, "app", "unused")
	h.end(t, h.repos[0], 60, escalate(t))
	if err := h.Evolve(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no key") {
		t.Errorf("it got to GitHub without a key: %v", err)
	}
	all, err := h.store.Experiments(t.Context(), 0, false)
	check(t, err)
	if len(all) != 1 || all[0].Place.ID != h.repos[0].ID || !all[0].Alone {
		t.Errorf("%+v", all)
	}
}

// The second of two proposed changes is kept, and may be proposed again when the first has ended.
func TestSecondChangeIsKept(t *testing.T) {
	first := policies.Mutation{Path: "parameters.threshold", Value: "0.8", Reason: "r"}
	second := policies.Mutation{Path: "parameters.threshold", Value: "0.7", Reason: "s"}
	author, srv := model(t, changes(first, second), changes(second))
	h := newFixture(t, author, "app")
	h.end(t, h.repos[0], 60, escalate(t))
	_ = h.Evolve(t.Context()) // there is no key for the pull request
	all, err := h.store.Experiments(t.Context(), 0, false)
	check(t, err)
	kept := slices.IndexFunc(all, func(x store.Experiment) bool { return x.Value == "0.7" })
	if len(all) != 2 || kept < 0 || all[kept].Phase != store.ExperimentRejected || all[kept].Number != 0 ||
		!strings.HasPrefix(all[kept].Why, "another change of the policy was tried first") {
		t.Fatalf("%+v", all)
	}
	h.now = h.now.Add(24 * time.Hour)
	_, err = h.Rollback(t.Context(), all[1-kept].ID, "@ann")
	check(t, err)
	_ = h.Evolve(t.Context())
	all, err = h.store.Experiments(t.Context(), 0, false)
	check(t, err)
	if len(all) != 3 || all[2].Value != "0.7" || all[2].Phase != store.ExperimentDrafted || all[2].Number != 2 {
		t.Errorf("%+v", all)
	}
	if asked := srv.Requests(); len(asked) != 2 || !strings.Contains(asked[1].User(),
		"and not tried yet\n\n```text\nparameters.threshold: 0.7\n```") ||
		strings.Contains(asked[1].User(), "0.7 did not hold") {
		t.Errorf("asked %d times: %+v", len(asked), asked[len(asked)-1])
	}
}

// If the model proposes no change, other policies are next on the following days.
func TestPoliciesTakeTurns(t *testing.T) {
	author, srv := model(t, changes())
	h := newFixture(t, author, "app")
	set := policies.ShippedSet()
	h.end(t, h.repos[0], 50, set.All()...)
	for range 4 {
		check(t, h.Evolve(t.Context()))
		h.now = h.now.Add(24 * time.Hour)
	}
	asked := map[string]bool{}
	for _, r := range srv.Requests() {
		asked[r.System()] = true
	}
	if len(srv.Requests()) != 8 || len(asked) != len(set.All()) {
		t.Errorf("asked %d times, about %d of %d policies", len(srv.Requests()), len(asked), len(set.All()))
	}
}

// asker is an author, and a log, that record for which installation a change is asked for. The time is up then.
type asker struct {
	records
	looked int64
	asked  []int64
	timeUp func()
}

func (a *asker) Record(
	ctx context.Context, installation, repo int64, policy string, after time.Time,
) (store.PolicyRecord, error) {
	a.looked = installation
	return a.records.Record(ctx, installation, repo, policy, after)
}

func (a *asker) Propose(
	context.Context, trial.Material, func(policies.Mutation) error,
) ([]policies.Mutation, error) {
	a.asked = append(a.asked, a.looked)
	a.timeUp()
	return nil, nil
}

func (*asker) Name() string { return "slow" }

// If the model is too slow for all installations, each has its day, and no question is begun that can't be answered.
func TestInstallationsTakeTurns(t *testing.T) {
	h := newFixture(t, nil, "app")
	check(t, h.store.UpsertInstallation(t.Context(), store.Installation{ID: 4, Account: "bolt"}))
	other := sia.Repo{ID: 2, Owner: "bolt", Name: "lib"}
	check(t, h.store.UpsertRepository(t.Context(), store.Repository{Repo: other, Installation: 4, DefaultBranch: "main"}))
	check(t, h.store.UpsertInstallation(t.Context(), store.Installation{ID: 5, Account: "core", Suspended: true}))
	for _, r := range append(h.repos, other) {
		h.end(t, r, 60, escalate(t))
	}
	a := &asker{records: records{h.store}}
	var err error
	h.Evolver, err = trial.New(trial.Deps{Store: h.store, Tasks: h.store, Settings: shipped{}, Author: a,
		Forge: openPulls{}, Log: a, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return h.now }})
	check(t, err)
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		a.timeUp = cancel
		if err := h.Evolve(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
		h.now = h.now.Add(24 * time.Hour)
	}
	if len(a.asked) != 4 || a.asked[0] == a.asked[1] || !slices.Equal(a.asked[:2], a.asked[2:]) {
		t.Errorf("on four days installations %v were served", a.asked)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 7*time.Minute)
	defer cancel()
	check(t, h.Evolve(ctx))
	if len(a.asked) != 4 {
		t.Errorf("a question is begun in the last minutes: %v", a.asked)
	}
}

// A change without a pull request, because GitHub was unavailable, can be stopped.
func TestDraftIsStopped(t *testing.T) {
	author, _ := model(t, changes())
	h := newFixture(t, author, "app")
	_, err := h.Propose(t.Context(), 3, h.repos[0], "escalate",
		policies.Mutation{Path: "parameters.threshold", Value: "0.8", Reason: "r"}, "@ann")
	if err == nil || !strings.Contains(err.Error(), "there is no key") {
		t.Errorf("it got to GitHub without a key: %v", err)
	}
	all, err := h.store.Experiments(t.Context(), 0, true)
	check(t, err)
	if x, err := h.Rollback(t.Context(), all[0].ID, "@ann"); err != nil || x.Phase != store.ExperimentStopped {
		t.Errorf("%s: %v", x.Phase, err)
	}
}

// beside is a forge with open pull requests, where a command works beside the server, while it looks.
type beside struct {
	trial.NoForge
	command func()
}

func (f beside) Look(context.Context, store.Experiment) (trial.PullState, error) {
	f.command()
	return trial.PullState{Open: true}, nil
}

func (beside) UpsertComment(context.Context, store.Experiment, evolve.Standing) (int64, error) {
	return 9, nil
}
func (beside) Close(context.Context, store.Experiment) error { return nil }

// What a command has stopped is not tried any more by a server that read it before.
func TestStoppedBesideTheServer(t *testing.T) {
	h := newFixture(t, nil, "app")
	x := store.Experiment{ID: "escalate-1-abc", Installation: 3, Place: h.repos[0], Decision: "escalate",
		Name:  "escalate",
		Phase: store.ExperimentRunning, Pull: 7, CreatedAt: h.now, StartedAt: h.now}
	check(t, h.store.SaveExperiment(t.Context(), "", x, "it runs"))
	command, err := trial.New(h.Deps)
	check(t, err)
	command.Forge = beside{}
	h.Forge = beside{command: func() {
		if _, err := command.Rollback(t.Context(), x.ID, "@ann"); err != nil {
			t.Error(err)
		}
	}}
	check(t, h.Watch(t.Context()))
	x, err = h.Find(t.Context(), x.ID)
	if err != nil || x.Phase != store.ExperimentStopped || x.Why != "@ann stopped it" {
		t.Errorf("%s: %s, %v", x.Phase, x.Why, err)
	}
	// The command read it before the server moved it on.
	x.ID, x.Phase, x.EndedAt = "escalate-2-abc", store.ExperimentRunning, time.Time{}
	check(t, h.store.SaveExperiment(t.Context(), "", x, "it runs"))
	command.Forge = closing{beside{}, func() {
		better := x
		better.Phase = store.ExperimentBetter
		_ = h.store.SaveExperiment(t.Context(), x.Phase, better, "it does better") // the first time
	}}
	if x, err = command.Rollback(t.Context(), x.ID, "@ann"); err != nil || x.Phase != store.ExperimentStopped {
		t.Errorf("%s: %s, %v", x.Phase, x.Why, err)
	}
}

// closing is a forge where a server works while a command closes a pull request.
type closing struct {
	beside
	server func()
}

func (f closing) Close(context.Context, store.Experiment) error {
	f.server()
	return nil
}

// Historical tasks that only one of two policies resolved count in the gate: those of the repository that a change
// concerns.
func TestReplayedTasksCount(t *testing.T) {
	for _, c := range []struct {
		name      string
		won, lost int
		phase     store.ExperimentPhase
		gate      string
	}{
		{"they speak for it", 13, 2, store.ExperimentDrafted, "(of these tasks 15 were replayed)"},
		{"they speak against it", 0, 6, store.ExperimentRejected, "6 only without it"},
		{"there are none", 0, 0, store.ExperimentDrafted, "not replayed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := policies.Mutation{Path: "parameters.threshold", Value: "0.8", Reason: "r"}
			author, _ := model(t, changes(change))
			h := newFixture(t, author, "app", "unused")
			was := escalate(t)
			now, err := policies.Mutate(was, change)
			check(t, err)
			h.Replayed = func(repo, present, candidate string) (won, lost int, err error) {
				if repo != "acme/app" || present != was.ID() || candidate != now.ID() {
					return 100, 0, nil
				}
				return c.won, c.lost, nil
			}
			h.end(t, h.repos[0], 60, was)
			_ = h.Evolve(t.Context()) // fails: there is no key for the pull request
			all, err := h.store.Experiments(t.Context(), 0, false)
			check(t, err)
			if len(all) != 1 || all[0].Phase != c.phase || !strings.Contains(all[0].Gate, c.gate) {
				t.Errorf("%+v", all)
			}
		})
	}
}
