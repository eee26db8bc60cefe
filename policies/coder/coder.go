package coder

// Outcome is the outcome of one attempt: whether its checks passed. An attempt that ended for infrastructure reasons is
// not an outcome; one that exceeded its own time limit is a failure.
type Outcome struct {
	Task     string // unique within Org and Repo
	Org      string // the account that owns the repository
	Repo     string // any name that is unique in Org
	Kind     string // kind of task; empty is a kind, too
	Coder    string
	Cost     float64 // credits; 1 credit is 0.01 USD; not above 0: unknown
	Resolved bool
	Failed   []string // coders that had failed on this task before, in order
	Changed  bool     // its instructions differ from those of the failed attempts before
}

// Candidate is a coder that may be chosen.
type Candidate struct {
	Coder string
	Cost  float64 // prior expected cost of an attempt, in credits; 0: unknown
	Prior float64 // prior share of tasks that it resolves alone, 0–1, from a table; 0: unknown
	// Known is the name of its model in the table; empty: not in the table.
	Known string `json:",omitempty"`
	// Agent is the agent and the first model of its configuration; empty: unknown. It decides nothing.
	Agent string `json:",omitempty"`
	// Imported has outcomes from other installations; zero: none. It counts only if Prior is known.
	Imported Tally `json:",omitzero"`
}

// Request is a request for the coder of the next attempt.
type Request struct {
	Task, Org, Repo, Kind string // as in the outcome
	Candidates            []Candidate
	Failed                []string // coders that failed on this task, in order
	Changed               bool     // the instructions differ from those of the failed attempts
	Value                 float64  // value of a resolved task in credits; 0: never stop because of the cost
	// Left is the remaining budget in credits, math.Inf(1) without a limit. A coder with a higher expected cost is not an
	// option.
	Left    float64
	Attempt int // number of attempts before in this task
	Tries   int // attempts left, this one included; below 1 counts as 1
	Seed    uint64
	Alone   bool // a single coder, regardless of Parameters.Race
	Terse   bool // omit Low, High and Reason; for simulations
}

// Decision is the choice of a coder with its basis. It is logged before it takes effect.
type Decision struct {
	Choice     string   // "" when no remaining coder justifies its cost
	Together   float64  // probability that one of the racers resolves it; 0: no race
	Options    []Option // in order of preference
	Explored   bool     // Choice is not the best, by exploration
	Propensity float64  // probability with which Choice was chosen
	Learned    int      // number of outcomes that the learner had observed
	Reason     string   // for display; empty for a terse request
}

// Option is one candidate.
type Option struct {
	Coder      string  `json:"coder"`
	Chance     float64 `json:"chance"` // posterior probability that it resolves this task, given the failed coders
	Low        float64 `json:"low"`    // 80 % credible interval of Chance
	High       float64 `json:"high"`
	Cost       float64 `json:"cost"`  // expected cost of the attempt, in credits
	Index      float64 `json:"index"` // Cost per success: Cost / Chance
	Worth      bool    `json:"worth"` // Index is within the value, and Cost within the budget
	Propensity float64 `json:"propensity"`
	Races      bool    `json:"races,omitempty"` // it works on the task concurrently with others

	Here      Tally `json:"here"`      // in this repository, for this kind of task
	Org       Tally `json:"org"`       // elsewhere in the organisation
	Elsewhere Tally `json:"elsewhere"` // in other organisations, and for other kinds of task
	Imported  Tally `json:"imported,omitzero"`

	net float64 // expected net value of the best sequence that begins with it, in credits
}

// Tally counts outcomes of one coder. After a discount, counts are fractional.
type Tally struct {
	Resolved float64 `json:"resolved"`
	Tried    float64 `json:"tried"`
}
