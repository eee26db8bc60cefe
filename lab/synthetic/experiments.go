package synthetic

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sia-bot/sia/policies/evolve"
)

// experimentTasks is the maximum length of an experiment: 2,000 outcomes an arm. It is tested
// after each.
const experimentTasks = 4000

// experimentRates are success rates of the policy in force.
var experimentRates = []float64{0.3, 0.5, 0.7}

// tried is the result of one experiment.
type tried struct {
	verdict evolve.Verdict
	after   int // outcomes of both arms
}

// assignment decides which arm gets the next task of an experiment.
type assignment func(r random, experiment string, task int) bool

// fair is the product's assignment.
func fair(_ random, experiment string, task int) bool {
	return evolve.Assign(experiment, strconv.Itoa(task))
}

// unfair gives a share of the tasks to the candidate.
func unfair(share float64) assignment {
	return func(r random, _ string, _ int) bool { return r.Float64() < share }
}

// experiments measures how often candidates are promoted and stopped, and after how many tasks.
func (m measure) experiments(ctx context.Context) (out []Figure, err error) {
	var null []tried
	for _, rate := range experimentRates {
		all, err := m.tried(ctx, fmt.Sprintf("experiment.null-%.0f", 100*rate), rate, 0, fair)
		if err != nil {
			return nil, err
		}
		null = append(null, all...)
		out = append(out, m.figure(fmt.Sprintf("experiment.null-%.0f.promoted", 100*rate), candidateText(rate, 0),
			"promoted", "≤ 5 %").share(ended(all, evolve.Promote)))
	}
	alike := "a candidate that does as well, at any of these rates"
	out = append(out,
		m.figure("experiment.null.promoted", alike, "promoted", "≤ 5 %").share(ended(null, evolve.Promote)),
		m.figure("experiment.null.harm", alike, "stopped for harm", "≤ 10 %").share(ended(null, evolve.StopHarm)),
		m.figure("experiment.null.broken", alike, "its lot is taken for broken", "≤ 1 %").
			share(ended(null, evolve.StopBroken)))
	for _, gain := range []float64{.1, .2, -.1, -.2} {
		want, what, name := evolve.Promote, "promoted", "better"
		if gain < 0 {
			want, what, name = evolve.StopHarm, "stopped for harm", "worse"
		}
		for _, rate := range experimentRates {
			key := fmt.Sprintf("experiment.%s-%.0f-%.0f", name, 100*max(gain, -gain), 100*rate)
			all, err := m.tried(ctx, key, rate, gain, fair)
			if err != nil {
				return nil, err
			}
			out = append(out, m.endings(key, candidateText(rate, gain), what, all, want)...)
		}
	}
	for _, share := range []float64{.6, .75} {
		key := fmt.Sprintf("experiment.broken-%.0f", 100*share)
		all, err := m.tried(ctx, key, .5, 0, unfair(share))
		if err != nil {
			return nil, err
		}
		out = append(out, m.endings(key, fmt.Sprintf("the candidate gets %.0f %% of the tasks", 100*share),
			"stopped for a broken lot", all, evolve.StopBroken)...)
	}
	return out, nil
}

func candidateText(rate, gain float64) string {
	if gain == 0 {
		return fmt.Sprintf("a candidate that does as well: %.0f %%", 100*rate)
	}
	return fmt.Sprintf("a candidate at %+.0f points of %.0f %%", 100*gain, 100*rate)
}

// tried runs an experiment in each world.
func (m measure) tried(ctx context.Context, key string, rate, gain float64, l assignment) ([]tried, error) {
	return inWorlds(ctx, m.worlds, func(i int) (tried, error) {
		r, x := m.dice(key, i), evolve.NewExperiment()
		name := fmt.Sprintf("%s-%d-%d", key, m.seed, i)
		for n := range experimentTasks {
			candidate, p := l(r, name, n), rate
			if candidate {
				p += gain
			}
			if x.Add(candidate, r.Float64() < p); x.Verdict() != evolve.GoOn {
				return tried{x.Verdict(), n + 1}, nil
			}
		}
		return tried{x.Verdict(), experimentTasks}, nil
	})
}

// ended returns for each experiment whether it ended so.
func ended(all []tried, v evolve.Verdict) []bool {
	return column(all, func(t tried) bool { return t.verdict == v })
}

// endings returns the figures of experiments that should end so, in outcomes an arm.
func (m measure) endings(key, world, what string, all []tried, v evolve.Verdict) []Figure {
	return m.found(key, world, what, "outcomes an arm", "", column(all, func(t tried) int {
		if t.verdict != v {
			return 0
		}
		return (t.after + 1) / 2
	}), experimentTasks/2)
}
