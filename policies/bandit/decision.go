package bandit

// Diagnosis is what a model, or the fallback rules, concluded about a failed
// attempt. It has only what matters to the choice of a technique.
type Diagnosis struct {
	Org     string `json:"org"`  // the account that owns the repository
	Repo    string `json:"repo"` // any name that is unique in Org
	Pattern string `json:"pattern"`
	// Confidence is the model's, in 0–1, that a technique would resolve it. It may
	// rate all techniques, only its pick, or be nil.
	Confidence map[string]float64 `json:"confidence,omitempty"`
}

// Candidate is a technique that may be chosen.
type Candidate struct {
	Technique string
	Rank      int     // of choice for the pattern: 1 is the first; 0: as the policy's table has it
	Imported  Tally   // what other installations saw of it, as so many outcomes; zero: nothing
	Odds      float64 // multiplies the odds, for what holds in this task alone: 0.5 when a precondition is unmet; 0: 1
}

// Request asks for a technique.
type Request struct {
	Diagnosis
	Task       string // names the task; with Attempt and Seed it fixes the dice
	Attempt    int    // how many techniques were tried in this task before, from 0
	Left       int    // approaches left, this one included
	Seed       uint64
	Candidates []Candidate // in the order that breaks ties
	Used       []string    // techniques tried in this task: never chosen again
	Trials     []string    // candidates that are on trial: never the first of a task, and seldom a later one
	Policy     *Policy     // in force for the request; nil: the learner's own
	// Terse leaves Low, High and Reason out, which take most of a decision's time:
	// for simulations.
	Terse bool
}

// Decision is what was chosen, with everything that it was chosen by. It is logged
// before it takes effect.
type Decision struct {
	Choice     string   `json:"choice"`     // "" when nothing is left to try
	Options    []Option `json:"options"`    // in the order of preference
	Explored   bool     `json:"explored"`   // chance chose something else than the best
	Propensity float64  `json:"propensity"` // with which Choice was to be chosen
	Policy     string   `json:"policy"`     // the id of the policy in force
	Learned    int      `json:"learned"`    // outcomes that the learner had seen
	Reason     string   `json:"reason"`     // in words; empty when the request was terse
}

// Option is one technique that could have been chosen.
type Option struct {
	Technique string  `json:"technique"`
	Score     float64 `json:"score"` // log odds: of Mean, moved by the confidence and the candidate's odds
	Mean      float64 `json:"mean"`  // posterior mean of the share of resolutions
	Low       float64 `json:"low"`   // 80 % credible interval of that share
	High      float64 `json:"high"`
	// Z is the confidence, standardised within the diagnosis, in -2–2. Report it with the outcome.
	Z          float64 `json:"z"`
	Propensity float64 `json:"propensity"`

	Here      Tally `json:"here"`      // in this repository
	Org       Tally `json:"org"`       // elsewhere in the organisation
	Elsewhere Tally `json:"elsewhere"` // in other organisations
	Imported  Tally `json:"imported,omitzero"`

	strength float64 // of the posterior, in outcomes
	trial    bool    // it is on trial
}

// Tally counts outcomes of one technique for one pattern. Counts are fractions
// after a discount.
type Tally struct {
	Resolved float64 `json:"resolved"`
	Tried    float64 `json:"tried"`
}

// Outcome is the outcome of a decision: the attempt's checks were green or they
// were not. An attempt that infrastructure ended is not an outcome; one that ran
// out of its own time is a failure.
type Outcome struct {
	Org       string  `json:"org"`
	Repo      string  `json:"repo"`
	Pattern   string  `json:"pattern"`
	Technique string  `json:"technique"`
	Resolved  bool    `json:"resolved"`
	Attempt   int     `json:"attempt"`           // as in the request
	Z         float64 `json:"z"`                 // as in the decision's option
	Imported  Tally   `json:"imported,omitzero"` // as in the request's candidate
	// Confidence is the diagnosis' own. It is heard just before the outcome is learned from.
	// Nil means that it was heard already, or that no model said anything.
	Confidence map[string]float64 `json:"confidence,omitempty"`
}
