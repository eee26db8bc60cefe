package synthetic

import "math"

// player is a policy in one world. It plays tasks one after the other.
type player interface {
	// choose picks a technique without a bit in used. The task's outcomes are in
	// t: a player that learns may read the outcome of its choice.
	choose(t *Task, tried []int, used uint) int
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
	ExpertTable       = "expert table"
	Learned           = "ours"
	Shipped           = "ours, from the table that ships"
	OracleDiagnosed   = "oracle: diagnosed pattern"
	OracleTruePattern = "oracle: true pattern"
)

// contenders play every plan.
var contenders = []contender{
	{Random, func(_ *World, seed uint64) (player, error) { return &dice{newRandom(seed, 77)}, nil }},
	{FixedRules, func(*World, uint64) (player, error) { return scored(fixedRules), nil }},
	{FixedConfidence, func(*World, uint64) (player, error) { return scored(fixedConfidence), nil }},
	{ExpertTable, newExpert},
	{Learned, variant{}.player},
	{Shipped, variant{expert: true}.player},
	{OracleDiagnosed, func(w *World, _ uint64) (player, error) { return newOracle(w), nil }},
	{OracleTruePattern, func(w *World, _ uint64) (player, error) {
		return scored(func(t *Task, k int) float64 { return w.truth[t.repo][t.truth][k] }), nil
	}},
}

// ablations are ours with one difference.
var ablations = []contender{
	{"ours without the model's word", variant{silent: true}.player},
	{"ours, told the model's pick alone", variant{picks: true}.player},
	{"ours without today's confidence", variant{unasked: true}.player},
	{"ours without the usual confidence", variant{unheard: true}.player},
	{"ours without outcomes", variant{unobserved: true}.player},
	{"ours, all repositories as one", variant{pooled: true}.player},
	{"ours, each repository alone", variant{alone: true}.player},
	{"ours without exploration", variant{still: true}.player},
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

// fixedRules: the rule of first choice, then the default order.
func fixedRules(t *Task, k int) float64 { return logit(ruleShares[t.diagnosed][k]) }

// fixedConfidence adds the model's confidence, standardised, with weight .35.
func fixedConfidence(t *Task, k int) float64 { return fixedRules(t, k) + 0.35*t.z(k) }

// The fixed rules' expected shares of a rule's technique, and of the rest.
const (
	ruleShare  = 0.38
	otherShare = 0.20
)

// ruleShares are the fixed rules' expected shares of techniques, slightly less for each later
// place in the default order.
var ruleShares = func() (m [MaxPatterns][Techniques]float64) {
	for i, n := range natures {
		for k := range Techniques {
			m[i][k] = otherShare
		}
		for _, k := range n.rule {
			m[i][k] = ruleShare
		}
		for place, k := range defaultOrder {
			m[i][k] -= 0.002 * float64(place)
		}
	}
	return m
}()

// z returns the model's opinion of a technique, standardised within the task.
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
