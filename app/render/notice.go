package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Notice is a message to people outside GitHub, such as in a chat or by e-mail. Both fields are plain text without
// markup and hold at most maxNotice characters together. Quoted text in them can't notify anybody.
type Notice struct {
	Title string // one line
	Text  string // lines that end in "\n"
}

// maxNotice is the lowest limit of all receivers: Discord's is 2,000 characters
// (https://discord.com/developers/docs/resources/webhook#execute-webhook).
const maxNotice = 1900

// NeedsPerson says that a task waits for a person, why, and where to go.
func NeedsPerson(t sia.Task, l Links) Notice {
	what, how := needed(t)
	lines := []string{plain(t.Title, 120), plain(what, 500)}
	if how != "" {
		lines = append(lines, plain(how, 300))
	}
	lines = append(lines, askedAt(t, l))
	if u := l.Task(t.ID); u != "" {
		lines = append(lines, "What happened so far: "+u)
	}
	return Notice{Title: fmt.Sprintf("SIA needs a person: %s#%d", t.Repo, t.Issue), Text: whole(lines)}
}

// NeedsApproval says that a change of a policy waits for a person, for what, and where to go.
func NeedsApproval(c PolicyChange, l Links) Notice {
	return Notice{Title: fmt.Sprintf("SIA needs a person: policy %s of %s", plain(c.Name, 60), c.Place),
		Text: whole([]string{plain(c.Change, 300), plain(PolicyWaiting(c), 500), l.Pull(c.Place, c.Pull)})}
}

// NeedsPeople is one message for several tasks and changes of policies, as [TaskLine] and [PolicyLine] name them.
func NeedsPeople(waiting []string, l Links) Notice {
	n := Notice{Title: fmt.Sprintf("SIA needs people: %d more wait", len(waiting))}
	if len(waiting) == 1 {
		n.Title = "SIA needs people: one more waits"
	}
	lines := fitting(nil, maxNotice-len(n.Title), waiting)
	if l.Web != "" {
		lines = append(lines, "All of them: "+l.Web+"/")
	}
	n.Text = whole(lines)
	return n
}

// Digest summarises a period.
type Digest struct {
	From, Until  time.Time
	Repositories []RepoDigest // with activity
	Waiting      []string     // for a person, longest wait first, as [TaskLine] and [PolicyLine] name them
}

// RepoDigest summarises a period in one repository.
type RepoDigest struct {
	Repo            sia.Repo
	Started         int // tasks, including restarted ones
	Passed, Stopped int // tasks that ended
	Asked           int // tasks that asked a person
	Credits         sia.Credits
}

// Summary is the notice of a digest.
func Summary(d Digest, l Links) Notice {
	const form = "2 Jan 15:04"
	n := Notice{Title: fmt.Sprintf("SIA from %s to %s UTC", d.From.UTC().Format(form), d.Until.UTC().Format(form))}
	var all RepoDigest
	var each []string
	for _, r := range d.Repositories {
		all.Started += r.Started
		all.Passed += r.Passed
		all.Stopped += r.Stopped
		all.Asked += r.Asked
		all.Credits += r.Credits
		each = append(each, r.Repo.String()+": "+r.words())
	}
	lines := []string{sentenceCase(all.words()) + " (" + usd(all.Credits) + ")."}
	if ended := all.Passed + all.Stopped; ended > 0 {
		lines = append(lines, fmt.Sprintf("Success rate: %.0f %% (%d of %s that ended).",
			100*float64(all.Passed)/float64(ended), all.Passed, text.Count(ended, "task")))
	}
	room := maxNotice - len(n.Title) - len(whole(lines)) - 200 // for the lines between, and the last
	lines = fitting(append(lines, ""), room*2/5, each)
	if len(d.Waiting) > 0 {
		lines = append(lines, "", fmt.Sprintf("%d now waiting for a person, longest first:", len(d.Waiting)))
		lines = fitting(lines, room*3/5, d.Waiting)
	}
	if l.Web != "" {
		lines = append(lines, "", l.Web+"/")
	}
	n.Text = whole(lines)
	return n
}

// TestNotice is a test message for the setup of notices.
func TestNotice(l Links) Notice {
	lines := []string{"This is what `sia notify test` sends. Nothing is wrong and nobody has to do anything: messages " +
		"of SIA arrive here."}
	if l.Web != "" {
		lines = append(lines, l.Web+"/")
	}
	return Notice{Title: "SIA: a test", Text: whole(lines)}
}

// words lists the counts, without a full stop.
func (r RepoDigest) words() string {
	return fmt.Sprintf("%d started, %d passed, %d stopped, %d asked a person, %s credits", r.Started, r.Passed,
		r.Stopped, r.Asked, r.Credits)
}

// needed is what a task waits for, and how a person can continue it; how is empty where what includes it.
func needed(t sia.Task) (what, how string) {
	e := t.Escalation
	if t.State != sia.Escalated || e == nil {
		return sentenceCase(Waiting(t)), ""
	}
	switch e.Kind {
	case sia.AskPlan, sia.AskAlready, sia.AskEdited:
		return e.Question, awaitedAnswer(*e)
	}
	if e.AboutChecks() {
		return e.Question, "Tick a box there, or comment `/sia answer` and its letter."
	}
	return e.Question, "Tick a box there, or comment `/sia answer` and your own words."
}

// askedAt is the address at which a person acts: that of the question's issue, if it has one, or of the pull request
// that is green.
func askedAt(t sia.Task, l Links) string {
	if t.State == sia.Passed {
		return l.Pull(t.Repo, t.Pull.Number)
	}
	if t.State == sia.Escalated && t.Escalation != nil && t.Escalation.Issue != 0 {
		return l.Issue(t.Repo, t.Escalation.Issue)
	}
	return l.Issue(t.Repo, t.Issue)
}

// TaskLine names a task that waits for a person, and where.
func TaskLine(t sia.Task, l Links) string {
	return fmt.Sprintf("%s#%d %s %s", t.Repo, t.Issue, plain(t.Title, 60), askedAt(t, l))
}

// PolicyLine names a change of a policy that waits for a person, and where.
func PolicyLine(c PolicyChange, l Links) string {
	return fmt.Sprintf("%s policy %s %s", c.Place, plain(c.Name+": "+c.Change, 60), l.Pull(c.Place, c.Pull))
}

// fitting appends the lines that fit in room bytes, and the number of those left out.
func fitting(to []string, room int, lines []string) []string {
	for i, line := range lines {
		if room -= len(line) + 1; room < 0 {
			return append(to, fmt.Sprintf("… and %d more", len(lines)-i))
		}
		to = append(to, line)
	}
	return to
}

// plain is foreign text on one line of at most limit characters, for text without markup.
func plain(foreign string, limit int) string { return Neutralise(cut(oneLine(foreign), limit)) }

func whole(lines []string) string { return strings.Join(lines, "\n") + "\n" }
