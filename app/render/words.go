package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// techniqueWords are the name of a technique and its effect on the next attempt, in one sentence.
var techniqueWords = map[sia.TechniqueID]struct{ name, does string }{
	sia.Decomposition: {"Decomposition", "The work is split into parts that are done one after another, each " +
		"with its own test."},
	sia.ToolChange: {"Tool change", "The next attempt is told which tools fit the job, and loses the ones " +
		"that did not."},
	sia.PromptRestructuring: {"Prompt restructuring", "The instructions are rewritten into a goal, the constraints, " +
		"and when the work is done."},
	sia.ContextPruning: {"Context pruning", "History and files that do not matter are left out, so that what " +
		"matters is seen."},
	sia.ExampleInjection: {"Example injection", "The next attempt is shown examples of the shape that is wanted, " +
		"from this repository where there are any."},
	sia.ConstraintRelaxation: {"Constraint relaxation",
		"One constraint is lifted for now, and put back as the last step."},
	sia.DependencyReordering: {"Dependency reordering", "The same steps are done in another order."},
	sia.AbstractionLevelShift: {"Abstraction level shift", "The work moves to another level of abstraction — an " +
		"interface with a local double where a real service stood in the way, for example."},
	sia.ErrorPattern: {"Error pattern recognition", "The error that keeps coming back is quoted, with an " +
		"instruction that avoids it."},
	sia.FreshStart: {"Fresh start", "The next attempt begins at the base commit with as little context as " +
		"possible."},
}

// TechniqueName is the display name of a technique; a repository's own technique has its id as name.
func TechniqueName(id sia.TechniqueID) string {
	if w, ok := techniqueWords[id]; ok {
		return w.name
	}
	return Line(sentenceCase(strings.ReplaceAll(string(id), "-", " ")), 60)
}

// approach summarises an attempt's instructions in a few words, as Markdown.
func approach(a sia.Attempt) string {
	if a.Technique != "" && !a.Planning {
		return "technique *" + few(Approach(a), 5) + "*"
	}
	return Approach(a)
}

// Approach summarises an attempt's instructions in a few words: with a technique, it is the technique's name.
func Approach(a sia.Attempt) string {
	switch {
	case a.Planning:
		return "a plan"
	case a.Technique != "":
		return TechniqueName(a.Technique)
	case a.Asked:
		return "what reviewers asked for"
	case a.Demands > 0:
		return "what was found not to be done"
	case a.Answers > 0:
		return "the task and what people decided"
	}
	return "the task as it is written"
}

// outcomeWords describe an attempt's outcome.
func outcomeWords(a sia.Attempt) (icon, words string) {
	switch {
	case a.Planning && a.Outcome == sia.AttemptAsked:
		return "📝", "put to a person"
	case a.Planning && a.Outcome == sia.AttemptError:
		return "⚠️", "not made"
	}
	switch a.Outcome {
	case sia.AttemptPass:
		return "✅", "passed"
	case sia.AttemptFail:
		return "❌", "failed"
	case sia.AttemptCheckpoint:
		return "⏸️", "reached a limit; its work was kept"
	case sia.AttemptError:
		return "⚠️", "could not be judged"
	case sia.AttemptCancelled:
		return "⏹️", "ended early"
	case sia.AttemptAsked:
		return "❓", "asked a question"
	case sia.AttemptUnchanged:
		return "💬", "left the green commit as it is"
	}
	return "⏳", "in progress"
}

// credits is an account in words.
func credits(l sia.Ledger) string {
	s := fmt.Sprintf("%s of %s spent", l.Spent, l.Budget)
	if l.Reserved > 0 {
		s += fmt.Sprintf(", %s set aside for what is running", l.Reserved)
	}
	if l.Overrun > 0 {
		s += fmt.Sprintf(", and %s over budget: a model call cost more than was set aside for it", l.Overrun)
	}
	return s + " (1 credit = 0.01 USD)"
}

// usd is an amount of money, to the cent.
func usd(c sia.Credits) string {
	if c > 0 && c < sia.Credit {
		return "less than 0.01 USD"
	}
	return fmt.Sprintf("%.2f USD", float64(c)/float64(sia.Credit)/100)
}

// at is a time to the minute.
func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Duration is a duration to the minute, in words.
func Duration(d time.Duration) string {
	switch m := int(d.Round(time.Minute) / time.Minute); {
	case m < 1:
		return "less than a minute"
	case m < 120:
		return text.Count(m, "minute")
	case m < 48*60:
		return text.Count(m/60, "hour")
	default:
		return text.Count(m/60/24, "day")
	}
}

// elapsed is deliberately coarse: a text with it changes at most once an hour. Empty: less than one.
func elapsed(d time.Duration) string {
	switch h := int(d / time.Hour); {
	case h < 1:
		return ""
	case h < 48:
		return "over " + text.Count(h, "hour")
	default:
		return "over " + text.Count(h/24, "day")
	}
}

// sentenceCase capitalises the first letter of s, unless it begins with an abbreviated commit.
func sentenceCase(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s == "" || len(first) == 7 && strings.Trim(first, "0123456789abcdef") == "" {
		return s
	}
	return text.Capital(s)
}

// loginOr is a login as inline code: one word, which GitHub bounds at 39 characters. unknown replaces an unknown actor,
// as when SIA noticed a change by polling.
func loginOr(a sia.Actor, unknown string) string {
	return cmp.Or(Code(fewWords(a.Login, 1), 40), unknown)
}

func person(a sia.Actor) string { return loginOr(a, "somebody with write access") }

// pushedBy names who pushed a commit that is not SIA's.
func pushedBy(a sia.Actor) string { return loginOr(a, "somebody else") }

// codes writes names as inline code, at most limit of them, and counts the rest.
func codes(names []string, limit int) string {
	var out []string
	for i, n := range names {
		if i == limit {
			out = append(out, fmt.Sprintf("%d more", len(names)-limit))
			break
		}
		out = append(out, Code(n, 80))
	}
	return text.List(out)
}
