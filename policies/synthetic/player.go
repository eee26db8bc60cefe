package synthetic

import "math"

// player is a policy at work in one world. It plays tasks one after the other.
type player interface {
	// choose picks a technique whose bit in used is not set.
	choose(t *Task, tried []int, used uint) int
	// saw tells that a task is over: what was tried, and whether the last resolved it.
	saw(t *Task, tried []int, resolved bool)
}

// contender is a policy that can play.
type contender struct {
	name   string
	player func(w *World, seed uint64) (player, error)
}

// Names of the contenders.
const (
	Random            = "random"
	FixedRules        = "fixed rules"
	FixedConfidence   = "fixed rules + confidence"
	ExpertTable       = "full expert table"
	Learned           = "ours"
	OracleDiagnosed   = "oracle: diagnosed pattern"
	OracleConfidence  = "oracle: diagnosed + confidence"
	OracleTruePattern = "oracle: true pattern"
)

var contenders = []contender{
	{Random, func(_ *World, seed uint64) (player, error) { return &dice{newRandom(seed, 77)}, nil }},
	{FixedRules, func(*World, uint64) (player, error) { return scored(fixedRules), nil }},
	{FixedConfidence, func(*World, uint64) (player, error) { return scored(fixedConfidence), nil }},
	{ExpertTable, newExpert},
	{Learned, newLearned},
	{OracleDiagnosed, func(w *World, _ uint64) (player, error) { return newOracle(w, false), nil }},
	{OracleConfidence, func(w *World, _ uint64) (player, error) { return newOracle(w, true), nil }},
	{OracleTruePattern, func(w *World, _ uint64) (player, error) {
		return scored(func(t *Task, k int) float64 { return w.truth[t.repo][t.truth][k] }), nil
	}},
}

// dice tries techniques in random order.
type dice struct{ random }

func (d *dice) choose(_ *Task, _ []int, used uint) int {
	for {
		if k := d.IntN(Techniques); used>>k&1 == 0 {
			return k
		}
	}
}

func (*dice) saw(*Task, []int, bool) {}

// scored tries techniques in the order of a score that it does not learn.
type scored func(t *Task, k int) float64

func (s scored) choose(t *Task, _ []int, used uint) int {
	best, top := -1, math.Inf(-1)
	for k := range Techniques {
		if used>>k&1 == 1 {
			continue
		}
		if v := s(t, k); v > top {
			best, top = k, v
		}
	}
	return best
}

func (scored) saw(*Task, []int, bool) {}

// fixedRules: the rule of first choice, then the default order.
func fixedRules(t *Task, k int) float64 { return logit(ruleShares[t.diagnosed][k]) }

// fixedConfidence adds the model's confidence, standardised, with weight .35.
func fixedConfidence(t *Task, k int) float64 { return fixedRules(t, k) + 0.35*t.z(k) }

// ruleShares are what the fixed rules expect: .38 of a rule's technique, .20 of
// the rest, less a little for each place further down in the default order.
var ruleShares = func() (m [MaxPatterns][Techniques]float64) {
	for i, n := range natures {
		for k := range Techniques {
			m[i][k] = 0.20
		}
		for _, k := range n.rule {
			m[i][k] = 0.38
		}
		for place, k := range defaultOrder {
			m[i][k] -= 0.002 * float64(place)
		}
	}
	return m
}()

// z is the model's opinion of a technique, standardised within the task.
func (t *Task) z(k int) float64 {
	mean, variance := 0.0, 0.0
	for _, x := range t.opinion {
		mean += x / Techniques
	}
	for _, x := range t.opinion {
		variance += (x - mean) * (x - mean) / Techniques
	}
	if variance < 1e-18 {
		return 0
	}
	return max(-2, min(2, (t.opinion[k]-mean)/math.Sqrt(variance)))
}
