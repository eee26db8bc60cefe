package bandit

// Policy has the parameters and rules of a technique policy. Package policies reads it from YAML. It must not be
// changed once a learner has it.
type Policy struct {
	ID         string     `yaml:"-"` // id in decisions, such as "technique/1@1a2b3c4d5e6f"
	Parameters Parameters `yaml:"parameters"`
	Rules      Rules      `yaml:"rules"`
}

// Parameters are the numbers of a technique policy. Weights of priors are in
// outcomes: a prior of weight 12 counts like twelve outcomes. Weights of confidence stay within [maxWeight].
type Parameters struct {
	Explore        float64 `yaml:"explore" range:"0,0.5"`       // share of decisions left to chance
	ExploreAmong   int     `yaml:"explore_among" range:"1,100"` // minimum number of options for exploration
	Trial          float64 `yaml:"trial" range:"0,0.1"`         // share of decisions after the first for trials
	WeightPrior    float64 `yaml:"weight_prior" range:"0.1,1e6"`
	WeightGlobal   float64 `yaml:"weight_global" range:"0.1,1e6"`
	WeightOrg      float64 `yaml:"weight_org" range:"0.1,1e6"`
	WeightOpinions float64 `yaml:"weight_opinions" range:"0.1,1e6"` // in diagnoses
	Confidence     float64 `yaml:"confidence" range:"0,4"`          // initial weight of the current confidence
	Opinion        float64 `yaml:"opinion" range:"0,4"`             // initial weight of the average confidence
}

// Rules are the expert table.
type Rules struct {
	Shares Shares `yaml:"shares"`
	// pattern → technique → rank; 1 is the first choice
	Ranks map[string]map[string]int `yaml:"ranks" range:"1,100"`
}

// Shares are the expected shares of resolutions by rank, within [minShare] and [maxShare].
type Shares struct {
	First  float64 `yaml:"first" range:"0.003,0.99"`
	Second float64 `yaml:"second" range:"0.003,0.99"`
	Later  float64 `yaml:"later" range:"0.003,0.99"` // ranks from 3
	Other  float64 `yaml:"other" range:"0.003,0.99"` // techniques without a rank
}

// Sections returns the policy's keys in a policy file, each with a pointer to its field.
func (p *Policy) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters, "rules": &p.Rules}
}

// Share returns the share of resolutions that the table expects of a technique for a pattern. Both may be unknown.
func (p Policy) Share(pattern, technique string) float64 {
	return p.Rules.Shares.of(p.Rules.Ranks[pattern][technique])
}

// of returns the expected share for a rank; 0: no rank.
func (s Shares) of(rank int) float64 {
	switch rank {
	case 0:
		return s.Other
	case 1:
		return s.First
	case 2:
		return s.Second
	default:
		return s.Later
	}
}
