package bandit

// Diagnosis is the conclusion of a model, or of the fallback rules, about a failed attempt, reduced to the data for
// choosing a technique.
type Diagnosis struct {
	Org     string `json:"org"`  // the account that owns the repository
	Repo    string `json:"repo"` // any name that is unique in Org
	Pattern string `json:"pattern"`
	// Confidence is the model's confidence, 0–1, that a technique would resolve the failure. It may rate all techniques,
	// only the model's pick, or be nil.
	Confidence map[string]float64 `json:"confidence,omitempty"`
}

// Candidate is a technique that may be chosen.
type Candidate struct {
	Technique string
	Rank      int     // rank for the pattern: 1 is the first choice; 0: the rank in the policy's table
	Imported  Tally   // outcomes from other installations; zero: none
	Odds      float64 // factor for the odds in this task: 0.5 per unmet precondition; 0: 1
}

// Request asks for a technique.
type Request struct {
	Diagnosis
	Task       string // id of the task; with Attempt and Seed it determines the random source
	Attempt    int    // number of techniques tried before in this task
	Left       int    // approaches left, this one included
	Seed       uint64
	Candidates []Candidate // in the order that breaks ties
	Used       []string    // techniques tried in this task, which are not chosen again
	Trials     []string    // candidates on trial: never first in a task, and rarely later
	Policy     *Policy     // policy for the request; nil: the learner's own
	// Terse omits Low, High and Reason, which take most of a decision's time; for simulations.
	Terse bool
}

// Decision is a choice with its basis. It is logged before it takes effect.
type Decision struct {
	Choice     string   // "" when nothing is left to try
	Options    []Option // in order of preference
	Explored   bool     // Choice is not the best, by exploration
	Propensity float64  // probability with which Choice was chosen
	Policy     string   // id of the policy in force
	Learned    int      // number of outcomes that the learner had observed
	Reason     string   // for display; empty for a terse request
}

// Option is one technique that could be chosen.
type Option struct {
	Technique string  `json:"technique"`
	Score     float64 `json:"score"` // log odds of Mean, adjusted by the confidence and the candidate's odds
	Mean      float64 `json:"mean"`  // posterior mean of the share of resolutions
	Low       float64 `json:"low"`   // 80 % credible interval of that share
	High      float64 `json:"high"`
	// Z is the confidence standardised within the diagnosis, from -2 to 2. Report it with the outcome.
	Z          float64 `json:"z"`
	Propensity float64 `json:"propensity"`

	Here      Tally `json:"here"`      // in this repository
	Org       Tally `json:"org"`       // elsewhere in the organisation
	Elsewhere Tally `json:"elsewhere"` // in other organisations
	Imported  Tally `json:"imported,omitzero"`

	strength float64 // strength of the posterior, in outcomes
	trial    bool    // it is on trial
}

// Tally counts outcomes of one technique for one pattern. After a discount, counts are fractional.
type Tally struct {
	Resolved float64 `json:"resolved"`
	Tried    float64 `json:"tried"`
}

// Outcome is the outcome of a decision: whether the attempt's checks passed. An attempt that ended for infrastructure
// reasons is not an outcome; one that exceeded its own time limit is a failure.
type Outcome struct {
	Org       string
	Repo      string
	Pattern   string
	Technique string
	Resolved  bool
	Attempt   int     // as in the request
	Z         float64 // as in the decision's option
	Imported  Tally   // as in the request's candidate
	// Confidence is that of the diagnosis. It is learned right before the outcome. Nil means that it was learned already,
	// or that there is none.
	Confidence map[string]float64
}
