package evolve

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// The guardrail's numbers.
const (
	lowQuantile = 0.2   // of the old rate, below which a fall is looked for
	watchFor    = 200   // tasks that the one-shot test looks at
	oneShotAt   = 40    // false in at most 2.5 % of the limits that are right
	alarmAt     = 10000 // tasks from one false alarm to the next, at least, where the limit is right
	leastRate   = 0.1   // a fall leaves this share of the limit, at least, so that no task is impossible
)

// drops are the falls that are looked for, as shares.
var drops = [...]float64{.10, .15, .25}

// Guardrail watches one metric of a policy after its promotion: the share of tasks that went
// well by it. A resolve rate is one as it is; of tampering, escalations, cost and time it is
// the share of tasks without, or within what was usual.
//
// Against the limit, the lower 20 % quantile of what the old rate may have been (of Beta(1+good,
// 1+bad)), it sets falls by 10, 15 and 25 points. Each has a likelihood ratio L per task, and two
// means over the three of them are looked at:
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
	tried, had int // tasks since the promotion, and those of them that went well
	verdict    Verdict
}

// NewGuardrail is a guardrail for a metric by which, before the promotion, so many of the
// tried tasks went well.
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

// Add tells of a task whether it went well, in the order in which tasks began. After the
// verdict it changes nothing.
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

// Limit is the rate below which a fall is looked for.
func (g *Guardrail) Limit() float64 { return g.limit }

// Verdict is go-on or roll-back, which is final.
func (g *Guardrail) Verdict() Verdict { return g.verdict }

// Why says the verdict's reason to people.
func (g *Guardrail) Why() string {
	return fmt.Sprintf("%d of %d tasks went well since the promotion, at least %.0f %% did before: E = %.3g of %d in the "+
		"first %d tasks, R = %.3g of %d", g.had, g.tried, 100*g.limit, g.e, oneShotAt, watchFor, g.r, alarmAt)
}
