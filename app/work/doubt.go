package work

import (
	"context"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// saveFlips saves which checks went green on the head, and which of them went red
// on it, too. Saved again, they count once.
func (w *Worker) saveFlips(ctx context.Context, t sia.Task, went []gate.Went) error {
	if len(went) == 0 {
		return nil
	}
	var all []store.Flip
	for _, c := range went {
		all = append(all, store.Flip{Check: c.Check, Flipped: c.Flipped})
	}
	return w.Store.SaveFlips(ctx, t.Repo.ID, t.Head, all...)
}

// doubt gathers what speaks for and against running red checks again.
func (w *Worker) doubt(ctx context.Context, t sia.Task) (gate.Doubt, error) {
	own, all, err := w.Store.FlipCounts(ctx, t.Repo.ID)
	if err != nil {
		return gate.Doubt{}, err
	}
	passed, judged, err := w.Store.CountJudged(ctx, t.Repo.ID)
	if err != nil {
		return gate.Doubt{}, err
	}
	d := gate.Doubt{Good: gate.GoodRate(passed, judged), Other: rate(store.FlipCount{}, all), Rates: map[string]float64{}}
	for _, c := range own {
		d.Rates[c.Check] = rate(c, all)
	}
	// What an attempt costs is known from this task: with its diagnoses and reviews,
	// and without its plans, of which no more are made.
	cost, attempts := t.Credits.Spent+t.Credits.Overrun, 0
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

// rate is a check's flake rate, given its own flips and those of all checks.
func rate(own, all store.FlipCount) float64 {
	return gate.FlakeRate(gate.Count{Commits: own.Commits, Flips: own.Flips},
		gate.Count{Commits: all.Commits - own.Commits, Flips: all.Flips - own.Flips})
}
