package evolve

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// Parameters of a guardrail.
const (
	lowQuantile = 0.2   // quantile of the old rate that is the limit
	watchFor    = 200   // number of tasks in the one-shot test
	oneShotAt   = 40    // false alarm with a probability of at most 2.5 % if the limit is right
	alarmAt     = 10000 // minimum mean number of tasks between false alarms if the limit is right
	leastRate   = 0.1   // minimum rate after a drop, relative to the limit, so that no task is impossible
)

// drops are the tested drops of the rate.
var drops = [...]float64{.10, .15, .25}

// Guardrail watches one metric of a policy after its promotion: the share of good tasks. That is the resolve rate, or
// the share of tasks without tampering or escalation, or within the usual cost or time.
//
// It tests drops by 10, 15 and 25 points against the limit, the 20 % quantile of the posterior of the old rate
// (Beta(1+good, 1+bad)). Each has a likelihood ratio L per task, and two means over the three of them are tested:
//
//   - Π L, a one-shot e-value, for the first 200 tasks: roll back at 40.
//   - R ← (R + 1)·L, the procedure of Shiryaev and Roberts, for ever: roll back at 10,000
//     (as an e-detector: Shin, Ramdas and Rinaldo, New England Journal of Statistics in Data
//     Science 2, 2024).
//
// Both are fair for every rate from the limit upward.
type Guardrail struct {
	limit      float64
	good, bad  [len(drops)]float64 // L of a task that went well, and of one that did not
	product    [len(drops)]float64
	sr         [len(drops)]float64
	e, r       float64
	tried, had int // number of tasks since the promotion, and of good ones among them
	verdict    Verdict
}

// NewGuardrail returns a guardrail for a metric by which well of the tried tasks were good before the promotion.
func NewGuardrail(well, tried int) (*Guardrail, error) {
	if well < 0 || tried < well {
		return nil, fmt.Errorf("%d of %d tasks went well: want 0 or more, of at least as many", well, tried)
	}
	limit := mathext.InvRegIncBeta(float64(1+well), float64(1+tried-well), lowQuantile)
	g := &Guardrail{limit: limit, e: 1, verdict: GoOn}
	for i, drop := range drops {
		rate := max(g.limit-drop, g.limit*leastRate)
		g.good[i], g.bad[i], g.product[i] = rate/g.limit, (1-rate)/(1-g.limit), 1
	}
	return g, nil
}

// Add adds whether a task was good. Tasks must be added in the order in which they began. After the verdict it does
// nothing.
func (g *Guardrail) Add(well bool) {
	if g.verdict != GoOn {
		return
	}
	g.tried++
	ratios := &g.bad
	if well {
		g.had++
		ratios = &g.good
	}
	e, r := 0.0, 0.0
	for i, l := range ratios {
		g.product[i] *= l
		g.sr[i] = (g.sr[i] + 1) * l
		e += g.product[i] / float64(len(drops))
		r += g.sr[i] / float64(len(drops))
	}
	g.r = r
	if g.tried <= watchFor {
		g.e = e
	}
	if g.tried <= watchFor && e >= oneShotAt || r >= alarmAt {
		g.verdict = RollBack
	}
}

// Limit returns the rate below which a drop is detected.
func (g *Guardrail) Limit() float64 { return g.limit }

// Verdict returns go-on or roll-back, which is final.
func (g *Guardrail) Verdict() Verdict { return g.verdict }

// Why returns the verdict's reason, for display.
func (g *Guardrail) Why() string {
	return fmt.Sprintf("%d of %d tasks went well since the promotion, at least %.0f %% did before: E = %.3g of %d in the "+
		"first %d tasks, R = %.3g of %d", g.had, g.tried, 100*g.limit, g.e, oneShotAt, watchFor, g.r, alarmAt)
}
