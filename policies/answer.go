package policies

import (
	"cmp"
	"fmt"
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
	// with which it was to be chosen, 0–1, where a share is left to chance; 0: chance played no part
	Propensity float64 `json:"propensity,omitempty"`
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

// LeaveToChance is the answer with the next best choice in a share of decisions, so that their outcomes say which of
// the two is better. draw is uniform in [0, 1). Chance asks no person, gives nothing up and waits for nothing: such
// choices are passed over. Where the best is one, or was not taken for its score, chance plays no part. To ask a person
// early is the exception: chance may try one more approach first.
func (a Answer) LeaveToChance(share, draw float64) Answer {
	harmless := func(o Option) bool {
		return !slices.Contains([]string{ChoicePerson, ChoiceAbandon, ChoiceRerun, ChoiceAsk}, o.Choice)
	}
	if share <= 0 || len(a.Options) == 0 || a.Choice != a.Options[0].Choice ||
		!harmless(a.Options[0]) && a.Choice != ChoiceAsk {
		return a
	}
	next := 1 + slices.IndexFunc(a.Options[1:], harmless)
	if next == 0 {
		return a
	}
	a.Options = slices.Clone(a.Options)
	a.Options[0].Propensity, a.Options[next].Propensity = 1-share, share
	if a.Propensity = 1 - share; draw < share {
		a.Choice, a.Propensity = a.Options[next].Choice, share
		a.Reason += fmt.Sprintf("; %s is tried by chance, as in %.0f %% of such decisions", a.Choice, 100*share)
	}
	return a
}
