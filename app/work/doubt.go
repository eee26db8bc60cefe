package work

import (
	"context"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// flips saves which checks went green on the head, and which of them went red on
// it, too. The log of an earlier red run is read for that, into in: weather is no
// flip.
func (w *Worker) flips(ctx context.Context, t sia.Task, repo *github.Repo, set github.CheckSet, in *gate.Input) error {
	flipped := map[string]bool{}
	for _, c := range gate.Judge(*in).Went {
		flipped[c.Check] = c.Flipped
	}
	for i, r := range in.Runs {
		if !flipped[r.Name] || r.Own || r.Class != "" || r.Conclusion != "failure" {
			continue
		}
		j := slices.IndexFunc(set.Runs, func(x github.CheckRun) bool { return x.ID == r.ID })
		read, _, err := w.read(ctx, repo, set.Runs[j], nil)
		if err != nil {
			return err
		}
		in.Runs[i].Class = read.Class
	}
	var all []store.Flip
	for _, c := range gate.Judge(*in).Went {
		all = append(all, store.Flip{Check: c.Check, Flipped: c.Flipped})
	}
	return w.Store.SaveFlips(ctx, t.Repo.ID, t.Head, all...)
}

// doubt gathers what speaks for and against running red checks again. A person's
// own push is not doubted: who pushed it looks at its checks.
func (w *Worker) doubt(ctx context.Context, t sia.Task) (gate.Doubt, error) {
	if t.HeadBy != (sia.Actor{}) {
		return gate.Doubt{}, nil
	}
	own, all, err := w.Store.FlipCounts(ctx, t.Repo.ID)
	if err != nil {
		return gate.Doubt{}, err
	}
	passed, judged, err := w.Store.CountJudged(ctx, t.Repo.ID)
	if err != nil {
		return gate.Doubt{}, err
	}
	d := gate.Doubt{Good: gate.GoodRate(passed, judged), Other: rate(store.FlipCount{}, all), Rates: map[string]float64{}, Done: t.Gate.Doubted}
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
	return gate.FlakeRate(gate.Count{Commits: own.Commits, Flips: own.Flips}, gate.Count{Commits: all.Commits - own.Commits, Flips: all.Flips - own.Flips})
}
