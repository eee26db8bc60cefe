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
	if !imperative(subject) {
		subject = cut(fmt.Sprintf("Resolve issue %d: %s", t.Issue, commitWords(t.Title)), commitWidth)
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
	return strings.TrimLeft(Neutralise(s), "#>-*+ ")
}

// imperatives are verbs with which titles of issues often begin.
var imperatives = " accept add allow apply avoid build bump change check clean convert correct create cut delete " +
	"deprecate detect disable document drop enable ensure escape explain expose extend extract find fix format " +
	"generate give guard handle hide ignore implement improve include increase install introduce keep let limit " +
	"list load log make mark merge migrate move parse pass pin prefer prepare prevent print protect provide publish " +
	"put raise read reduce refactor refuse reject release remove rename replace report require reset resolve restore " +
	"retry return revert rewrite round run save send set show simplify skip sort speed split start stop store strip " +
	"support switch test tidy translate trim turn unify update upgrade use validate verify warn wrap write "

// imperative reports whether a subject begins with a verb in the imperative.
func imperative(subject string) bool {
	first, _, _ := strings.Cut(strings.ToLower(subject), " ")
	return first != "" && strings.Contains(imperatives, " "+first+" ")
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
