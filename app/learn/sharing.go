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

// Sharing shares counts of outcomes with other installations, as far as repositories have agreed.
type Sharing struct {
	store  SharingStore
	agrees func(context.Context, store.Repository) (bool, error)
	now    func() time.Time
}

// NewSharing returns a Sharing; agrees reports whether the settings in force in a repository allow sharing.
func NewSharing(
	s SharingStore, agrees func(context.Context, store.Repository) (bool, error), now func() time.Time,
) *Sharing {
	return &Sharing{s, agrees, now}
}

// Share is a report and the counts behind it. The counts are exact and stay on this server: only the report is shared.
type Share struct {
	Repositories int // that agree
	Silent       int // that don't; nothing of them is counted
	Techniques   int // tasks with their first technique in the report
	Coders       int // tasks with their first coder in the report
	Report       priors.Report
	counted      []store.SharedTask
}

// Draft returns the next report as it would be shared. Nothing is stored: each call uses different noise.
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

// Export creates the next report and stores it, with the tasks it counts, before returning it. No task is counted
// twice.
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

// outcomes returns the outcomes of first techniques and first coders that may be shared, in recording order. It omits
// tasks rebuilt from memory, which may have been shared before.
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

// ImportEffect is the measured benefit of an import: how many tasks the first technique resolved, among those decided
// with it and those decided without it, which a hash selected.
type ImportEffect struct {
	With    Tally `json:"with"`
	Without Tally `json:"without"`
	// Difference of the two shares, with minus without, and its 95 % interval; zero if either side has no task.
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

// Known reports whether both sides have tasks.
func (w ImportEffect) Known() bool { return w.With.Tried > 0 && w.Without.Tried > 0 }

// MeasureImport evaluates decisions about techniques that were made while an import was in force. The first of each
// task counts, unless a user made it.
func MeasureImport(id int64, ds []sia.Decision) (w ImportEffect, err error) {
	for _, d := range ds {
		var q question
		if d.Type != sia.DecideTechnique || d.Policy == policyUser {
			continue
		}
		if q, err = questionOf(d); err != nil {
			return w, err
		}
		resolved, known := Resolved(d)
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
