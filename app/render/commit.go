package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
)

// commitWidth is git's customary width for subjects and bodies of commits, in characters.
const commitWidth = 72

// CommitMessage is the subject and body of the commit with an attempt's work, without trailers; the caller adds them
// after a blank line. The subject has at most 72 characters. Foreign words can't skip checks, close issues, notify
// people or add trailers.
func CommitMessage(t sia.Task, a sia.Attempt) string {
	subject := cut(commitWords(t.Title), commitWidth)
	if subject == "" {
		subject = fmt.Sprintf("Resolve issue %d", t.Issue)
	}
	body := fmt.Sprintf("Attempt %d at issue %d", a.Number, t.Issue)
	if a.Technique != "" {
		body += fmt.Sprintf(", with the technique %q", TechniqueName(a.Technique))
	}
	body += "."
	if a.Outcome == sia.AttemptCheckpoint || a.Outcome == sia.AttemptCancelled {
		body += " Work in progress, not finished."
	}
	if s := commitWords(a.Summary); s != "" {
		body += "\n\nThe coding agent says: " + cut(s, 1000)
	}
	return message(subject, strings.Split(body, "\n\n"))
}

// MergeMessage is the message of the commit that merges the base into a task's branch.
func MergeMessage(t sia.Task) string {
	return cut("Merge "+commitWords(t.BaseBranch)+" into "+commitWords(t.Branch), commitWidth) + "\n"
}

// commitWords puts foreign text on one line and removes what GitHub interprets in commit messages: square brackets and
// "NO_CI" ("Skipping workflow runs"), trailers, references and mentions.
func commitWords(s string) string {
	s = strings.NewReplacer("[", "(", "]", ")", "***", "").Replace(oneLine(s))
	return strings.TrimLeft(copied(s), "#>-*+ ")
}

// wrap breaks a paragraph at spaces into lines of at most width characters; longer words stay whole.
func wrap(s string, width int) string {
	var b strings.Builder
	n := 0
	for i, w := range strings.Fields(s) {
		l := utf8.RuneCountInString(w)
		switch {
		case i == 0:
		case n+1+l > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(w)
		n += l
	}
	return b.String()
}
