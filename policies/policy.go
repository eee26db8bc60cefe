package policies

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/goccy/go-yaml"
)

//go:embed defaults/technique.yml
var shipped []byte

// Policy is the technique policy as written in YAML: defaults/technique.yml is
// the one that ships. A value is immutable after [ParsePolicy].
type Policy struct {
	Decision   string                    `yaml:"decision"` // "technique"
	Name       string                    `yaml:"name"`
	Version    int                       `yaml:"version"`
	Reasoning  string                    `yaml:"reasoning"`
	Parameters Parameters                `yaml:"parameters"`
	Shares     Shares                    `yaml:"shares"`
	Ranks      map[string]map[string]int `yaml:"ranks"` // pattern → technique → rank; 1 is the rule of first choice
}

// Parameters are the numbers of a technique policy. Weights of priors are in
// outcomes: a prior of weight 12 counts like twelve outcomes.
type Parameters struct {
	Explore        float64 `yaml:"explore"`         // 0–0.5: share of decisions left to chance
	ExploreAmong   int     `yaml:"explore_among"`   // ≥ 1: chance picks among at least so many of the best
	WeightPrior    float64 `yaml:"weight_prior"`    // > 0
	WeightGlobal   float64 `yaml:"weight_global"`   // > 0
	WeightOrg      float64 `yaml:"weight_org"`      // > 0
	WeightOpinions float64 `yaml:"weight_opinions"` // > 0, in diagnoses
	Confidence     float64 `yaml:"confidence"`      // ≥ 0: first weight of the confidence in today's diagnosis
	Opinion        float64 `yaml:"opinion"`         // ≥ 0: first weight of the average confidence
}

// Shares are the expected shares of resolutions by rank, each in (0, 1).
type Shares struct {
	First  float64 `yaml:"first"`
	Second float64 `yaml:"second"`
	Later  float64 `yaml:"later"` // ranks from 3
	Other  float64 `yaml:"other"` // techniques without a rank
}

// DefaultPolicy is the policy that ships.
func DefaultPolicy() (Policy, error) { return ParsePolicy(shipped) }

// ParsePolicy reads a technique policy. Unknown fields, another decision type and
// numbers out of their ranges are errors that name the place.
func ParsePolicy(source []byte) (Policy, error) {
	var p Policy
	if err := yaml.UnmarshalWithOptions(source, &p, yaml.Strict()); err != nil {
		return Policy{}, fmt.Errorf("parse technique policy: %w", err)
	}
	if err := p.check(); err != nil {
		return Policy{}, fmt.Errorf("parse technique policy: %w", err)
	}
	return p, nil
}

func (p Policy) check() error {
	if p.Decision != "technique" {
		return fmt.Errorf("decision is %q, want technique", p.Decision)
	}
	if p.Name == "" || p.Version < 1 {
		return fmt.Errorf("a policy has a name and a version of at least 1, not %q and %d", p.Name, p.Version)
	}
	q, s := p.Parameters, p.Shares
	if q.ExploreAmong < 1 {
		return fmt.Errorf("parameters.explore_among is %d, want at least 1", q.ExploreAmong)
	}
	for _, f := range []struct {
		name          string
		v, least, top float64
	}{
		{"parameters.explore", q.Explore, 0, 0.5},
		{"parameters.weight_prior", q.WeightPrior, 0.1, 1e6},
		{"parameters.weight_global", q.WeightGlobal, 0.1, 1e6},
		{"parameters.weight_org", q.WeightOrg, 0.1, 1e6},
		{"parameters.weight_opinions", q.WeightOpinions, 0.1, 1e6},
		{"parameters.confidence", q.Confidence, 0, maxWeight},
		{"parameters.opinion", q.Opinion, 0, maxWeight},
		{"shares.first", s.First, minShare, maxShare},
		{"shares.second", s.Second, minShare, maxShare},
		{"shares.later", s.Later, minShare, maxShare},
		{"shares.other", s.Other, minShare, maxShare},
	} {
		if math.IsNaN(f.v) || f.v < f.least || f.v > f.top {
			return fmt.Errorf("%s is %v, want a number from %v to %v", f.name, f.v, f.least, f.top)
		}
	}
	for pattern, ranks := range p.Ranks {
		for technique, rank := range ranks {
			if rank < 1 {
				return fmt.Errorf("ranks.%s.%s is %d, want at least 1", pattern, technique, rank)
			}
		}
	}
	return nil
}

// Share is the share of resolutions that the table expects of a technique for a
// pattern; the pattern and the technique may be unknown to it.
func (p Policy) Share(pattern, technique string) float64 {
	switch rank := p.Ranks[pattern][technique]; rank {
	case 0:
		return p.Shares.Other
	case 1:
		return p.Shares.First
	case 2:
		return p.Shares.Second
	default:
		return p.Shares.Later
	}
}
