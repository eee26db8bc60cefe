package work

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/stuck"
)

// gate gathers what the verdict on the head depends on, judges, and reports.
func (w *Worker) gate(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head || f.Seq != t.Gate.Seq {
		return sia.Done{}, nil // a newer look is scheduled
	}
	e, err := w.gather(ctx, t)
	if err != nil {
		return nil, err
	}
	return w.reportVerdict(ctx, t, f, e, gate.Judge(e.in))
}

// reportVerdict makes a fact of a verdict, and keeps what is to be learned from it.
func (w *Worker) reportVerdict(
	ctx context.Context, t sia.Task, f sia.Effect, e *headEvidence, v gate.Result,
) (sia.Fact, error) {
	if err := w.saveFlips(ctx, t, e.in.Went()); err != nil {
		return nil, err
	}
	out := sia.Judged{
		SHA: t.Head, Looked: e.in.Now, Verdict: v.Verdict, Checks: v.Checks, Explain: v.Explain, RerunIDs: v.Rerun,
		Doubt: v.Doubt,
	}
	if out.Verdict == sia.VerdictRed {
		var err error
		if out.Failures, err = w.failures(ctx, t, e, v.Checks); err != nil {
			return nil, err
		}
		out.Signals = stuck.Signals(t, stuck.Judged{
			Failures: out.Failures, Criteria: named(v.Checks), Passing: green(v.Checks),
			Before: gate.Green(e.in.Base, e.in.BaseStatuses), Hunks: t.Attempt().Hunks,
		})
	}
	return out, w.decideRerun(ctx, t, f, out)
}

// failures is what the red checks say. What their logs tell at length is kept for
// the next attempt.
func (w *Worker) failures(
	ctx context.Context, t sia.Task, e *headEvidence, checks []sia.Check,
) ([]sia.CheckFailure, error) {
	var out []sia.CheckFailure
	for _, l := range e.logs {
		if !isRed(checks, l.failure.Check) {
			continue
		}
		text := textFailure + l.failure.Check
		if err := w.Store.SaveText(ctx, t.ID, t.Attempt().Number, text, w.Secrets.Mask(l.long)); err != nil {
			return nil, err
		}
		l.failure.Excerpt = w.Secrets.Mask(l.failure.Excerpt)
		out = append(out, l.failure)
	}
	for _, s := range e.head.Statuses {
		if (s.State == "failure" || s.State == "error") && isRed(checks, s.Context) {
			said, err := w.statusFailure(s)
			if err != nil {
				return nil, err
			}
			out = append(out, said)
		}
	}
	return out, nil
}

// statusFailure is what a legacy status says.
func (w *Worker) statusFailure(s github.Status) (sia.CheckFailure, error) {
	rep, err := failure.Read(strings.NewReader(s.Description), failure.Options{Name: s.Context})
	if err != nil {
		return sia.CheckFailure{}, fmt.Errorf("read the status %s: %w", s.Context, err)
	}
	out := failure.CheckFailure(s.Context, s.URL, rep)
	out.Excerpt, out.Line = w.Secrets.Mask(s.Description), 0
	return out, nil
}

// isRed reports whether a check of that name is red in the verdict.
func isRed(checks []sia.Check, name string) bool {
	return slices.ContainsFunc(checks, func(c sia.Check) bool { return c.Name == name && c.Colour == sia.Red })
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
