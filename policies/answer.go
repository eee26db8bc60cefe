package policies

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Answer is the choice of a policy with its basis.
type Answer struct {
	Policy     string   `json:"policy"` // id of the policy
	Choice     string   `json:"choice"`
	Options    []Option `json:"options"`    // all possible choices, best first
	Propensity float64  `json:"propensity"` // probability with which Choice was chosen, 0–1
	Reason     string   `json:"reason"`     // for display
}

// Option is one possible choice.
type Option struct {
	Choice string  `json:"choice"`
	Score  float64 `json:"score"`
	Terms  []Term  `json:"terms,omitempty"` // summands of the score
	// probability with which it is chosen, 0–1, in a randomised decision; 0: not randomised
	Propensity float64 `json:"propensity,omitempty"`
	// time before it takes effect
	Wait     time.Duration `json:"wait,omitempty"`
	AtOnce   int           `json:"at_once,omitempty"`   // maximum number of concurrent runs
	MaxParts int           `json:"max_parts,omitempty"` // maximum number of parts of a plan
}

// Term is one part of a score.
type Term struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
}

// choose sorts the options, best first, and chooses the best. The order of ties is kept.
func (a *Answer) choose() {
	slices.SortStableFunc(a.Options, func(x, y Option) int { return cmp.Compare(y.Score, x.Score) })
	a.Choice, a.Propensity = a.Options[0].Choice, 1
}

// score returns an option with the sum of terms as its score; zero terms are left out.
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

// LeaveToChance returns the answer with the second best choice in a share of decisions, so that their outcomes show
// which of the two is better. draw is uniform in [0, 1). Choices that ask a person, abandon the task or wait are never
// chosen by chance. If the best choice is one of these, or was not chosen for its score, the answer is unchanged.
// Asking early is an exception: chance may try one more approach first.
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
