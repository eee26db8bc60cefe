package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/stuck"
)

// logLimit is how much of a log is read; the reader itself needs bounded memory.
const logLimit = 256 << 20

// gate reads the checks of the head, and of the base when something is red, and
// judges them.
func (w *Worker) gate(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head || f.Seq != t.Gate.Seq {
		return sia.Done{}, nil // a newer look is scheduled
	}
	looked := w.Now()
	repo := w.repo(t)
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return nil, err
	}
	set, err := repo.Checks(ctx, t.Head)
	if err != nil {
		return nil, err
	}
	in := gate.Input{
		Now: looked, SHA: t.Head, Runs: runs(set, self.Slug), Statuses: statuses(set), Settings: t.Settings.Checks,
		Since: t.Gate.Since, Reruns: t.Gate.Reruns, Accepted: slices.Contains(t.Accepted, t.Head),
	}
	if in.Required, in.RequiredKnown, err = w.requiredChecks(ctx, t); err != nil {
		return nil, err
	}
	verdict := gate.Judge(in)
	var failures []sia.CheckFailure
	if verdict.Verdict == sia.VerdictRed {
		base, err := repo.Checks(ctx, t.BaseSHA)
		if err != nil {
			return nil, err
		}
		in.Base, in.BaseStatuses = runs(base, self.Slug), statuses(base)
		if failures, err = w.failures(ctx, t, repo, set, base, gate.Judge(in), &in); err != nil {
			return nil, err
		}
		verdict = gate.Judge(in)
	}
	if verdict.Verdict == sia.VerdictGreen || verdict.Verdict == sia.VerdictRed {
		// Validation must not be bought, and a person's push on top of what an
		// attempt did does not answer for it.
		if in.Tampering, err = w.tampering(ctx, t); err != nil {
			return nil, err
		}
		if err := w.flips(ctx, t, repo, set, &in); err != nil {
			return nil, err
		}
		if in.Doubt, err = w.doubt(ctx, t); err != nil {
			return nil, err
		}
		verdict = gate.Judge(in)
	}
	out := sia.Judged{
		SHA: t.Head, Looked: looked, Verdict: verdict.Verdict, Checks: verdict.Checks, Explain: verdict.Explain,
		RerunIDs: verdict.Rerun, Doubt: verdict.Doubt,
	}
	if out.Verdict == sia.VerdictRed {
		out.Failures = ours(failures, verdict.Checks)
		out.Signals = stuck.Signals(t, stuck.Judged{
			Failures: out.Failures, Criteria: named(verdict.Checks), Passing: green(verdict.Checks),
			Before: gate.Green(in.Base, in.BaseStatuses), Hunks: t.Attempt().Hunks,
		})
	}
	return out, w.decideRerun(ctx, t, f, out)
}

// failures reads the logs of the red runs and fills their class into in. What
// they say at length is kept for the next attempt.
func (w *Worker) failures(ctx context.Context, t sia.Task, repo *github.Repo, set, base github.CheckSet, v gate.Result, in *gate.Input) ([]sia.CheckFailure, error) {
	var out []sia.CheckFailure
	for _, id := range v.RedRuns {
		i := slices.IndexFunc(set.Runs, func(r github.CheckRun) bool { return r.ID == id })
		if i < 0 {
			continue
		}
		cf, long, err := w.read(ctx, repo, set.Runs[i], passed(base, set.Runs[i].Name))
		if err != nil {
			return nil, err
		}
		if err := w.Store.SaveText(ctx, t.ID, t.Attempt().Number, textFailure+cf.Check, w.Secrets.Mask(long)); err != nil {
			return nil, err
		}
		cf.Excerpt = w.Secrets.Mask(cf.Excerpt)
		out = append(out, cf)
		for j := range in.Runs {
			if in.Runs[j].ID == id {
				in.Runs[j].Class = cf.Class
			}
		}
	}
	for _, s := range set.Statuses {
		if s.State == "failure" || s.State == "error" {
			rep, err := failure.Read(strings.NewReader(s.Description), failure.Options{Name: s.Context})
			if err != nil {
				return nil, fmt.Errorf("read the status %s: %w", s.Context, err)
			}
			cf := failure.Check(s.Context, s.URL, rep)
			cf.Excerpt, cf.Line = w.Secrets.Mask(s.Description), 0
			out = append(out, cf)
		}
	}
	return out, nil
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

// read reads what a red check run says: its annotations and its log when there
// are any, else its output. green is a run of the same check that passed. long is
// what tells of the failure at length.
func (w *Worker) read(ctx context.Context, repo *github.Repo, run github.CheckRun, green *github.CheckRun) (_ sia.CheckFailure, long string, _ error) {
	opts := failure.Options{Name: run.Name}
	if run.AnnotationsCount > 0 {
		list, err := repo.Annotations(ctx, run.ID)
		if err != nil {
			return sia.CheckFailure{}, "", err
		}
		for _, a := range list {
			opts.Annotations = append(opts.Annotations, failure.Annotation{Path: a.Path, Line: a.StartLine, Level: a.Level, Title: a.Title, Message: a.Message})
		}
	}
	log, err := repo.JobLog(ctx, run, logLimit)
	switch {
	case errors.Is(err, github.ErrNoLog):
		rep, err := failure.Read(strings.NewReader(run.OutputTitle+"\n"+run.OutputSummary), opts)
		if err != nil {
			return sia.CheckFailure{}, "", fmt.Errorf("read the output of %s: %w", run.Name, err)
		}
		if rep.Text == "" {
			rep.Text = run.Name + " ended as " + run.Conclusion
		}
		return failure.Check(run.Name, run.URL, rep), cmp.Or(rep.Long, rep.Text), nil
	case err != nil:
		return sia.CheckFailure{}, "", err
	}
	defer log.Close()
	if green != nil {
		before, err := repo.JobLog(ctx, *green, logLimit)
		if err == nil {
			defer before.Close()
			opts.Green = before
		} else if !errors.Is(err, github.ErrNoLog) {
			return sia.CheckFailure{}, "", err
		}
	}
	rep, err := failure.Read(log, opts)
	if err != nil {
		return sia.CheckFailure{}, "", fmt.Errorf("read the log of %s: %w", run.Name, err)
	}
	if rep.Line > 0 {
		rep.Line += log.Skipped
	}
	return failure.Check(run.Name, run.URL, rep), cmp.Or(rep.Long, rep.Text), nil
}

// ours keeps the failures of checks that are red in the verdict.
func ours(all []sia.CheckFailure, checks []sia.Check) []sia.CheckFailure {
	return slices.DeleteFunc(all, func(f sia.CheckFailure) bool {
		return !slices.ContainsFunc(checks, func(c sia.Check) bool { return c.Name == f.Check && c.Colour == sia.Red })
	})
}

func named(checks []sia.Check) []string {
	var names []string
	for _, c := range checks {
		names = append(names, c.Name)
	}
	return names
}

func green(checks []sia.Check) []string {
	var names []string
	for _, c := range checks {
		if c.Colour == sia.Green {
			names = append(names, c.Name)
		}
	}
	return names
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
