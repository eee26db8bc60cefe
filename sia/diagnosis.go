package sia

import "slices"

// Diagnosis is SIA's conclusion about a failed attempt. A model or the fallback
// rules propose it and code checks it: [Step] rejects a technique that was used
// before and a prompt that is not distinct.
type Diagnosis struct {
	Summary    string      `json:"diagnosis"`
	Pattern    Pattern     `json:"pattern"`
	Technique  TechniqueID `json:"technique"`
	Prompt     string      `json:"modified_prompt"`
	Hypothesis string      `json:"hypothesis"`
	Confidence float64     `json:"confidence"` // probability that the next attempt passes, 0–1
	Answers    SixAnswers  `json:"answers"`

	// Set when a person is needed.
	Blocker  string   `json:"blocker,omitempty"`
	Question string   `json:"question,omitempty"`
	Options  []Option `json:"options,omitempty"`

	// number of earlier diagnoses in the repository with this pattern
	Seen int `json:"seen,omitempty"`
	// the next attempt's brief, after the technique's transformation
	Brief      Brief       `json:"brief"`
	Candidates []Candidate `json:"candidates"` // the techniques considered, best first
	// the model's ratings of available techniques; nil: it rated none
	Ratings    Ratings `json:"ratings,omitempty"`
	Why        string  `json:"why,omitempty"`                  // why this technique, in one or a few sentences
	DecisionID string  `json:"decision_id,omitempty" mask:"-"` // id of the choice in the log of decisions
	// why the rules made the diagnosis; empty: a model made it
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

// Ratings are a model's estimates of the probability, 0–1, that a technique would
// resolve a failure. A technique that is missing was not rated; 0 is a rating.
type Ratings map[TechniqueID]float64

// Candidate is one technique that was considered, with its evidence: its outcomes
// for the same pattern.
type Candidate struct {
	Technique TechniqueID `json:"technique"`
	Score     float64     `json:"score"`              // higher is better; only comparable within a diagnosis
	Expected  float64     `json:"expected,omitempty"` // expected share of resolutions, 0–1; 0: not estimated
	Low       float64     `json:"low,omitempty"`      // 80 % interval of that share
	High      float64     `json:"high,omitempty"`
	Resolved  int         `json:"resolved"` // of Tried, in this repository
	Tried     int         `json:"tried"`
	Org       Tally       `json:"org,omitzero"`       // elsewhere in the organisation
	Elsewhere Tally       `json:"elsewhere,omitzero"` // in other organisations
	// rank for the pattern that the task or the repository sets, 1-based; 0: that of the policy's table
	Rank   int     `json:"rank,omitempty"`
	Odds   float64 `json:"odds,omitempty"` // factor on the odds, for circumstances of this task; 0: 1
	Chosen bool    `json:"chosen,omitempty"`
	Reason string  `json:"reason"`
}

// Tally counts outcomes. Old ones may count for less than one each.
type Tally struct {
	Resolved int `json:"resolved"`
	Tried    int `json:"tried"`
}

// Option is one answer that a person can select. Letter is "A" to "D".
type Option struct {
	Letter  string `json:"letter" mask:"-"`
	Text    string `json:"text"`
	Fastest bool   `json:"fastest,omitempty"`
	Waives  bool   `json:"waives,omitempty"`  // it waives the checks in Escalation.Waives
	Vouches bool   `json:"vouches,omitempty"` // it confirms that the checks in Escalation.Vouches build or test the code
}

// Verdict is the independent reviewer's verdict on an intervention.
type Verdict string

// The verdicts. ReviewOff: no reviewer is configured; ReviewFailed: the review
// failed. Both are shown to people, and the task continues.
const (
	Approved     Verdict = "approved"
	Minor        Verdict = "minor"
	Major        Verdict = "major"
	Rejected     Verdict = "rejected"
	ReviewOff    Verdict = "off"
	ReviewFailed Verdict = "unavailable"
)

// String returns the verdict in one word, for people.
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
	// points of a first, major review; they were added to the instructions before Verdict was made
	Amended []string `json:"amended,omitempty"`
}

// Signal is one computed reason for an intervention.
type Signal struct {
	Name     SignalName `json:"name"`
	Evidence string     `json:"evidence"`
}

// Risk is the highest risk during an attempt that the attempt gets stuck. The first four
// are shares between 0 and 1.
type Risk struct {
	Streak float64 `json:"streak"` // consecutive similar calls; four are 1
	Same   float64 `json:"same"`   // share of the last calls that ended in the same error
	Idle   float64 `json:"idle"`   // turns without a new change; 24 are 1
	Spent  float64 `json:"spent"`  // share of the budget: turns, time or credits, the one nearest its limit

	Chance      float64 `json:"chance"` // probability that it gets stuck, 0–1
	Limit       float64 `json:"limit"`  // probability above which stopping costs less than continuing, 0–1
	Interrupted bool    `json:"interrupted,omitempty"`
	// above the limit but continued, so that SIA learns how such an attempt ends
	Spared bool `json:"spared,omitempty"`
}

// SignalName names a signal.
type SignalName string

// The four signals, and the prediction during an attempt.
const (
	SameTask        SignalName = "same task reworked"
	SameError       SignalName = "same error repeated"
	NoProgress      SignalName = "no progress on the checks"
	OutputUnchanged SignalName = "output unchanged"
	AboutToStick    SignalName = "about to get stuck"
)

// Intervention is one change of approach, after attempt After and for the next.
type Intervention struct {
	Number     int       `json:"number"` // 1-based
	After      int       `json:"after"`  // the failed attempt's number
	Signals    []Signal  `json:"signals"`
	Diagnosis  Diagnosis `json:"diagnosis"`
	Review     Review    `json:"review"`
	Warning    string    `json:"warning,omitempty"` // for people: a technique file that can't be used
	MemorySHA  SHA       `json:"memory_sha,omitempty"`
	CommentURL string    `json:"comment_url,omitempty" mask:"-"`
	Resolved   *bool     `json:"resolved,omitempty"` // nil until the next attempt is judged
}

// InterventionOf returns the intervention that an attempt was made with: the last one before it, unless its approach
// was dropped, such as by a restart, or an answer of a user replaced it. It returns nil if there is none. Several
// attempts have the same intervention if all but the last were interrupted.
func (t *Task) InterventionOf(a Attempt) *Intervention {
	for i := range slices.Backward(t.Interventions) {
		if v := &t.Interventions[i]; v.After < a.Number {
			if a.Technique == "" || a.Technique != v.Diagnosis.Technique {
				return nil
			}
			return v
		}
	}
	return nil
}
