package diagnose

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// personQuestion is a question to a user, made without a model.
type personQuestion struct {
	blocker, question string
	options           []sia.Option
}

// questionFor returns the question that follows from the evidence. The blocker is the failing line itself. Without
// specific evidence, question and options are empty, and the pattern's own are used.
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
	unclear := p == sia.UnclearSpecification || p == sia.UnclearInstructions
	switch {
	case lacksLeftOut(in.Attempt):
		q.blocker = strings.TrimSpace(in.Attempt.LeftOut + " " + in.Attempt.Built)
		q.question = "How should SIA go on, given that it may not write these files?"
		q.options = []sia.Option{
			{Text: "A person writes them; do the rest of the issue", Fastest: true},
			{Text: "Do it without them"},
		}
	case known && (p == sia.MissingCredentials || p == sia.ExternalDependencyBlocker || p == sia.Environment):
		q.question, q.options = escalate.PatternQuestion(p, "`"+text.Clip(f.subject, 120)+"`")
	case unclear && len(in.Attempt.Failures) > 0: // another reading of the issue may not fix the failed check
		q.question = fmt.Sprintf("What should be done about “%s”, which stays red?", text.Clip(firstCheck(in), 100))
		q.options = []sia.Option{
			{Text: "Start over from the base branch, keeping the change as small as possible", Fastest: true},
			{Text: "The check is mended now; try again"},
			{Text: "Leave out what the check objects to and do the rest of the issue"},
		}
	case unclear:
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

var (
	// leftOutName matches a file or folder in [sia.Attempt.LeftOut] or Built.
	leftOutName = lazyregexp.New("(?:: |, | and )`([^`]+)`")
	missingFile = lazyregexp.New(`(?i)no such file|not found|does not exist|doesn't exist|ENOENT|missing|` +
		`(can't|cannot|could not|couldn't|unable to|failed to) (find|open|read|load|stat|access)`)
)

// lacksLeftOut reports whether an attempt failed because of files left out of its change: the change is empty without
// them, or a failed check reports one as missing.
func lacksLeftOut(a sia.Attempt) bool {
	if len(a.Failures) == 0 {
		return a.LeftOut != "" && a.Diff.Files == 0
	}
	for _, m := range leftOutName.FindAllStringSubmatch(a.LeftOut+" "+a.Built, -1) {
		for _, f := range a.Failures {
			for l := range strings.Lines(f.Excerpt) {
				if strings.Contains(l, m[1]) && missingFile.MatchString(l) {
					return true
				}
			}
		}
	}
	return false
}

// blockerLine returns the failing line with its check.
func blockerLine(in Input, f finding) string {
	line := f.line
	if line == "" {
		line = errorLine(in.Attempt)
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
