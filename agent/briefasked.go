package agent

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

const (
	// MaxAsked is the maximum size of the change requests that an attempt is given, in bytes; see [AskedSize]. The middle
	// of a larger one is left out.
	MaxAsked = 24 << 10

	maxThread = 3000 // maximum size of one text of a review thread, in bytes
)

// AskedSize returns the size of change requests in the prompt, in bytes.
func AskedSize(a sia.Asked) int { return len(askedText(a)) }

// askedSections returns the section with the requests of reviewers on the pull request.
func askedSections(a *sia.Asked) []promptSection {
	if a == nil || len(a.Words)+len(a.Threads) == 0 {
		return nil
	}
	return []promptSection{{heading: "## What reviewers ask for",
		intro: "The work tree holds a change for this issue, which stands on a pull request. People with write access " +
			"reviewed it and ask for what follows, and that is what you do now; keep the rest. In your summary, say about " +
			"each what you did, or why you did not, on a line that begins with its number, such as [1].",
		body: middleOut(askedText(*a), MaxAsked), priority: priorityRequired}}
}

// askedText returns the numbered requests.
func askedText(a sia.Asked) string {
	var b strings.Builder
	n := 0
	for _, w := range a.Words {
		n++
		fmt.Fprintf(&b, "[%d] @%s, about the change as a whole:\n%s\n", n, clipLine(w.By, 100), indented(w.Text))
	}
	for _, t := range a.Threads {
		n++
		fmt.Fprintf(&b, "[%d] %s\n", n, threadPlace(t))
		if t.Seen != "" {
			b.WriteString("The lines as they were reviewed:\n" + indented(t.Seen))
		}
		for _, s := range t.Said {
			fmt.Fprintf(&b, "@%s:\n%s", clipLine(s.By, 100), indented(s.Text))
		}
		if t.Suggestion != nil {
			what := "Apply this suggestion as it stands: those lines become\n" + indented(*t.Suggestion)
			if *t.Suggestion == "" {
				what = "Apply this suggestion as it stands: those lines are deleted.\n"
			}
			b.WriteString(what)
		}
		b.WriteString("\n")
	}
	return sanitizeText(b.String())
}

func threadPlace(t sia.Thread) string {
	path := clipLine(t.Path, 300)
	switch {
	case t.Old:
		return path + ", lines that the change deletes:"
	case t.Last == 0:
		return path + ":"
	case t.First == t.Last:
		return fmt.Sprintf("%s, line %d:", path, t.Last)
	}
	return fmt.Sprintf("%s, lines %d to %d:", path, t.First, t.Last)
}

func indented(s string) string {
	s = text.Clip(strings.TrimRight(s, "\n"), maxThread)
	return "    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n"
}
