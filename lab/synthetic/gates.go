package synthetic

import (
	"context"
	"fmt"

	"github.com/sia-bot/sia/policies/evolve"
)

const (
	gateProposals = 20 // in a row, for one policy
	gateTasks     = 60 // replayed for each; exactly one policy solves each
)

// gated is the result of one series of proposals without an improvement.
type gated struct {
	first, any bool // passed
	greedy     bool // the first one won more tasks than it lost
}

// gates measures which proposals pass if the gate is tested after every task.
func (m measure) gates(ctx context.Context) ([]Figure, error) {
	all, err := inWorlds(ctx, m.worlds, func(i int) (gated, error) {
		r, w := m.dice("gate.null", i), gated{}
		for k := range gateProposals {
			passed, ahead, err := replay(r, k+1, 0.5)
			if err != nil {
				return w, err
			}
			w.any = w.any || passed > 0
			if k == 0 {
				w.first, w.greedy = passed > 0, ahead > 0
			}
		}
		return w, nil
	})
	if err != nil {
		return nil, err
	}
	null := fmt.Sprintf("proposals that are no better, %d tasks that only one policy solves", gateTasks)
	out := []Figure{
		m.figure("gate.null.first", null, "the first proposal passes", "≤ 3.0 %").
			share(column(all, func(w gated) bool { return w.first })),
		m.figure("gate.null.any", null, fmt.Sprintf("any of %d in a row passes", gateProposals), "≤ 5 %").
			share(column(all, func(w gated) bool { return w.any })),
		m.figure("gate.null.greedy", null, "for comparison: it has won more than lost at the end", "").
			share(column(all, func(w gated) bool { return w.greedy })),
	}
	for _, wins := range []float64{0.65, 0.8, 0.9} {
		key := fmt.Sprintf("gate.better-%.0f", 100*wins)
		after, err := inWorlds(ctx, m.worlds, func(i int) (int, error) {
			passed, _, err := replay(m.dice(key, i), 1, wins)
			return passed, err
		})
		if err != nil {
			return nil, err
		}
		out = append(out, m.found(key, fmt.Sprintf("a first proposal that wins %.0f %% of such tasks", 100*wins),
			"passes", "tasks", "", after, gateTasks)...)
	}
	return out, nil
}

// replay plays tasks again with the k-th proposal. It returns the number of tasks until it passes, 0 for
// never, and the won minus the lost tasks.
func replay(r random, k int, wins float64) (passed, ahead int, err error) {
	g, err := evolve.NewGate(k)
	if err != nil {
		return 0, 0, err
	}
	for n := range gateTasks {
		won := r.Float64() < wins
		g.Add(won, !won)
		if won {
			ahead++
		} else {
			ahead--
		}
		if passed == 0 && g.Verdict() == evolve.Pass {
			passed = n + 1
		}
	}
	return passed, ahead, nil
}
