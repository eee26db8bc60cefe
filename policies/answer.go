package policies

import (
	"cmp"
	"slices"
	"time"
)

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
	Terms  []Term  `json:"terms,omitempty"` // that add up to the score
	// before it takes effect
	Wait     time.Duration `json:"wait,omitempty"`
	AtOnce   int           `json:"at_once,omitempty"`   // runs at once, at most
	MaxParts int           `json:"max_parts,omitempty"` // parts of a plan, at most
}

// Term is one part of a score.
type Term struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
}

// choose sorts options, the best first, and takes that one. Of those that tie, the first stays first.
func (a *Answer) choose() {
	slices.SortStableFunc(a.Options, func(x, y Option) int { return cmp.Compare(y.Score, x.Score) })
	a.Choice, a.Propensity = a.Options[0].Choice, 1
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
