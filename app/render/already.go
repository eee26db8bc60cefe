package render

import (
	"cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// plainLogin matches a login that can be mentioned unchanged.
var plainLogin = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}$`)

// AlreadyComment shows, on the task's issue, what already resolves it, and asks whether SIA shall work on it anyway.
func AlreadyComment(t sia.Task, e sia.Escalation, l Links) string {
	var a sia.Already
	if e.Already != nil {
		a = *e.Already
	}
	var p page
	to := ""
	if a.Claimed && plainLogin.MatchString(t.Author) {
		to = "@" + t.Author + ": "
	}
	p.add(to + "**" + few(e.Question, 20) + "** " + few(sentenceCase(a.What), 25) + ". " +
		link("Look at it", cmp.Or(a.URL, l.Transcript(t, len(t.Attempts)))))
	p.add(boxes(e))
	p.add("Tick a box, or comment `/sia start anyway` or `/sia stop`. Nothing runs and nothing is spent until then, and " +
		"no approach is used up.")
	p.fold("How to answer", howToAnswer(t, e))
	return p.String()
}
