package policies

// Rerun is by what it is weighed whether red checks are run again once: what is believed
// of checks and attempts before any was seen (package gate has the rule).
type Rerun struct {
	Parameters RerunParameters `yaml:"parameters"`
}

// RerunParameters are the priors, Beta distributions given by mean and weight.
type RerunParameters struct {
	FlakeRate   float64 `yaml:"flake_rate" range:"0,1"`       // of a check
	FlakeWeight float64 `yaml:"flake_weight" range:"0.1,1e6"` // in commits
	GoodRate    float64 `yaml:"good_rate" range:"0,1"`        // share of attempts that are right
	GoodWeight  float64 `yaml:"good_weight" range:"0.1,1e6"`  // in attempts
}

// Sections implements body.
func (p *Rerun) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters}
}

// Interrupt is by what it is predicted that an attempt gets nowhere: the weights of a
// logistic hazard before anything was learned (package stuck has the rule).
type Interrupt struct {
	Parameters InterruptParameters `yaml:"parameters"`
}

// InterruptParameters are the weights, and how they are learned.
type InterruptParameters struct {
	Bias   float64 `yaml:"bias" range:"-20,20"`
	Streak float64 `yaml:"streak" range:"-20,20"` // × calls alike in a row
	Same   float64 `yaml:"same" range:"-20,20"`   // × the same error among the last calls
	Idle   float64 `yaml:"idle" range:"-20,20"`   // × turns without a change
	Spent  float64 `yaml:"spent" range:"-20,20"`  // × the share of the budget that is spent
	Rate   float64 `yaml:"rate" range:"0,1"`      // the step of learning
	Pull   float64 `yaml:"pull" range:"0,1"`      // how strongly weights are held to these
}

// Sections implements body.
func (p *Interrupt) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters}
}
