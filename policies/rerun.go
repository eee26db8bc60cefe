package policies

// Rerun decides whether failed checks are re-run once, from priors about checks and attempts (package gate implements
// it).
type Rerun struct {
	Parameters RerunParameters `yaml:"parameters"`
}

// RerunParameters are the priors: Beta distributions given by mean and weight.
type RerunParameters struct {
	FlakeRate   float64 `yaml:"flake_rate" range:"0,1"`       // flake rate of a check
	FlakeWeight float64 `yaml:"flake_weight" range:"0.1,1e6"` // in commits
	GoodRate    float64 `yaml:"good_rate" range:"0,1"`        // share of correct attempts
	GoodWeight  float64 `yaml:"good_weight" range:"0.1,1e6"`  // in attempts
}

// Sections implements body.
func (p *Rerun) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters}
}

// Interrupt predicts whether an attempt is stuck: the initial weights of a logistic hazard model (package stuck
// implements it).
type Interrupt struct {
	Parameters InterruptParameters `yaml:"parameters"`
}

// InterruptParameters are the weights and the parameters of learning.
type InterruptParameters struct {
	Bias   float64 `yaml:"bias" range:"-20,20"`
	Streak float64 `yaml:"streak" range:"-20,20"` // × similar calls in a row
	Same   float64 `yaml:"same" range:"-20,20"`   // × repetitions of an error among the last calls
	Idle   float64 `yaml:"idle" range:"-20,20"`   // × turns without a change
	Spent  float64 `yaml:"spent" range:"-20,20"`  // × spent share of the budget
	Rate   float64 `yaml:"rate" range:"0,1"`      // learning rate
	Pull   float64 `yaml:"pull" range:"0,1"`      // strength of the regularisation towards these weights
}

// Sections implements body.
func (p *Interrupt) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters}
}
