package policies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/text"
)

// The choices of a recover decision.
const (
	ChoiceSIA        = "sia"         // SIA diagnoses and changes the approach
	ChoiceRetry      = "retry"       // retry with the same instructions
	ChoiceRerun      = "rerun"       // re-run the checks on the same commit
	ChoiceOtherCoder = "other-coder" // retry with another coder
	ChoicePerson     = "person"      // ask a person
	ChoiceAbandon    = "abandon"     // end the task
	ChoiceNextRacer  = "next-racer"  // check another coder's change for the same attempt
)

// Recoveries lists the choices of a recover decision.
func Recoveries() []string {
	return []string{ChoiceSIA, ChoiceRerun, ChoiceRetry, ChoiceOtherCoder, ChoicePerson, ChoiceAbandon, ChoiceNextRacer}
}

// Recover decides what follows a failed attempt or part of one: the possible action with the highest score. A part is
// retried, given to another coder, or abandoned, which is [ChoiceSIA]: the attempt then fails.
type Recover struct {
	Parameters RecoverParameters `yaml:"parameters"`
	Rules      []RecoverRule     `yaml:"rules"`
}

// RecoverParameters are the scores of actions before any rule.
type RecoverParameters struct {
	Base        map[string]float64 `yaml:"base" range:"-5,5"`         // action → score; default 0
	PartBase    map[string]float64 `yaml:"part_base" range:"-5,5"`    // the same for a failed part
	PartRetries int                `yaml:"part_retries" range:"0,10"` // maximum number of retries of a part
	Chance      float64            `yaml:"chance" range:"0,0.2"`      // share of randomised decisions
}

// RecoverRule changes scores in some contexts. All matching rules apply. A rule applies to attempts unless it names
// parts, because a class of failure means something else for a judged attempt than for an unfinished part.
type RecoverRule struct {
	When    Selector           `yaml:"when"`
	Bonus   map[string]float64 `yaml:"bonus" range:"-5,5"`   // action → bonus
	Retries int                `yaml:"retries" range:"0,10"` // maximum retries or re-runs in a row; the largest applies
	Wait    time.Duration      `yaml:"wait" range:"0,21600"` // before the first of them, doubling; the longest applies
}

// maxWait is the maximum wait before a retry or a re-run.
const maxWait = 6 * time.Hour

// Sections implements body.
func (p *Recover) Sections() map[string]any {
	return map[string]any{"parameters": &p.Parameters, "rules": &p.Rules}
}

// Check implements checked.
func (p *Recover) Check() (wrong []invalid.Problem) {
	actions := func(path string, scores map[string]float64) {
		for _, action := range slices.Sorted(maps.Keys(scores)) {
			if !slices.Contains(Recoveries(), action) {
				wrong = append(wrong, invalid.Problem{Path: path + "." + action,
					Message: "there is no such action; there are " + strings.Join(Recoveries(), ", ")})
			}
		}
	}
	actions("parameters.base", p.Parameters.Base)
	actions("parameters.part_base", p.Parameters.PartBase)
	for i, rule := range p.Rules {
		actions(fmt.Sprintf("rules.%d.bonus", i+1), rule.Bonus)
		wrong = append(wrong, rule.When.check(fmt.Sprintf("rules.%d.when", i+1))...)
	}
	return wrong
}

// Decide decides what follows a failed attempt or part. A repository's setting that plain retries come first
// (Context.Patience) takes precedence over the scores, unless there is an unchecked change already.
func (p Recover) Decide(c Context) Answer {
	base := p.Parameters.Base
	if c.Part != "" {
		base = p.Parameters.PartBase
	}
	retries, wait := p.retries(c)
	var a Answer
	for _, action := range Recoveries() {
		if !possible(action, c, retries) {
			continue
		}
		terms := []Term{{"base", base[action]}}
		for i, rule := range p.Rules {
			if rule.fits(c) {
				terms = append(terms, Term{fmt.Sprintf("rule %d", i+1), rule.Bonus[action]})
			}
		}
		o := score(action, terms...)
		switch {
		case action == ChoiceRerun:
			o.Wait = min(maxWait, wait<<min(c.Waits, 10))
		case action == ChoiceRetry && c.Patience == 0 && c.Part == "":
			o.Wait = min(maxWait, wait<<min(max(0, c.InARow-1), 10))
		}
		a.Options = append(a.Options, o)
	}
	a.choose()
	switch {
	case c.Patience > 0 && c.Racers == 0 && c.Part == "":
		a.Choice = ChoiceRetry
		a.Reason = fmt.Sprintf("the settings let %s pass before SIA steps in (`sia.trigger_after`)",
			text.Count(c.Patience, "more failure"))
	case len(a.Options) == 1:
		a.Reason = "nothing else is possible"
	case c.Part != "":
		a.Reason = fmt.Sprintf("%s scores %.2f after %s of it failed; next is %s with %.2f", a.Choice, a.Options[0].Score,
			text.Count(c.Tries, "run"), a.Options[1].Choice, a.Options[1].Score)
	default:
		a.Reason = fmt.Sprintf("%s scores %.2f after a failure of the class %s; next is %s with %.2f", a.Choice,
			a.Options[0].Score, cmp.Or(c.Class, "unknown"), a.Options[1].Choice, a.Options[1].Score)
	}
	return a
}

// fits reports whether a rule applies in a context.
func (r RecoverRule) fits(c Context) bool {
	return r.When.Fits(c) && (c.Part == "" || len(r.When.Part) > 0)
}

// retries returns the maximum number of retries in a row in a context, and the wait before the first.
func (p Recover) retries(c Context) (most int, wait time.Duration) {
	if c.Part != "" {
		most = p.Parameters.PartRetries
	}
	for _, rule := range p.Rules {
		if rule.fits(c) {
			most, wait = max(most, rule.Retries), max(wait, rule.Wait)
		}
	}
	return most, wait
}

// possible reports whether an action is possible.
func possible(action string, c Context, retries int) bool {
	switch action {
	case ChoiceRetry:
		if c.Part != "" {
			return c.Tries <= retries
		}
		return c.Patience > 0 || c.InARow <= retries
	case ChoiceRerun:
		return c.Part == "" && c.Rerunnable && c.Waits < retries
	case ChoiceOtherCoder:
		return c.Coders > 1 && c.Failed < c.Coders
	case ChoiceNextRacer:
		return c.Part == "" && c.Racers > 0
	case ChoicePerson, ChoiceAbandon:
		return c.Part == ""
	}
	return true
}
