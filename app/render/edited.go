package render

import (
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
)

// mostEdited bounds the shown part of an edited text, in characters.
const mostEdited = 20_000

// EditedComment asks, on the task's issue, whether the edited text is now the task. It quotes that text, because it can
// be edited again.
func EditedComment(t sia.Task, e sia.Escalation) string {
	var text sia.Edition
	if e.Edition != nil {
		text = *e.Edition
	}
	var p page
	p.add("**" + few(e.Question, 20) + "** " + few(e.Blocker, 30))
	p.add(boxes(e))
	p.add("Tick a box, or comment `/sia start` or `/sia stop`. Nothing runs until then.")
	now := "**" + Line(text.Title, 200) + "**\n\n" + Quote(cut(text.Body, mostEdited))
	if utf8.RuneCountInString(text.Body) > mostEdited {
		now += "\n\nThat is not all of it: read the issue itself."
	}
	p.fold("How it reads now", now)
	p.fold("How to answer", howToAnswer(t, e))
	return p.String()
}

// boxes are a question's options as tick boxes.
func boxes(e sia.Escalation) string {
	var b strings.Builder
	for _, o := range e.Options {
		b.WriteString(escalate.Box(sia.Option{Letter: letter(o.Letter), Text: few(o.Text, 8)}, false) + "\n")
	}
	return b.String()
}
