package technique

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// rewriteBrief returns instructions with goal, constraints and done-when. The goal is the diagnosis' own text, else the
// task's title.
func rewriteBrief(present sia.Brief, in Input) string {
	var b strings.Builder
	goal := strings.TrimSpace(in.Prompt)
	if goal == "" {
		goal = text.OneLine(in.Title)
	}
	// A long goal is truncated so that the parts after it fit.
	fmt.Fprintf(&b, "## Goal\n\n%s\n\n## Constraints\n\n", text.Clip(goal, maxPrompt/2))
	for _, c := range present.Answers {
		fmt.Fprintf(&b, "- %s (a person said so)\n", text.OneLine(c))
	}
	cs := constraintsIn(in.Body)
	for _, c := range cs[:min(len(cs), 6)] {
		fmt.Fprintf(&b, "- %s\n", c)
	}
	b.WriteString("- Tests and checks stay as strict as they are.\n- Nothing is changed that the goal does not ask " +
		"for.\n\n## Done when\n\n")
	for _, f := range in.Failures[:min(len(in.Failures), 6)] {
		line := fmt.Sprintf("- the check %s is green", f.Check)
		if len(f.Tests) > 0 {
			line += ", with " + strings.Join(f.Tests[:min(len(f.Tests), 5)], ", ")
		}
		b.WriteString(line + "\n")
	}
	for _, item := range listItems(in.Body) {
		if !slices.Contains(cs, item) {
			fmt.Fprintf(&b, "- %s\n", item)
		}
	}
	b.WriteString("- every other check is green")
	return text.Clip(b.String(), maxPrompt)
}

// addQuotes adds the lines with the errors, at most n in total, newest first.
func addQuotes(to []string, fs []sia.CheckFailure, n int) []string {
	var quotes []string
	add := func(q string) {
		if q = text.Clip(text.OneLine(q), 300); q != "" && len(quotes) < n && !slices.Contains(quotes, q) {
			quotes = append(quotes, q)
		}
	}
	for _, f := range fs {
		for _, l := range text.Telling(f.Excerpt, 2) {
			add(l)
		}
	}
	for _, q := range to {
		add(q)
	}
	return quotes
}
