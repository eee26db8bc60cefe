package diagnose

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/text"
)

// personQuestion is what to ask a person without a model.
type personQuestion struct {
	blocker, question string
	options           []sia.Option
}

// questionFor makes the question that the evidence asks for. The blocker is the failing line
// itself. Where the evidence names nothing, question and options stay empty, and the pattern's own
// are asked.
func questionFor(in Input, p sia.Pattern, findings []finding) personQuestion {
	f := findings[0]
	for _, g := range findings {
		if g.pattern == p {
			f = g
			break
		}
	}
	q := personQuestion{blocker: blockerLine(in, f)}
	known := f.subject != "" && f.pattern == p
	switch {
	case known && (p == sia.MissingCredentials || p == sia.ExternalDependencyBlocker || p == sia.Environment):
		q.question, q.options = escalate.PatternQuestion(p, "`"+text.Clip(f.subject, 120)+"`")
	case p == sia.UnclearSpecification || p == sia.UnclearInstructions:
		// The pattern's own question fits.
	case failedTests(in.Attempt) != "":
		tests := strings.Split(failedTests(in.Attempt), ", ")
		q.question = fmt.Sprintf("%s still fails. Which is right, the test or what the issue asks for?", tests[0])
		q.options = []sia.Option{
			{Text: "The test is right: keep its behaviour and do only what is compatible with it", Fastest: true},
			{Text: "The issue is right: a person will change the test; go on with the rest"},
			{Text: "Start over from the base branch, keeping the change as small as possible"},
		}
	}
	return q
}

// blockerLine quotes the line that stands in the way, with its check.
func blockerLine(in Input, f finding) string {
	line := f.line
	if line == "" {
		line = tellingLine(in.Attempt)
	}
	check := f.check
	if check == "" {
		check = firstCheck(in)
	}
	switch {
	case line == "":
		return ""
	case check == "":
		return line
	}
	return check + ": " + line
}
