package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// RacerNote is the result of a racer's change: that of the tests in the sandbox, and whether it was checked.
func RacerNote(a sia.Attempt, p sia.Part) string {
	switch p.State {
	case sia.PartDone:
	case sia.PartGivenUp:
		if p.Reason != "" {
			return "changed nothing: " + cut(oneLine(head(p.Reason)), 150)
		}
		return "changed nothing"
	case sia.PartRunning:
		return "at work"
	default:
		return "waits"
	}
	s := inSandbox(p) + otherRuns(p)
	if p.Diff.Files > 0 {
		s += fmt.Sprintf(", +%d −%d", p.Diff.Added, p.Diff.Deleted)
	}
	if rank := checkedNote(a, p); rank != "" {
		s += "; " + rank
	}
	return s
}

// inSandbox is the result of the tests in the sandbox for a racer's change.
func inSandbox(p sia.Part) string {
	c := p.Checked
	switch {
	case c == nil:
		return "no tests were run in the sandbox"
	case c.Missing != "":
		return "the tests could not be run in the sandbox: " + cut(oneLine(head(c.Missing)), 150)
	case c.Holds:
		return "the tests pass in the sandbox"
	case len(c.Tests) == 0:
		return "the tests fail in the sandbox"
	case len(c.Tests) == 1:
		return "1 test fails in the sandbox"
	}
	return fmt.Sprintf("%d tests fail in the sandbox", len(c.Tests))
}

// otherRuns is the result of the other runs of a racer's change.
func otherRuns(p sia.Part) (s string) {
	if c := p.Reproduced; c != nil && c.Missing == "" {
		s = map[bool]string{true: ", the test that shows the fault passes",
			false: ", the test that shows the fault fails"}[c.Holds]
	}
	if f := p.Affected; f != nil && len(f.Failed) == 1 {
		s += ", 1 test that it reaches fails"
	} else if f != nil && len(f.Failed) > 1 {
		s += fmt.Sprintf(", %d tests that it reaches fail", len(f.Failed))
	}
	return s
}

// checkedNote says whether a racer's change was checked, with the result.
func checkedNote(a sia.Attempt, p sia.Part) string {
	switch {
	case !p.Pushed && slices.ContainsFunc(a.Parts, func(q sia.Part) bool { return q.Pushed }):
		return "ranked lower"
	case !p.Pushed:
		return ""
	case p.Coder != a.Coder:
		return "checked before: red"
	case a.Outcome == sia.AttemptPass:
		return "checked: green"
	case a.Outcome == sia.AttemptFail:
		return "checked: red"
	}
	return "checked"
}

func racerLine(a sia.Attempt, p sia.Part) string {
	who := "**" + Line(p.Coder, 40) + "**"
	if p.Agent != "" {
		who += " (" + Line(p.Agent, 60) + ")"
	}
	return racerIcon(p) + " " + who + " — " + Line(RacerNote(a, p), 0)
}

// racerIcon shows the result of the tests in the sandbox, once there is a change.
func racerIcon(p sia.Part) string {
	switch c := p.Checked; {
	case p.State != sia.PartDone:
		return partIcon(p.State)
	case c == nil || c.Missing != "":
		return "⚪"
	case !c.Holds:
		return "❌"
	}
	return "✅"
}

// raceInBrief summarises a judged race.
func raceInBrief(a sia.Attempt) string {
	var said []string
	for _, p := range a.Parts {
		said = append(said, Line(p.Coder, 40)+": "+Line(RacerNote(a, p), 0))
	}
	return strings.Join(said, ". ")
}
