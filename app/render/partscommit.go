package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// PartMessage is the subject and body of the commit with the work on a part of an attempt, as [CommitMessage] is for an
// attempt. number is the part's, from 1; any other number gives the attempt's message.
func PartMessage(t sia.Task, a sia.Attempt, number int) string {
	if number < 1 || number > len(a.Parts) {
		return CommitMessage(t, a)
	}
	p := a.Parts[number-1]
	subject, what, done := commitWords(firstSentence(p.Do)), "part", p.DoneWhen
	switch p.Kind {
	case sia.PartRacer:
		subject, _, _ = strings.Cut(CommitMessage(t, a), "\n")
		what = "change"
	case sia.PartMerge:
		subject = "Resolve the conflicts between " + text.Numbered("part", p.Needs)
	case sia.PartMend:
		subject = "Mend what fails once the parts are put together"
	}
	if subject == "" {
		subject = fmt.Sprintf("Work on issue %d", t.Issue)
	}
	body := fmt.Sprintf("Attempt %d at issue %d, %s %d of %d", a.Number, t.Issue, what, number, len(a.Parts))
	if p.Kind == sia.PartRacer && p.Coder != "" {
		body += ", by " + cut(commitWords(p.Coder), 60)
	}
	paragraphs := []string{body + "."}
	if a.Outcome == sia.AttemptCheckpoint || a.Outcome == sia.AttemptCancelled {
		paragraphs[0] += " Work in progress, not finished."
	}
	if done := commitWords(done); done != "" {
		paragraphs = append(paragraphs, "Done when "+strings.TrimSuffix(cut(done, 500), ".")+".")
	}
	if said := commitWords(p.Summary); said != "" {
		paragraphs = append(paragraphs, "The coding agent says: "+cut(said, 1000))
	}
	return message(subject, paragraphs)
}

// PartsMergeMessage is the message of the commit that merges parts of an attempt; over are their numbers.
func PartsMergeMessage(t sia.Task, a sia.Attempt, over []int) string {
	paragraphs := []string{fmt.Sprintf("Attempt %d at issue %d.", a.Number, t.Issue)}
	for _, n := range over {
		if n >= 1 && n <= len(a.Parts) && a.Parts[n-1].Do != "" {
			paragraphs = append(paragraphs,
				fmt.Sprintf("Part %d: %s.", n, cut(commitWords(firstSentence(a.Parts[n-1].Do)), 200)))
		}
	}
	return message("Put "+text.Numbered("part", over)+" together", paragraphs)
}

// message is a commit's subject and body at git's widths.
func message(subject string, paragraphs []string) string {
	for i, p := range paragraphs {
		paragraphs[i] = wrap(p, commitWidth)
	}
	return cut(subject, commitWidth) + "\n\n" + strings.Join(paragraphs, "\n\n") + "\n"
}
