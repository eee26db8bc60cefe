package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/text"
)

// The choices of an escalate decision.
const (
	ChoiceGoOn = "go on"   // continue with the next approach
	ChoiceAsk  = "ask now" // ask a person first
)

// Escalate decides whether a person is asked before the next approach: if a trigger matches, or if the predicted value
// of asking exceeds the threshold.
type Escalate struct {
	Parameters EscalateParameters `yaml:"parameters"`
	Rules      EscalateRules      `yaml:"rules"`
}

// EscalateParameters are the weights of the predicted value of asking.
type EscalateParameters struct {
	Ambiguity    float64 `yaml:"ambiguity" range:"0,1"`    // × ambiguity of the issue
	Failures     float64 `yaml:"failures" range:"0,1"`     // × failed attempts, of five
	Architecture float64 `yaml:"architecture" range:"0,1"` // × whether it touches the architecture
	History      float64 `yaml:"history" range:"0,1"`      // × share of such tasks that fail without a person
	Help         float64 `yaml:"help" range:"0,1"`         // × increase of the share that passes where a person answered
	Threshold    float64 `yaml:"threshold" range:"0,5"`    // asks above it

	Prior       float64 `yaml:"prior" range:"0,1"`            // prior share of tasks that pass
	PriorWeight float64 `yaml:"prior_weight" range:"0.1,1e6"` // in tasks

	// share of decisions to ask that are randomised, see [Answer.LeaveToChance]
	Chance float64 `yaml:"chance" range:"0,0.2"`
}

// EscalateRules are the contexts in which a person is asked regardless of the value, and the minimum number of failed
// attempts before one is asked.
type EscalateRules struct {
	Triggers    []Selector `yaml:"triggers"`
	MinFailures int        `yaml:"min_failures" range:"1,20"`
}

// Sections implements body.
func (e *Escalate) Sections() map[string]any {
	return map[string]any{"parameters": &e.Parameters, "rules": &e.Rules}
}

// Check implements checked.
func (e *Escalate) Check() (wrong []invalid.Problem) {
	for i, s := range e.Rules.Triggers {
		path := fmt.Sprintf("rules.triggers.%d", i+1)
		if s.specific() == 0 {
			wrong = append(wrong, invalid.Problem{Path: path, Message: "a trigger without a condition would hold always"})
		}
		wrong = append(wrong, s.check(path)...)
	}
	return wrong
}

// manyFailures is the number of failed attempts that counts as 1.
const manyFailures = 5

// Decide decides whether a person is asked now.
func (e Escalate) Decide(c Context) Answer {
	p := e.Parameters
	alone := c.Alone.share(p.Prior, p.PriorWeight)
	helped := c.Helped.share(p.Prior, p.PriorWeight)
	ask := score(ChoiceAsk,
		Term{"ambiguity", p.Ambiguity * c.Task.Ambiguity},
		Term{"failures", p.Failures * min(float64(c.Failures)/manyFailures, 1)},
		Term{"architecture", p.Architecture * yes(c.Task.Architecture)},
		Term{"history", p.History * (1 - alone)},
		Term{"help", p.Help * (helped - alone)})
	goOn := Option{Choice: ChoiceGoOn, Score: p.Threshold}
	a := Answer{Choice: ChoiceGoOn, Options: []Option{goOn, ask}, Propensity: 1}
	trigger := slices.IndexFunc(e.Rules.Triggers, func(s Selector) bool { return s.Fits(c) })
	switch {
	case c.Failures < e.Rules.MinFailures:
		a.Reason = fmt.Sprintf("nobody is asked before %s",
			text.Count(e.Rules.MinFailures, "attempt has", "attempts have")+" failed")
	case trigger >= 0:
		a.Choice, a.Options = ChoiceAsk, []Option{ask} // no other choice, not even by chance
		a.Reason = "the policy asks a person here whatever is to be expected"
	case ask.Score > p.Threshold:
		a.Choice, a.Options = ChoiceAsk, []Option{ask, goOn}
		a.Reason = fmt.Sprintf("a person helps more than another approach: a predicted value of %.2f, above %.2f (%s)",
			ask.Score, p.Threshold, termsText(ask.Terms))
	default:
		a.Reason = fmt.Sprintf("a person's predicted value is %.2f, not above %.2f (%s)", ask.Score, p.Threshold,
			termsText(ask.Terms))
	}
	return a
}

// termsText formats terms, the largest first.
func termsText(terms []Term) string {
	sorted := slices.SortedStableFunc(slices.Values(terms), func(a, b Term) int {
		if a.Value > b.Value {
			return -1
		}
		return 1
	})
	parts := make([]string, len(sorted))
	for i, t := range sorted {
		parts[i] = fmt.Sprintf("%s %.2f", t.What, t.Value)
	}
	return strings.Join(parts, ", ")
}
