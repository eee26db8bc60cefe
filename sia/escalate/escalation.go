package escalate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// optionLetters are the letters of the options, in order.
const optionLetters = "ABCD"

// FromDiagnosis returns the question of a diagnosis that needs a person. It replaces missing or
// invalid parts: the blocker by the failing check, the question and the options by those of the
// pattern of failure. The task may be the zero Task.
func FromDiagnosis(d sia.Diagnosis, t sia.Task) sia.Escalation {
	e := sia.Escalation{Kind: sia.AskIssue, Blocker: d.Blocker, Question: d.Question, Options: d.Options}
	return makeValid(e, d.Pattern, t)
}

// CleanAsk returns an agent's plan in a form that can be shown, or else its question, completed so that it can be
// answered.
func CleanAsk(a sia.Ask) *sia.Ask {
	if a.Plan != nil {
		p := cleanPlan(*a.Plan)
		return &sia.Ask{Plan: &p}
	}
	e := sia.Escalation{Blocker: a.Why, Question: a.Question}
	if strings.TrimSpace(a.Why) == "" {
		e.Blocker = "The task can be read in more than one way."
	}
	for _, o := range a.Options {
		e.Options = append(e.Options, sia.Option{Text: o})
	}
	e = makeValid(e, sia.UnclearSpecification, sia.Task{})
	clean := &sia.Ask{Question: e.Question, Why: e.Blocker}
	for _, o := range e.Options {
		clean.Options = append(clean.Options, o.Text)
	}
	return clean
}

// cleanPlan returns a bounded plan without empty steps.
func cleanPlan(p sia.Plan) sia.Plan {
	clean := sia.Plan{Summary: text.Clip(strings.TrimSpace(strings.ToValidUTF8(p.Summary, "\ufffd")), maxSummary)}
	for _, s := range p.Steps {
		s = plan.Part{Do: text.Clip(text.OneLine(s.Do), maxStep), DoneWhen: text.Clip(text.OneLine(s.DoneWhen), maxStep)}
		if s.Do != "" && len(clean.Steps) < maxSteps {
			clean.Steps = append(clean.Steps, s)
		}
	}
	return clean
}

// makeValid returns e with valid fields. It fills in missing ones from the pattern of failure.
func makeValid(e sia.Escalation, p sia.Pattern, t sia.Task) sia.Escalation {
	question, options := PatternQuestion(p, "")
	e.Blocker = text.Clip(strings.TrimSpace(e.Blocker), maxBlocker)
	if e.Blocker == "" {
		e.Blocker = lastFailure(t)
	}
	e.Question = cmp.Or(text.Clip(text.OneLine(e.Question), maxOption), question)
	if e.Options = cleanOptions(e.Options); len(e.Options) < 2 {
		e.Options = cleanOptions(options)
	}
	return e
}

// cleanOptions returns at most four distinct, non-empty options, assigns their
// letters, and marks exactly one as the fastest: the first marked one, else the
// first. Options that are already lettered A, B, C… keep their letters.
func cleanOptions(os []sia.Option) []sia.Option {
	var kept []sia.Option
	seen := map[string]bool{}
	fastest := 0
	marked := false
	for _, o := range os {
		words := text.Clip(text.OneLine(ownLetter.ReplaceAllString(text.OneLine(o.Text), "")), maxOption)
		key := strings.ToLower(words)
		if words == "" || seen[key] || len(kept) == len(optionLetters) {
			continue
		}
		seen[key] = true
		if o.Fastest && !marked {
			marked, fastest = true, len(kept)
		}
		kept = append(kept, sia.Option{Letter: optionLetters[len(kept) : len(kept)+1], Text: words})
	}
	if len(kept) > 0 {
		kept[fastest].Fastest = true
	}
	return kept
}

// ownLetter matches a letter that a model wrote before an option's text.
var ownLetter = lazyregexp.New(`^(?:\*\*)?(?:[Oo]ption\s+)?[A-Da-d](?:\*\*)?\s*[).:](?:\*\*)?\s+`)

// lastFailure describes the last failure.
func lastFailure(t sia.Task) string {
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		a := t.Attempts[i]
		for _, f := range a.Failures {
			if l := text.MostTelling(f.Excerpt); l != "" {
				return text.Clip(fmt.Sprintf("%s: %s", text.OneLine(f.Check), l), maxBlocker)
			}
		}
		if r := text.OneLine(a.Reason); r != "" {
			return text.Clip(r, maxBlocker)
		}
	}
	return "SIA could not find a way to make the checks pass."
}

// PatternQuestion returns the default question about a pattern of failure. subject is the obstacle, as Markdown; empty:
// unknown.
func PatternQuestion(p sia.Pattern, subject string) (question string, options []sia.Option) {
	needed := cmp.Or(subject, "What is needed")
	switch p {
	case sia.MissingCredentials:
		return "The checks have no " + cmp.Or(subject, "credentials") + ". How should the task be done?", []sia.Option{
			{Text: "Without it: a local stand-in now, the real service later", Fastest: true},
			{Text: needed + " is set for the checks now; try again"},
			{Text: "Leave this part out and do the rest of the issue"},
		}
	case sia.ExternalDependencyBlocker:
		return needed + " can't be reached from the checks. How should the task be done?", []sia.Option{
			{Text: "Against a local stand-in", Fastest: true},
			{Text: needed + " can be reached now; try again"},
			{Text: "Leave this part out and do the rest of the issue"},
		}
	case sia.Environment:
		return needed + " is not there where the checks run. What should be done?", []sia.Option{
			{Text: "Do without it", Fastest: true},
			{Text: needed + " has been installed for the checks now; try again"},
			{Text: "Add it as a dependency of the repository"},
		}
	case sia.UnclearSpecification, sia.UnclearInstructions:
		return "Which reading of the issue is meant?", []sia.Option{
			{Text: "The smallest reading: only what the issue's title says", Fastest: true},
			{Text: "The issue's text has been made clearer now; read it again"},
		}
	case sia.OverConstrained:
		return "Which requirement may give way?", []sia.Option{
			{Text: "The newest requirement gives way; keep the rest", Fastest: true},
			{Text: "The existing behaviour gives way; the issue wins"},
		}
	case sia.FlakyCheck:
		return "What should be done about the check that fails now and then?", []sia.Option{
			{Text: "It has been run again or mended; look again", Fastest: true},
			{Text: "Mend the check as part of this task"},
		}
	}
	return sia.OpenQuestion()
}

// Limits of texts that are shown to a person, in characters.
const (
	maxBlocker = 1500
	maxOption  = 300
	maxSummary = 4000 // of a plan
	maxSteps   = 12   // steps
	maxStep    = 500
)
