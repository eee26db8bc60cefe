package work

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// headEvidence is what a look at the head gathered.
type headEvidence struct {
	in   gate.Input
	self string          // the slug of the app itself
	head github.CheckSet // of in.Runs and in.Statuses
	base github.CheckSet // of the base commit, where in.BaseKnown
	logs []checkLog      // of red runs of the head, in the order in which they were read
}

// gather reads the checks of the head, and then what the judgement says that it
// needs, until it needs nothing more.
func (w *Worker) gather(ctx context.Context, t sia.Task) (*headEvidence, error) {
	e, err := w.headChecks(ctx, t)
	if err != nil {
		return nil, err
	}
	for needs := e.in.Needs(); !needs.None(); needs = e.in.Needs() {
		if err := w.supply(ctx, t, e, needs); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// headChecks reads the checks of the head, and which of them are required.
func (w *Worker) headChecks(ctx context.Context, t sia.Task) (*headEvidence, error) {
	in := taskInput(t, w.Now())
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return nil, err
	}
	head, err := w.repo(t).Checks(ctx, string(t.Head))
	if err != nil {
		return nil, err
	}
	if in.Required, in.RequiredKnown, err = w.requiredChecks(ctx, t); err != nil {
		return nil, err
	}
	in.Runs, in.Statuses = runs(head, self.Slug), statuses(head)
	return &headEvidence{in: in, self: self.Slug, head: head}, nil
}

// taskInput is what the task itself tells about its head.
func taskInput(t sia.Task, now time.Time) gate.Input {
	return gate.Input{
		Now: now, Settings: t.Settings.Checks, Since: t.Gate.Since, Reruns: t.Gate.Reruns, Doubted: t.Gate.Doubted,
		Accepted: slices.Contains(t.Accepted, t.Head), ByPerson: t.HeadBy != (sia.Actor{}),
	}
}

// supply fills in what the judgement needs.
func (w *Worker) supply(ctx context.Context, t sia.Task, e *headEvidence, needs gate.Needs) (err error) {
	if needs.Base {
		if e.base, err = w.repo(t).Checks(ctx, string(t.BaseSHA)); err != nil {
			return err
		}
		e.in.Base, e.in.BaseStatuses, e.in.BaseKnown = runs(e.base, e.self), statuses(e.base), true
	}
	for _, id := range needs.Logs {
		run := e.runOf(id)
		log, err := w.readLog(ctx, w.repo(t), run, passed(e.base, run.Name))
		if err != nil {
			return err
		}
		e.classify(id, log.failure.Class)
		e.logs = append(e.logs, log)
	}
	for _, id := range needs.Earlier {
		log, err := w.readLog(ctx, w.repo(t), e.runOf(id), nil)
		if err != nil {
			return err
		}
		e.classify(id, log.failure.Class)
	}
	if needs.Tampering {
		// A person's push on top of what an attempt did does not answer for it.
		if e.in.Tampering, err = w.tampering(ctx, t); err != nil {
			return err
		}
		e.in.TamperingKnown = true
	}
	if needs.Doubt {
		// How the checks went on this commit counts as well.
		if err := w.saveFlips(ctx, t, e.in.Went()); err != nil {
			return err
		}
		if e.in.Doubt, err = w.doubt(ctx, t); err != nil {
			return err
		}
		e.in.DoubtKnown = true
	}
	return nil
}

// runOf is a run of the head.
func (e *headEvidence) runOf(id int64) github.CheckRun {
	i := slices.IndexFunc(e.head.Runs, func(r github.CheckRun) bool { return r.ID == id })
	return e.head.Runs[i]
}

// classify notes what the log of a run of the head says.
func (e *headEvidence) classify(id int64, class string) {
	for i := range e.in.Runs {
		if r := &e.in.Runs[i]; r.ID == id {
			r.Read, r.Class = true, class
		}
	}
}

// passed finds the run of a check that passed on the base commit, for its log
// shows what is new; nil when there is none.
func passed(base github.CheckSet, name string) *github.CheckRun {
	for _, r := range base.Runs {
		if r.Name == name && r.Conclusion == "success" {
			return &r
		}
	}
	return nil
}

func runs(set github.CheckSet, slug string) []gate.Run {
	out := make([]gate.Run, 0, len(set.Runs))
	for _, r := range set.Runs {
		out = append(out, gate.Run{
			ID: r.ID, Name: r.Name, App: r.AppSlug, Own: r.AppSlug == slug, Status: r.Status, Conclusion: r.Conclusion,
			URL: r.URL, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
		})
	}
	return out
}

func statuses(set github.CheckSet) []gate.Status {
	out := make([]gate.Status, 0, len(set.Statuses))
	for _, s := range set.Statuses {
		out = append(out, gate.Status{Context: s.Context, State: s.State, URL: s.URL, UpdatedAt: s.UpdatedAt})
	}
	return out
}

// requiredFor is how long the required checks of a branch are remembered.
const requiredFor = 5 * time.Minute

type requiredAnswer struct {
	names []string
	known bool
	at    time.Time
}

// requiredChecks asks which checks the base branch requires.
func (w *Worker) requiredChecks(ctx context.Context, t sia.Task) ([]string, bool, error) {
	key := fmt.Sprintf("%d/%s", t.Repo.ID, t.BaseBranch)
	if v, ok := w.required.Load(key); ok {
		if a, ok := v.(requiredAnswer); ok && w.Now().Sub(a.at) < requiredFor {
			return a.names, a.known, nil
		}
	}
	names, known, err := w.repo(t).Required(ctx, t.BaseBranch)
	if err != nil {
		return nil, false, err
	}
	w.required.Store(key, requiredAnswer{names, known, w.Now()})
	return names, known, nil
}
