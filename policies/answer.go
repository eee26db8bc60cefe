package policies

import "time"

// Answer is what a policy chose, with everything that it chose by.
type Answer struct {
	Policy     string   `json:"policy"` // its id
	Choice     string   `json:"choice"`
	Options    []Option `json:"options"`    // every one that could be chosen, the best first
	Propensity float64  `json:"propensity"` // with which Choice was to be chosen, 0–1
	Reason     string   `json:"reason"`     // in words, for people
}

// Option is one thing that could have been chosen.
type Option struct {
	Choice string  `json:"choice"`
	Score  float64 `json:"score"`
	Terms  []Term  `json:"terms,omitempty"` // whose sum the score is
	// before it takes effect
	Wait time.Duration `json:"wait,omitempty"`
}

// Term is one part of a score.
type Term struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
}

// score adds terms up; those that are nothing are left out.
func score(choice string, terms ...Term) Option {
	o := Option{Choice: choice}
	for _, t := range terms {
		if t.Value != 0 {
			o.Score += t.Value
			o.Terms = append(o.Terms, t)
		}
	}
	return o
}
