package coder

// Outcome is the outcome of one attempt: its checks were green or they were not.
// An attempt that infrastructure ended is not an outcome; one that ran out of its
// own time is a failure.
type Outcome struct {
	Task     string  `json:"task"` // with Org and Repo it names the task
	Org      string  `json:"org"`  // the account that owns the repository
	Repo     string  `json:"repo"` // any name that is unique in Org
	Kind     string  `json:"kind"` // of task; empty is a kind too
	Coder    string  `json:"coder"`
	Cost     float64 `json:"cost"` // credits; 1 credit is 0.01 USD; not above 0: unknown
	Resolved bool    `json:"resolved"`
	// Failed are the coders that had failed on this task before, in their order.
	Failed []string `json:"failed,omitempty"`
	// Changed: it went by other instructions than those that failed before.
	Changed bool `json:"changed,omitempty"`
}

// Candidate is a coder that may be chosen.
type Candidate struct {
	Coder string
	Cost  float64 // credits that an attempt is expected to cost before anything was observed; 0: unknown
	Prior float64 // share of tasks that it is expected to resolve alone, in 0–1, from a table; 0: unknown
	// Known is the name by which the table knows its model; empty: it does not.
	Known string `json:",omitempty"`
	// Imported is what other installations saw of it, as so many outcomes; zero: nothing. It counts
	// where Prior is known.
	Imported Tally `json:",omitzero"`
}

// Request asks who makes the next attempt.
type Request struct {
	Task, Org, Repo, Kind string // as in the outcome
	Candidates            []Candidate
	Failed                []string // coders that failed on this task, in their order
	Changed               bool     // the instructions are others than those that failed
	Value                 float64  // value of a solved task in credits; 0: never stop for its price
	// Left are the credits that may still be spent, math.Inf(1) without a limit. A coder
	// that is expected to cost more is no option.
	Left    float64
	Attempt int // how many attempts this task has had, from 0
	Tries   int // attempts left, this one included; below 1 counts as 1
	Seed    uint64
	Alone   bool // one works, whatever the parameters say of races
	Terse   bool // leave Low, High and Reason out: for simulations
}

// Decision says who works, with everything that it was chosen by. It is logged
// before it takes effect.
type Decision struct {
	Choice     string   `json:"choice"`     // "" when nobody that is left justifies the cost
	Together   float64  `json:"together"`   // probability that one of those who work resolves it; 0: one works
	Stop       bool     `json:"stop"`       // Choice is ""
	Options    []Option `json:"options"`    // in the order of preference
	Explored   bool     `json:"explored"`   // chance chose something else than the best
	Propensity float64  `json:"propensity"` // with which Choice was to be chosen
	Learned    int      `json:"learned"`    // outcomes that the learner had seen
	Reason     string   `json:"reason"`     // in words; empty when the request was terse
}

// Option is one coder that was a candidate.
type Option struct {
	Coder      string  `json:"coder"`
	Chance     float64 `json:"chance"` // posterior probability that it resolves this task, given who failed
	Low        float64 `json:"low"`    // 80 % credible interval of that
	High       float64 `json:"high"`
	Cost       float64 `json:"cost"`  // credits that the attempt is expected to cost
	Index      float64 `json:"index"` // Cost per success: Cost / Chance
	Worth      bool    `json:"worth"` // Index is within the value, and Cost within what is left
	Propensity float64 `json:"propensity"`
	Races      bool    `json:"races,omitempty"` // it works on the task, and others do at the same time

	Here      Tally `json:"here"`      // in this repository, on this kind of task
	Org       Tally `json:"org"`       // elsewhere in the organisation
	Elsewhere Tally `json:"elsewhere"` // in other organisations, and on other kinds of task
	Imported  Tally `json:"imported,omitzero"`

	net float64 // expected credits of the best sequence that begins with it
}

// Tally counts outcomes of one coder. Counts are fractions after a discount.
type Tally struct {
	Resolved float64 `json:"resolved"`
	Tried    float64 `json:"tried"`
}
