package sia

// Diagnosis is what SIA concluded about a failed attempt. It is proposed by a
// model or by the fallback rules and checked by code: [Step] refuses a technique
// that was used before and a prompt that is not distinct.
type Diagnosis struct {
	Summary    string      `json:"diagnosis"`
	Pattern    Pattern     `json:"pattern"`
	Technique  TechniqueID `json:"technique"`
	Prompt     string      `json:"modified_prompt"`
	Hypothesis string      `json:"hypothesis"`
	Confidence float64     `json:"confidence"` // 0–1: the chance that the next attempt passes
	Answers    SixAnswers  `json:"answers"`

	// Set when a person is needed.
	Blocker  string   `json:"blocker,omitempty"`
	Question string   `json:"question,omitempty"`
	Options  []Option `json:"options,omitempty"`

	// how often the repository's diagnoses had this pattern before
	Seen int `json:"seen,omitempty"`
	// the next attempt's brief, after the technique's transformation
	Brief      Brief       `json:"brief"`
	Candidates []Candidate `json:"candidates"` // what could have been chosen, best first
	// the model's, of techniques that were free; nil: it rated none
	Ratings    Ratings `json:"ratings,omitempty"`
	Why        string  `json:"why,omitempty"`                  // why this technique, in one or a few sentences
	DecisionID string  `json:"decision_id,omitempty" mask:"-"` // of the choice in the log of decisions
	// why the rules diagnosed instead of a model; empty: a model did
	Fallback string `json:"fallback,omitempty"`
}

// NeedsPerson reports whether the diagnosis asks a person.
func (d Diagnosis) NeedsPerson() bool { return d.Question != "" && d.Blocker != "" }

// SixAnswers are the answers to the six questions SIA asks itself.
type SixAnswers struct {
	Goal       string        `json:"goal"`          // what was the agent trying to do
	FailedAt   string        `json:"failure_point"` // where did it fail
	Pattern    string        `json:"pattern"`       // what pattern of failure is this
	SeenBefore string        `json:"seen_before"`   // have we seen it
	Addressing []TechniqueID `json:"techniques"`    // which techniques address it
	Untried    []TechniqueID `json:"untried"`       // which of those are untried
}

// Ratings are a model's chances, each in 0–1, that a technique would resolve a
// failure. One that is not in it was not rated; 0 is a rating.
type Ratings map[TechniqueID]float64

// Candidate is one technique that was considered, with its evidence: outcomes
// of the same pattern.
type Candidate struct {
	Technique TechniqueID `json:"technique"`
	Score     float64     `json:"score"`              // a larger one is preferred; only comparable within a diagnosis
	Expected  float64     `json:"expected,omitempty"` // share of resolutions, in 0–1; 0: nobody estimated it
	Low       float64     `json:"low,omitempty"`      // 80 % interval of that share
	High      float64     `json:"high,omitempty"`
	Resolved  int         `json:"resolved"` // of Tried, in this repository
	Tried     int         `json:"tried"`
	Org       Tally       `json:"org,omitzero"`       // elsewhere in the organisation
	Elsewhere Tally       `json:"elsewhere,omitzero"` // in other organisations
	// of choice for the pattern, where the task or the repository says so: 1 is the first; 0: as the policy's table has it
	Rank   int     `json:"rank,omitempty"`
	Odds   float64 `json:"odds,omitempty"` // multiplies the odds, for what holds in this task alone; 0 is 1
	Chosen bool    `json:"chosen,omitempty"`
	Reason string  `json:"reason"`
}

// Tally counts outcomes. Old ones may count for less than one each.
type Tally struct {
	Resolved int `json:"resolved"`
	Tried    int `json:"tried"`
}

// Option is one answer a person can tick. Letter is "A" to "D".
type Option struct {
	Letter  string `json:"letter" mask:"-"`
	Text    string `json:"text"`
	Fastest bool   `json:"fastest,omitempty"`
	Waives  bool   `json:"waives,omitempty"`  // SIA goes on without the checks that the question names under Waives
	Vouches bool   `json:"vouches,omitempty"` // the checks that the question names under Vouches build or test the code
}

// Verdict is the independent reviewer's word on an intervention.
type Verdict string

// The verdicts. ReviewOff: no reviewer is configured; ReviewFailed: it could
// not be asked. People are told, and the task goes on.
const (
	Approved     Verdict = "approved"
	Minor        Verdict = "minor"
	Major        Verdict = "major"
	Rejected     Verdict = "rejected"
	ReviewOff    Verdict = "off"
	ReviewFailed Verdict = "unavailable"
)

// String is the verdict in a word, for people.
func (v Verdict) String() string {
	if v == ReviewFailed {
		return "failed"
	}
	return string(v)
}

// Review is the independent review of a diagnosis.
type Review struct {
	Verdict Verdict  `json:"verdict"`
	Points  []string `json:"points,omitempty"`
	// objections of a first, major review; they were added to the instructions, which Verdict is about
	Amended []string `json:"amended,omitempty"`
}

// Signal is one computed reason for SIA to step in.
type Signal struct {
	Name     SignalName `json:"name"`
	Evidence string     `json:"evidence"`
}

// Risk is how much an attempt looked, at its worst, as if it would get nowhere.
// The first four are shares between 0 and 1.
type Risk struct {
	Streak float64 `json:"streak"` // calls alike in a row; four are 1
	Same   float64 `json:"same"`   // of the last calls, how many ended in one and the same error
	Idle   float64 `json:"idle"`   // turns without a new change; 24 are 1
	Spent  float64 `json:"spent"`  // of the budget: turns, time or credits, whichever is nearest its limit

	Chance      float64 `json:"chance"` // that it gets nowhere, 0–1
	Limit       float64 `json:"limit"`  // above which stopping costs less than going on, 0–1
	Interrupted bool    `json:"interrupted,omitempty"`
	// above the limit, and left to go on so that SIA learns how such an attempt ends
	Spared bool `json:"spared,omitempty"`
}

// SignalName names a signal.
type SignalName string

// The four signals, and the prediction inside an attempt.
const (
	SameTask        SignalName = "same task reworked"
	SameError       SignalName = "same error repeated"
	NoProgress      SignalName = "no progress on the checks"
	OutputUnchanged SignalName = "output unchanged"
	AboutToStick    SignalName = "about to get stuck"
)

// Intervention is one time SIA stepped in: after attempt After, for the next.
type Intervention struct {
	Number     int       `json:"number"` // 1-based
	After      int       `json:"after"`  // the failed attempt's number
	Signals    []Signal  `json:"signals"`
	Diagnosis  Diagnosis `json:"diagnosis"`
	Review     Review    `json:"review"`
	Warning    string    `json:"warning,omitempty"` // for people: a technique file that can't be used
	MemorySHA  SHA       `json:"memory_sha,omitempty"`
	CommentURL string    `json:"comment_url,omitempty" mask:"-"`
	Resolved   *bool     `json:"resolved,omitempty"` // nil until the attempt it led to is judged
}

// IdeaBehind is SIA's hypothesis that an attempt was to follow; empty: there was none.
func (t *Task) IdeaBehind(attempt int) string {
	for _, i := range t.Interventions {
		if i.After == attempt-1 {
			return i.Diagnosis.Hypothesis
		}
	}
	return ""
}
