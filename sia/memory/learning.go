package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// What resolved a task when it was no technique.
const (
	LearnedAnswer = "a-persons-answer"
	LearnedPush   = "a-persons-push"
)

// answerConfidence is the confidence that an answer or a push also helps the next task of its kind.
// A person stands behind it, but for one task only. It was set by hand.
const answerConfidence = 0.7

// Learnings are what a task teaches, by rules alone. An intervention teaches when the attempt after
// it passed; its learning has the diagnosis' own confidence. So does an answer after which the task
// passed, and a person's push that made it pass. The order is that of the events, and a pattern and
// technique appear once. The result is never nil.
func Learnings(t sia.Task) []Learning {
	out := []Learning{}
	add := func(l Learning) {
		if !slices.ContainsFunc(out, func(o Learning) bool {
			return o.Pattern == l.Pattern && o.EffectiveTechnique == l.EffectiveTechnique
		}) {
			out = append(out, l)
		}
	}
	for _, i := range t.Interventions {
		if !wasResolved(t, i) {
			continue
		}
		d := i.Diagnosis
		add(Learning{
			Pattern: d.Pattern, EffectiveTechnique: string(d.Technique),
			SpecificInsight: insightText(t, i), Confidence: roundShare(d.Confidence),
		})
	}
	if t.State != sia.Passed || len(t.Attempts) == 0 {
		return out
	}
	last := t.Attempts[len(t.Attempts)-1]
	switch {
	case !slices.ContainsFunc(t.Attempts, sia.Attempt.Worked): // SIA had not begun
	case t.HeadBy != (sia.Actor{}) && last.Outcome != sia.AttemptPass:
		add(Learning{Pattern: lastPattern(t), EffectiveTechnique: LearnedPush,
			SpecificInsight: fixInsight(t),
			Confidence:      answerConfidence})
	case len(t.Answers) > 0 && len(out) == 0 && t.Escalation != nil:
		a := t.Answers[len(t.Answers)-1]
		if a.Kind.AboutSomething() || a.Escalation != t.Escalation.Number {
			break // words mean nothing without what they are about, and an answer nothing without its question
		}
		add(Learning{Pattern: lastPattern(t), EffectiveTechnique: LearnedAnswer,
			SpecificInsight: fmt.Sprintf("Asked “%s”, a person said “%s”, and the task passed.",
				fileLine(t.Escalation.Question), fileLine(answerText(t, a))),
			Confidence: answerConfidence})
	}
	return out
}

// fixInsight says what a person's push did that SIA's attempts did not.
func fixInsight(t sia.Task) string {
	s := fmt.Sprintf("What SIA could not do in %d attempts, a person's push did; the difference is in %s.",
		len(t.Attempts), t.Head.Short())
	if f := t.Fix; f != nil && f.Head == t.Head {
		s += " " + fileLine(f.Summary)
	}
	return s
}

// wasResolved reports whether the attempt that an intervention led to passed.
func wasResolved(t sia.Task, i sia.Intervention) bool {
	if i.Resolved != nil {
		return *i.Resolved
	}
	for _, a := range t.Attempts {
		if a.Number > i.After && a.Technique == i.Diagnosis.Technique {
			return a.Outcome == sia.AttemptPass
		}
	}
	return false
}

func lastPattern(t sia.Task) sia.Pattern {
	if n := len(t.Interventions); n > 0 && t.Interventions[n-1].Diagnosis.Pattern != "" {
		return t.Interventions[n-1].Diagnosis.Pattern
	}
	return sia.UnknownPattern
}

func answerText(t sia.Task, a sia.Answer) string {
	for _, o := range t.Escalation.Options {
		if a.Text == "" && o.Letter == a.Letter {
			return o.Text
		}
	}
	return a.Text
}

// insightText says in one sentence what was wrong, what helped, and where the failure showed.
func insightText(t sia.Task, i sia.Intervention) string {
	d := i.Diagnosis
	s := fmt.Sprintf("%s → %s", patternCause(d.Pattern), techniqueRemedy(d.Technique, d.Pattern))
	for _, a := range t.Attempts {
		if a.Number == i.After && len(a.Failures) > 0 {
			s += fmt.Sprintf(" (check %s failed", fileLine(a.Failures[0].Check))
			if e := tellingLine(a.Failures[0].Excerpt); e != "" {
				s += ": " + e
			}
			s += ")"
		}
	}
	return s
}

var errorWords = lazyregexp.New(`(?i)\b(error|panic|exception|undefined|missing|cannot|can't|` +
	`not (set|found|defined|allowed)|no such|refused|denied|expected|want|got|invalid)\b`)

// maxTelling is how long a line of a log may be in an insight, in characters.
const maxTelling = 160

// tellingLine is the first line of an excerpt that speaks of an error, else its first line.
func tellingLine(excerpt string) string {
	first := ""
	for l := range strings.Lines(fileText(excerpt)) {
		if l = fileLine(l); l == "" {
			continue
		}
		l = text.Clip(l, maxTelling)
		if errorWords.MatchString(l) {
			return l
		}
		if first == "" {
			first = l
		}
	}
	return first
}

// patternCause names a pattern as a cause.
func patternCause(p sia.Pattern) string {
	switch p {
	case sia.MissingCredentials:
		return "credentials missing"
	case sia.ExternalDependencyBlocker:
		return "a service outside was needed and could not be reached"
	case sia.InterdependentComponents:
		return "parts of the change broke each other"
	case sia.WrongTool:
		return "the wrong tool was used"
	case sia.UnclearInstructions:
		return "the instructions were unclear"
	case sia.ContextOverload:
		return "too much was in view"
	case sia.MissingExample:
		return "the shape wanted was not known"
	case sia.OverConstrained:
		return "the task was over-constrained"
	case sia.WrongOrder:
		return "the steps came in the wrong order"
	case sia.WrongAbstractionLevel:
		return "the work was at the wrong level"
	case sia.RepeatedError:
		return "the same error came back"
	case sia.AccumulatedCruft:
		return "earlier tries were in the way"
	case sia.UnclearSpecification:
		return "the task did not say what was wanted"
	case sia.Environment:
		return "the environment lacked something"
	case sia.FlakyCheck:
		return "a check was flaky"
	}
	return "the attempt failed"
}

// techniqueRemedy names a technique as what to do.
func techniqueRemedy(id sia.TechniqueID, p sia.Pattern) string {
	switch id {
	case sia.Decomposition:
		return "do one part at a time, each with its own test"
	case sia.ToolChange:
		return "use other tools"
	case sia.PromptRestructuring:
		return "state goal, constraints and done-when"
	case sia.ContextPruning:
		return "start from a named few files"
	case sia.ExampleInjection:
		return "follow an example from this repository"
	case sia.ConstraintRelaxation:
		return "lift one constraint, then put it back"
	case sia.DependencyReordering:
		return "build first what the rest depends on"
	case sia.AbstractionLevelShift:
		if p == sia.MissingCredentials || p == sia.ExternalDependencyBlocker {
			return "abstract behind an interface and use a local double"
		}
		return "change the level of abstraction"
	case sia.ErrorPattern:
		return "quote the error and mend its cause"
	case sia.FreshStart:
		return "start again at the base commit"
	}
	return "technique " + string(id)
}
