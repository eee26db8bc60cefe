package bandit

import (
	"cmp"
	"fmt"
	"math"

	"github.com/sia-bot/sia/sia/invalid"
)

// Policy is what a learner goes by besides outcomes: the parameters and rules of a
// technique policy. Package policies reads it from YAML. It is not changed once a
// learner has it.
type Policy struct {
	ID         string     `yaml:"-"` // names it in decisions, such as "technique/1@1a2b3c4d5e6f"
	Parameters Parameters `yaml:"parameters"`
	Rules      Rules      `yaml:"rules"`
}

// Parameters are the numbers of a technique policy. Weights of priors are in
// outcomes: a prior of weight 12 counts like twelve outcomes.
type Parameters struct {
	Explore        float64 `yaml:"explore"`         // 0–0.5: share of decisions left to chance
	ExploreAmong   int     `yaml:"explore_among"`   // ≥ 1: chance picks among at least so many of the best
	Trial          float64 `yaml:"trial"`           // 0–0.1: share of decisions, after a first, for trials
	WeightPrior    float64 `yaml:"weight_prior"`    // > 0
	WeightGlobal   float64 `yaml:"weight_global"`   // > 0
	WeightOrg      float64 `yaml:"weight_org"`      // > 0
	WeightOpinions float64 `yaml:"weight_opinions"` // > 0, in diagnoses
	Confidence     float64 `yaml:"confidence"`      // ≥ 0: first weight of the confidence in today's diagnosis
	Opinion        float64 `yaml:"opinion"`         // ≥ 0: first weight of the average confidence
}

// maxTrial bounds the share of decisions that a policy may give to techniques on trial.
const maxTrial = 0.1

// Rules are the expert table.
type Rules struct {
	Shares Shares                    `yaml:"shares"`
	Ranks  map[string]map[string]int `yaml:"ranks"` // pattern → technique → rank; 1 is the rule of first choice
}

// Shares are the expected shares of resolutions by rank, each in (0, 1).
type Shares struct {
	First  float64 `yaml:"first"`
	Second float64 `yaml:"second"`
	Later  float64 `yaml:"later"` // ranks from 3
	Other  float64 `yaml:"other"` // techniques without a rank
}

// Sections are the keys of a policy file that the policy is read from, each with where it
// is read to.
func (p *Policy) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters, "rules": &p.Rules}
}

// Check lists what is out of its range, each by its path in the file.
func (p Policy) Check() []invalid.Problem {
	q, s := p.Parameters, p.Rules.Shares
	r := invalid.Ranges{}
	r.Within("parameters.explore_among", float64(q.ExploreAmong), 1, 100)
	r.Within("parameters.explore", q.Explore, 0, 0.5)
	r.Within("parameters.trial", q.Trial, 0, maxTrial)
	r.Within("parameters.weight_prior", q.WeightPrior, 0.1, 1e6)
	r.Within("parameters.weight_global", q.WeightGlobal, 0.1, 1e6)
	r.Within("parameters.weight_org", q.WeightOrg, 0.1, 1e6)
	r.Within("parameters.weight_opinions", q.WeightOpinions, 0.1, 1e6)
	r.Within("parameters.confidence", q.Confidence, 0, maxWeight)
	r.Within("parameters.opinion", q.Opinion, 0, maxWeight)
	r.Within("rules.shares.first", s.First, minShare, maxShare)
	r.Within("rules.shares.second", s.Second, minShare, maxShare)
	r.Within("rules.shares.later", s.Later, minShare, maxShare)
	r.Within("rules.shares.other", s.Other, minShare, maxShare)
	for pattern, ranks := range p.Rules.Ranks {
		for technique, rank := range ranks {
			r.Within("rules.ranks."+pattern+"."+technique, float64(rank), 1, math.MaxInt32)
		}
	}
	return r.Problems()
}

// Share is the share of resolutions that the table expects of a technique for a
// pattern; the pattern and the technique may be unknown to it.
func (p Policy) Share(pattern, technique string) float64 {
	switch rank := p.Rules.Ranks[pattern][technique]; rank {
	case 0:
		return p.Rules.Shares.Other
	case 1:
		return p.Rules.Shares.First
	case 2:
		return p.Rules.Shares.Second
	default:
		return p.Rules.Shares.Later
	}
}

// usable is the error of a policy that is out of its ranges.
func (p Policy) usable() error {
	if wrong := p.Check(); len(wrong) > 0 {
		return fmt.Errorf("the technique policy %s: %w", cmp.Or(p.ID, "without an id"),
			&invalid.File{Name: "policy", Problems: wrong})
	}
	return nil
}
