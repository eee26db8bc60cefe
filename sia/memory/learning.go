package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Learning.EffectiveTechnique when no technique resolved a task.
const (
	LearnedAnswer = "a-persons-answer"
	LearnedPush   = "a-persons-push"
)

// answerConfidence is the confidence that an answer or a push also helps the next task of its kind. It comes from a
// user, but from a single task. It was set by hand.
const answerConfidence = 0.7

// Learnings returns what a task teaches, by rules alone: an intervention with a passing attempt after it, with the
// diagnosis' confidence; an answer after which the task passed; a user's push that made it pass. The order is that of
// the events. Each combination of pattern and technique appears once. The result is never nil.
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
	last := t.LastTried()
	if t.State != sia.Passed || last == nil {
		return out
	}
	switch {
	case !slices.ContainsFunc(t.Attempts, sia.Attempt.Worked): // SIA had not begun
	case t.HeadBy != (sia.Actor{}) && last.Outcome != sia.AttemptPass:
		add(Learning{Pattern: lastPattern(t), EffectiveTechnique: LearnedPush,
			SpecificInsight: fixInsight(t),
			Confidence:      answerConfidence})
	case len(t.Answers) > 0 && len(out) == 0 && t.Escalation != nil:
		a := t.Answers[len(t.Answers)-1]
		if a.Kind.NeedsContext() || a.Escalation != t.Escalation.Number {
			break // such an answer is not understandable without its subject or question
		}
		add(Learning{Pattern: lastPattern(t), EffectiveTechnique: LearnedAnswer,
			SpecificInsight: fmt.Sprintf("Asked “%s”, a person said “%s”, and the task passed.",
				fileLine(t.Escalation.Question), fileLine(answerText(t, a))),
			Confidence: answerConfidence})
	}
	return out
}

// fixInsight returns what a user's push did that SIA's attempts did not.
func fixInsight(t sia.Task) string {
	s := fmt.Sprintf("What SIA could not do in %d attempts, a person's push did; the difference is in %s.",
		len(t.Attempts), t.Head.Short())
	if f := t.Fix; f != nil && f.Head == t.Head {
		s += " " + fileLine(f.Summary)
	}
	return s
}

// wasResolved reports whether the attempt after an intervention passed.
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

// insightText returns a sentence with the cause, the remedy, and the place of the failure.
func insightText(t sia.Task, i sia.Intervention) string {
	d := i.Diagnosis
	cause := cmp.Or(patternCauses[d.Pattern], "the attempt failed")
	s := fmt.Sprintf("%s → %s", cause, techniqueRemedy(d.Technique, d.Pattern))
	for _, a := range t.Attempts {
		if a.Number == i.After && len(a.Failures) > 0 {
			s += fmt.Sprintf(" (check %s failed", fileLine(a.Failures[0].Check))
			if e := text.Clip(fileLine(text.MostTelling(fileText(a.Failures[0].Excerpt))), maxLogLine); e != "" {
				s += ": " + e
			}
			s += ")"
		}
	}
	return s
}

// maxLogLine is the maximum length of a log line in an insight, in characters.
const maxLogLine = 160

// patternCauses describe patterns as causes.
var patternCauses = map[sia.Pattern]string{
	sia.MissingCredentials:        "credentials missing",
	sia.ExternalDependencyBlocker: "a service outside was needed and could not be reached",
	sia.InterdependentComponents:  "parts of the change broke each other",
	sia.WrongTool:                 "the wrong tool was used",
	sia.UnclearInstructions:       "the instructions were unclear",
	sia.ContextOverload:           "too much was in view",
	sia.MissingExample:            "the shape wanted was not known",
	sia.OverConstrained:           "the task was over-constrained",
	sia.WrongOrder:                "the steps came in the wrong order",
	sia.WrongAbstractionLevel:     "the work was at the wrong level",
	sia.RepeatedError:             "the same error came back",
	sia.AccumulatedCruft:          "earlier tries were in the way",
	sia.UnclearSpecification:      "the task did not say what was wanted",
	sia.Environment:               "the environment lacked something",
	sia.FlakyCheck:                "a check was flaky",
}

// techniqueRemedies describe techniques as remedies.
var techniqueRemedies = map[sia.TechniqueID]string{
	sia.Decomposition:         "do one part at a time, each with its own test",
	sia.ToolChange:            "use other tools",
	sia.PromptRestructuring:   "state goal, constraints and done-when",
	sia.ContextPruning:        "start from a named few files",
	sia.ExampleInjection:      "follow an example from this repository",
	sia.ConstraintRelaxation:  "lift one constraint, then put it back",
	sia.DependencyReordering:  "build first what the rest depends on",
	sia.ErrorPattern:          "quote the error and mend its cause",
	sia.FreshStart:            "start again at the base commit",
	sia.AbstractionLevelShift: "change the level of abstraction",
}

// techniqueRemedy describes a technique as a remedy for a pattern.
func techniqueRemedy(id sia.TechniqueID, p sia.Pattern) string {
	if id == sia.AbstractionLevelShift && (p == sia.MissingCredentials || p == sia.ExternalDependencyBlocker) {
		return "abstract behind an interface and use a local double"
	}
	return cmp.Or(techniqueRemedies[id], "technique "+string(id))
}
