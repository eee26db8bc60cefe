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
	ChoiceSIA        = "sia"         // SIA works out why and changes the approach
	ChoiceRetry      = "retry"       // the same once more
	ChoiceRerun      = "rerun"       // the checks once more, on the same commit
	ChoiceOtherCoder = "other-coder" // the same by another coder
	ChoicePerson     = "person"      // a person is asked
	ChoiceAbandon    = "abandon"     // the task ends
	ChoiceNextRacer  = "next-racer"  // the checks see what another coder did for the same attempt
)

// Recoveries lists the choices of a recover decision.
func Recoveries() []string {
	return []string{ChoiceSIA, ChoiceRerun, ChoiceRetry, ChoiceOtherCoder, ChoicePerson, ChoiceAbandon, ChoiceNextRacer}
}

// Recover is by what it is decided what follows an attempt, or a part of one, that failed:
// the action with the highest score, of those that are possible. A part is retried, given to
// another coder, or given up, which is [ChoiceSIA]: the attempt then fails.
type Recover struct {
	Parameters RecoverParameters `yaml:"parameters"`
	Rules      []RecoverRule     `yaml:"rules"`
}

// RecoverParameters are the scores of actions before any rule.
type RecoverParameters struct {
	Base        map[string]float64 `yaml:"base" range:"-5,5"`         // action → score; what is left out has 0
	PartBase    map[string]float64 `yaml:"part_base" range:"-5,5"`    // the same, where a part failed
	PartRetries int                `yaml:"part_retries" range:"0,10"` // runs of a part that may fail and be retried
	Chance      float64            `yaml:"chance" range:"0,0.2"`      // share of decisions left to chance
}

// RecoverRule changes scores in some contexts. Every rule that fits counts. Rules are
// about attempts, but for those that name parts: what a class of failure says of an
// attempt that was judged, it does not say of a part that is not done.
type RecoverRule struct {
	When    Selector           `yaml:"when"`
	Bonus   map[string]float64 `yaml:"bonus" range:"-5,5"`   // action → what is added
	Retries int                `yaml:"retries" range:"0,10"` // or re-runs, in a row that are possible; the largest counts
	Wait    time.Duration      `yaml:"wait" range:"0,21600"` // before the first of them, doubling; the longest counts
}

// maxWait bounds the wait before a retry or a re-run, doubled or not.
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

// Decide says what follows an attempt, or a part, that failed. A repository's setting that
// plain retries come first (Context.Patience) outranks the scores, unless there is another
// change already that the checks have not seen.
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

// fits reports whether a rule counts in a context.
func (r RecoverRule) fits(c Context) bool {
	return r.When.Fits(c) && (c.Part == "" || len(r.When.Part) > 0)
}

// retries are how many retries in a row are possible in a context, and the wait before the first.
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

// possible reports whether an action can be taken at all.
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
