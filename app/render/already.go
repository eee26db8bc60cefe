package render

import (
	"cmp"
	"strings"

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
	if a.Claimed {
		to = toAuthor(t)
	}
	p.add(to + "**" + few(e.Question, 20) + "** " + few(sentenceCase(a.What), 25) + ". " +
		link("Look at it", cmp.Or(a.URL, l.Transcript(t, len(t.Attempts)))))
	p.add(boxes(e))
	p.add("Tick a box, or comment `/sia start anyway` or `/sia stop`. Nothing runs and nothing is spent until then, and " +
		"no approach is used up.")
	p.fold("How to answer", howToAnswer(t, e))
	return p.String()
}

// toAuthor addresses the author, and also the person who asked for the task if the author may not have SIA work
// on it. It is empty if neither can be mentioned.
func toAuthor(t sia.Task) string {
	logins := []string{t.Author}
	if !sia.Covers(t.Access, permission(t)) && !strings.EqualFold(t.AskedBy.Login, t.Author) {
		logins = append(logins, t.AskedBy.Login)
	}
	to := ""
	for _, login := range logins {
		if plainLogin.MatchString(login) {
			to += "@" + login + " "
		}
	}
	if to == "" {
		return ""
	}
	return strings.TrimSuffix(to, " ") + ": "
}
