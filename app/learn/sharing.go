package learn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
)

// Sharing shares counts of what worked with other installations, as far as repositories have agreed.
type Sharing struct {
	store  SharingStore
	agrees func(context.Context, store.Repository) (bool, error)
	now    func() time.Time
}

// NewSharing returns what shares; agrees says whether the settings in force in a repository are for it.
func NewSharing(
	s SharingStore, agrees func(context.Context, store.Repository) (bool, error), now func() time.Time,
) *Sharing {
	return &Sharing{s, agrees, now}
}

// Share is what would leave, or left, and what was counted for it. The counts are exact and stay here: only
// the report leaves.
type Share struct {
	Repositories int // that agree
	Silent       int // that don't, of which nothing is counted
	Techniques   int // tasks that have their first technique counted in the report
	Coders       int // tasks that have their first coder counted
	Report       priors.Report
	counted      []store.SharedTask
}

// Draft is the next report as it would leave. Nothing is kept: asked again, the noise is another.
func (x *Sharing) Draft(ctx context.Context, key string, noise *priors.Noise) (Share, error) {
	out, outcomes, err := x.outcomes(ctx)
	if err != nil {
		return out, err
	}
	shared, err := x.store.SharedTasks(ctx)
	if err != nil {
		return out, err
	}
	before := make(map[priors.Reported]bool, len(shared))
	for _, t := range shared {
		before[priors.Reported{Task: string(t.Task), Technique: t.Technique}] = true
	}
	counts, now := priors.Count(outcomes, before)
	for _, r := range now {
		out.counted = append(out.counted, store.SharedTask{Task: sia.TaskID(r.Task), Technique: r.Technique})
		if r.Technique {
			out.Techniques++
		} else {
			out.Coders++
		}
	}
	last, err := x.store.LastSharedReport(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	out.Report = priors.Report{Key: key, Period: last.Period + 1}
	out.Report.Counts, err = counts.Blur(noise)
	return out, err
}

// Export makes the next report and keeps it, with what is counted in it, before anybody has it. Nothing that is
// counted now is counted again.
func (x *Sharing) Export(ctx context.Context, key priors.Key, noise *priors.Noise) (store.SharedReport, Share, error) {
	out, err := x.Draft(ctx, key.Public(), noise)
	if err != nil {
		return store.SharedReport{}, out, err
	}
	if len(out.counted) == 0 {
		return store.SharedReport{}, out, &sia.Error{Op: "export counts", Permanent: true,
			Message: fmt.Sprintf("nothing new is to be shared: %d repositories agree (learning.share: aggregate) and %d don't; "+
				"--again writes the last report again",
				out.Repositories, out.Silent)}
	}
	signed, err := out.Report.Sign(key)
	if err != nil {
		return store.SharedReport{}, out, err
	}
	r := store.SharedReport{Period: out.Report.Period, Key: key.Public(), Signed: signed, At: x.now()}
	return r, out, x.store.SaveSharedReport(ctx, r, out.counted)
}

// outcomes are those of first techniques and first coders that may be shared, in the order in which they
// were recorded. Tasks that were rebuilt from memory may have been shared before, and are left out.
func (x *Sharing) outcomes(ctx context.Context) (out Share, all []priors.Outcome, err error) {
	repos, err := x.store.Repositories(ctx, 0)
	if err != nil {
		return out, nil, err
	}
	open := map[int64]bool{}
	for _, r := range repos {
		if open[r.ID], err = x.agrees(ctx, r); err != nil {
			return out, nil, err
		}
		if open[r.ID] {
			out.Repositories++
		} else {
			out.Silent++
		}
	}
	languages, errLanguages := x.store.TaskLanguages(ctx)
	rebuilt, errRebuilt := x.store.RestoredTasks(ctx)
	techniques, errTechniques := x.store.OutcomesSince(ctx, 0)
	coders, errCoders := x.store.CoderOutcomesSince(ctx, 0)
	if err := errors.Join(errLanguages, errRebuilt, errTechniques, errCoders); err != nil {
		return out, nil, err
	}
	old := map[sia.TaskID]bool{}
	for _, id := range rebuilt {
		old[id] = true
	}
	for _, o := range techniques {
		if open[o.Repo.ID] && !old[o.Task] && o.Attempt == 0 {
			all = append(all, priors.Outcome{Task: string(o.Task), Language: languages[o.Task], Pattern: string(o.Pattern),
				Technique: string(o.Technique), Resolved: o.Resolved})
		}
	}
	table := policies.ShippedCoders()
	for _, o := range coders {
		if open[o.Repo] && !old[o.Task] && len(o.Failed) == 0 {
			known, _ := table.Of(o.Agent)
			all = append(all, priors.Outcome{Task: string(o.Task), Language: languages[o.Task], Kind: o.Kind,
				Coder: known.Name, Resolved: o.Resolved})
		}
	}
	return out, all, nil
}

// Worth is what an import was worth here: in how many tasks the first technique resolved, of those that were
// decided by it and of those that were not, which a hash has drawn.
type Worth struct {
	With    Tally `json:"with"`
	Without Tally `json:"without"`
	// Difference of the two shares, with less without, and its 95 % interval; where either side has no task
	// there is none.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// Tally counts tasks.
type Tally struct {
	Tried    int `json:"tried"`
	Resolved int `json:"resolved"`
}

func (t *Tally) count(resolved bool) {
	t.Tried++
	if resolved {
		t.Resolved++
	}
}

// Known tells whether there is something on either side.
func (w Worth) Known() bool { return w.With.Tried > 0 && w.Without.Tried > 0 }

// WorthOf looks at decisions about techniques that were made while an import was in force. The first of each
// task counts, unless a person decided it.
func WorthOf(id int64, ds []sia.Decision) (w Worth, err error) {
	for _, d := range ds {
		var q question
		if d.Type != sia.DecideTechnique || d.Policy == policyPerson {
			continue
		}
		if q, err = questionOf(d); err != nil {
			return w, err
		}
		resolved, known := Came(d)
		if q.Import != id || q.Attempt != 0 || !known {
			continue
		}
		side := &w.With
		if q.Spared {
			side = &w.Without
		}
		side.count(resolved)
	}
	if w.Known() {
		w.Difference, w.Low, w.High = mine.Difference(w.With.Resolved, w.With.Tried, w.Without.Resolved, w.Without.Tried)
	}
	return w, nil
}
