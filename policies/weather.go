package policies

import "github.com/sia-bot/sia/sia/invalid"

// Rerun is by what it is weighed whether red checks are run again once: what is believed
// of checks and attempts before any was seen (package gate has the rule).
type Rerun struct {
	Parameters RerunParameters `yaml:"parameters"`
}

// RerunParameters are the priors, Beta distributions given by mean and weight.
type RerunParameters struct {
	FlakeRate   float64 `yaml:"flake_rate"`   // of a check, 0–1
	FlakeWeight float64 `yaml:"flake_weight"` // in commits
	GoodRate    float64 `yaml:"good_rate"`    // share of attempts that are right, 0–1
	GoodWeight  float64 `yaml:"good_weight"`  // in attempts
}

// Sections implements body.
func (p *Rerun) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters}
}

// Check implements body.
func (p *Rerun) Check() []invalid.Problem {
	var r invalid.Ranges
	r.Within("parameters.flake_rate", p.Parameters.FlakeRate, 0, 1)
	r.Within("parameters.flake_weight", p.Parameters.FlakeWeight, 0.1, 1e6)
	r.Within("parameters.good_rate", p.Parameters.GoodRate, 0, 1)
	r.Within("parameters.good_weight", p.Parameters.GoodWeight, 0.1, 1e6)
	return r.Problems()
}

// Interrupt is by what it is predicted that an attempt gets nowhere: the weights of a
// logistic hazard before anything was learned (package stuck has the rule).
type Interrupt struct {
	Parameters InterruptParameters `yaml:"parameters"`
}

// InterruptParameters are the weights, and how they are learned.
type InterruptParameters struct {
	Bias   float64 `yaml:"bias"`
	Streak float64 `yaml:"streak"` // × calls alike in a row
	Same   float64 `yaml:"same"`   // × the same error among the last calls
	Idle   float64 `yaml:"idle"`   // × turns without a change
	Spent  float64 `yaml:"spent"`  // × the share of the budget that is spent
	Rate   float64 `yaml:"rate"`   // the step of learning
	Pull   float64 `yaml:"pull"`   // how strongly weights are held to these
}

// Sections implements body.
func (p *Interrupt) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters}
}

// Check implements body.
func (p *Interrupt) Check() []invalid.Problem {
	var r invalid.Ranges
	q := p.Parameters
	r.Within("parameters.bias", q.Bias, -20, 20)
	r.Within("parameters.streak", q.Streak, -20, 20)
	r.Within("parameters.same", q.Same, -20, 20)
	r.Within("parameters.idle", q.Idle, -20, 20)
	r.Within("parameters.spent", q.Spent, -20, 20)
	r.Within("parameters.rate", q.Rate, 0, 1)
	r.Within("parameters.pull", q.Pull, 0, 1)
	return r.Problems()
}
