package work

import (
	"context"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// saveFlips saves which checks went green on the head, and which of them also went red on it. Saving is idempotent.
func (w *checkWorker) saveFlips(ctx context.Context, t sia.Task, went []gate.GreenCheck) error {
	if len(went) == 0 {
		return nil
	}
	var all []store.Flip
	for _, c := range went {
		all = append(all, store.Flip{Check: c.Check, Flipped: c.Flipped})
	}
	return w.Store.SaveFlips(ctx, t.Repo.ID, t.Head, all...)
}

// doubt returns the evidence for and against running red checks again, with a policy's priors.
func (w *checkWorker) doubt(ctx context.Context, t sia.Task, p policies.Rerun) (gate.Doubt, error) {
	own, all, err := w.Store.FlipCounts(ctx, t.Repo.ID)
	if err != nil {
		return gate.Doubt{}, err
	}
	passed, judged, err := w.Store.CountJudged(ctx, t.Repo.ID)
	if err != nil {
		return gate.Doubt{}, err
	}
	good := gate.Prior{Mean: p.Parameters.GoodRate, Weight: p.Parameters.GoodWeight}
	flakes := gate.Prior{Mean: p.Parameters.FlakeRate, Weight: p.Parameters.FlakeWeight}
	d := gate.Doubt{Good: good.GoodRate(passed, judged), Other: flakeRate(flakes, store.FlipCount{}, all),
		Rates: map[string]float64{}}
	for _, c := range own {
		d.Rates[c.Check] = flakeRate(flakes, c, all)
	}
	// The cost of an attempt is estimated from this task: including diagnoses and reviews, excluding plans, because no
	// more are made.
	cost, attempts := t.Credits.Cost(), 0
	for _, a := range t.Attempts {
		if a.Planning {
			cost -= a.Cost
		} else {
			attempts++
		}
	}
	d.Attempt = float64(max(0, cost)) / float64(sia.Credit) / float64(max(1, attempts))
	return d, nil
}

// flakeRate returns a check's flake rate, given its own flips and those of all checks.
func flakeRate(flakes gate.Prior, own, all store.FlipCount) float64 {
	return flakes.FlakeRate(gate.Count{Commits: own.Commits, Flips: own.Flips},
		gate.Count{Commits: all.Commits - own.Commits, Flips: all.Flips - own.Flips})
}
