package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/text"
)

// EscalationTitle is the title of the issue with a question.
func EscalationTitle(t sia.Task, e sia.Escalation) string {
	question := oneLine(e.Question)
	if question == "" {
		question = oneLine(t.Title)
	}
	return title(fmt.Sprintf("SIA needs an answer for issue %d: %s", t.Issue, question))
}

// EscalationBody is the text of the issue that asks a person one question. It begins with the question; SIA's reasoning
// is folded. Its tick boxes are the only ones: foreign text can't add any.
func EscalationBody(t sia.Task, e sia.Escalation, l Links) string {
	var p page
	how := fmt.Sprintf("Tick a box, comment `/sia answer %s`, or comment in your own words.", firstLetter(e))
	if e.AboutChecks() {
		how = fmt.Sprintf("Tick a box, or comment `/sia answer %s`.", firstLetter(e))
	}
	rest := how + fmt.Sprintf(" #%d waits until then, and nothing is spent.", t.Issue)
	p.add(briefQuestion(e, maxQuestion-words(rest)))
	p.add(rest)
	p.fold("Why SIA asks, what was tried, and where to look", escalationInFull(t, e, l))
	return p.String()
}

func escalationInFull(t sia.Task, e sia.Escalation, l Links) string {
	var p page
	p.add(escalationIntro(t, e))
	p.add("### What stands in the way\n\n" + Quote(cut(e.Blocker, maxProse)))
	if e.Kind == sia.AskNoChecks && len(t.Checks) == 0 && t.Pull.Number != 0 {
		// https://github.com/lewiswigmore/open-wire/issues/40
		p.add(fmt.Sprintf("Where workflows should have run: GitHub sometimes starts none for a push. Close #%d and open "+
			"it again within a minute; that starts them, and SIA looks again by itself.", t.Pull.Number))
	}
	p.add("### The question in full\n\n" + wholeQuestion(e))
	p.add("### How to answer\n\n" + howToAnswer(t, e))
	p.add(tried(t, l))
	p.add("### Where to look\n\n" + escalationPlaces(t, l))
	return p.text()
}

// escalationIntro says why SIA asks. If an earlier run of the task has passed, it is about the requests since.
func escalationIntro(t sia.Task, e sia.Escalation) string {
	if e.Kind == sia.AskNoChecks {
		return fmt.Sprintf("SIA worked on #%d and pushed a commit, but no check has said anything about it. SIA calls "+
			"nothing done that no check has confirmed, so it needs a person.", t.Issue)
	}
	if e.Kind == sia.AskBlocked {
		return fmt.Sprintf("SIA worked on #%d and pushed a commit. What its checks wait for is nothing that another attempt "+
			"could change, so it needs a person. No approach is used up by this.", t.Issue)
	}
	s, end := "", "none made the checks green"
	if i := slices.IndexFunc(t.Attempts, func(a sia.Attempt) bool { return a.Outcome == sia.AttemptPass }); i >= 0 {
		s = fmt.Sprintf("Attempt %d made every required check green; this is about what was asked for since. ",
			t.Attempts[i].Number)
		end = "the checks are not green with that yet"
	}
	n := len(t.Prompts)
	approaches := text.Count(n, "approach", "approaches")
	switch {
	case e.Early != "":
		s += fmt.Sprintf("SIA tried %s at #%d and asks before it tries another: %s.", approaches, t.Issue,
			Line(strings.TrimSuffix(e.Early, "."), 400))
	case n == 0:
		s += fmt.Sprintf("SIA can't go on with #%d by itself.", t.Issue)
	case t.ApproachesLeft() == 0:
		s += fmt.Sprintf("SIA tried %s at #%d, as many as it may; %s.", approaches, t.Issue, end)
	default:
		s += fmt.Sprintf("SIA tried %s at #%d and stopped early, because what is missing is something that only a person "+
			"can give.", approaches, t.Issue)
	}
	return s + " Nothing runs and nothing is spent until you answer."
}

// mostOption is the most words of an option next to its box. SIA's own options have no more.
const mostOption = 18

// briefQuestion is the question, with its options as tick boxes and the obstacles, in at most room words.
func briefQuestion(e sia.Escalation, room int) string {
	room -= 6 + 4*len(e.Options) + 1 // something else; a box, a letter, a dash, fastest
	blocker := text.MostTelling(visible(e.Blocker))
	asked, each, blocked := 30, mostOption, 20
	for each > 1 {
		need := min(asked, words(e.Question)) + min(blocked, words(blocker))
		for _, o := range e.Options {
			need += min(each, words(o.Text))
		}
		if need <= room {
			break
		}
		if asked > 12 { // people tick what they can read: the options are cut last
			asked, blocked = asked*9/10, blocked*9/10
		} else {
			each--
		}
	}
	var b strings.Builder
	b.WriteString("**" + few(e.Question, asked) + "**\n\n")
	for _, o := range e.Options {
		b.WriteString(escalate.Box(sia.Option{Letter: letter(o.Letter), Text: few(o.Text, each)}, false))
		if o.Fastest {
			b.WriteString(" *(fastest)*")
		}
		b.WriteString("\n")
	}
	b.WriteString("- Something else — answer in a comment\n")
	if blocker != "" {
		b.WriteString("\n> " + few(blocker, blocked))
	}
	return b.String()
}

// wholeQuestion is the full question with its options, without boxes to tick.
func wholeQuestion(e sia.Escalation) string {
	s := "**" + Line(e.Question, 1000) + "**\n"
	for _, o := range e.Options {
		s += "\n- **" + letter(o.Letter) + "** — " + Line(o.Text, 600)
	}
	return s
}

// firstLetter is the letter of an option, for an example.
func firstLetter(e sia.Escalation) string {
	if len(e.Options) > 0 {
		return letter(e.Options[0].Letter)
	}
	return "A"
}

// letter limits an option's letter to one capital.
func letter(s string) string {
	if len(s) == 1 && s[0] >= 'A' && s[0] <= 'Z' {
		return s
	}
	return Line(s, 5)
}

func howToAnswer(t sia.Task, e sia.Escalation) string {
	s := fmt.Sprintf("Tick one box, or comment `/sia answer %s`, or `/sia answer` followed by your own words. ",
		firstLetter(e))
	if e.AboutChecks() {
		s = fmt.Sprintf("Tick one box, or comment `/sia answer %s`; only a letter counts here. ", firstLetter(e))
	}
	switch e.Kind {
	case sia.AskNoChecks:
		s += "SIA then does what you chose with the commit that is there."
	case sia.AskBlocked:
		s += "SIA then looks at the checks of the commit that is there once more. It does so by itself when they report."
	case sia.AskAlready:
		s += "`/sia start anyway` has SIA work on the issue, and words after it say what is wanted. Where what was found " +
			"does not keep the issue from being worked on after all, that is the answer too."
	case sia.AskEdited:
		s += "`/sia start` says the same as the first box, and words after it say what is wanted besides. An edit by " +
			"somebody with that access counts by itself."
	case sia.AskQuestion:
		s += "The work then starts, with your answer as a constraint. Asking costs no approach."
	default:
		s += "The task then goes on with your answer as a constraint"
		if t.ApproachesLeft() == 0 {
			s += " and one more approach"
		}
		s += "; this issue is closed with the result when the task ends."
	}
	if !e.Kind.OnIssue() && !e.AboutChecks() {
		s += " A comment here without `/sia answer` is the answer, too, unless it begins with a name or asks something."
	}
	s += fmt.Sprintf(" An answer counts from people with %s access.", permission(t))
	if e.Already != nil && e.Already.Claimed {
		s += " The issue's author needs none to say that it is resolved."
	}
	return s + " `/sia stop` ends the task instead."
}

func tried(t sia.Task, l Links) string {
	if len(t.Attempts) == 0 {
		return ""
	}
	return "### What was tried\n\n" + strings.TrimPrefix(attemptList(t, l), "**Attempts**\n\n")
}

func escalationPlaces(t sia.Task, l Links) string {
	places := []string{fmt.Sprintf("The task: #%d", t.Issue)}
	if t.Pull.Number != 0 {
		kind := "pull request"
		if t.Pull.Draft {
			kind = "draft pull request"
		}
		places = append(places, fmt.Sprintf("The %s: #%d", kind, t.Pull.Number))
	}
	places = append(places, link("What SIA remembers of this task", l.Memory(t)))
	if n := len(t.Attempts); n > 0 {
		var links []string
		for _, a := range t.Attempts[max(0, n-shownAttempts):] {
			links = append(links, link(fmt.Sprintf("attempt %d", a.Number), l.Transcript(t, a.Number)))
		}
		places = append(places, "Full transcripts: "+strings.Join(links, ", "))
	}
	if u := l.Task(t.ID); u != "" {
		places = append(places, link("The timeline, with every decision", u))
	}
	return "- " + strings.Join(places, "\n- ")
}

// AskComment is the question as a comment on the task's issue: the agent asks before it works.
func AskComment(t sia.Task, e sia.Escalation) string {
	var p page
	rest := fmt.Sprintf("Tick a box, or comment `/sia answer %s`, or `/sia answer` and your own words. The work starts "+
		"then; asking costs no approach.", firstLetter(e))
	p.add(briefQuestion(e, maxQuestion-words(rest)))
	p.add(rest)
	var whole page
	if e.Blocker != "" {
		whole.add("### What stands in the way\n\n" + Quote(cut(e.Blocker, maxProse)))
	}
	whole.add("### The question in full\n\n" + wholeQuestion(e))
	whole.add("### How to answer\n\n" + howToAnswer(t, e))
	p.fold("Why SIA asks, and how to answer", whole.text())
	return p.String()
}

// talkIsNoAnswer explains, in a question's issue, which comments are no answer.
func talkIsNoAnswer(t sia.Task) string {
	return fmt.Sprintf("SIA takes this as talk, and not as the answer: it begins with a name or with code, or asks "+
		"something. `/sia answer …` with your words makes it the answer. #%d waits until then. This is said only once.\n",
		t.Issue)
}

// closingIsNoAnswer explains, in a question's issue that a person closed, that closing is no answer.
func closingIsNoAnswer(t sia.Task) string {
	a := "A"
	if t.Escalation != nil {
		a = firstLetter(*t.Escalation)
	}
	return fmt.Sprintf("Closing this answers nothing: #%d still waits. `/sia answer %s` in a comment here works as "+
		"before; `/sia stop` in #%d ends the task.\n", t.Issue, a, t.Issue)
}

// EscalationClosing is the last comment on an escalation issue: how the task ended, or why the question is obsolete.
func EscalationClosing(t sia.Task) string {
	by := ""
	if n := len(t.Answers); n > 0 {
		a := t.Answers[n-1]
		by = " The last answer was by " + person(a.By) + ": " + few(a.Text, 40)
	}
	switch t.State {
	case sia.Passed:
		s := fmt.Sprintf("✅ Solved #%d: %s", t.Issue, allGreenToo(t, ""))
		if t.Pull.Number != 0 && !t.Pull.StaysDraft() && t.Pull.Refused == "" {
			s = fmt.Sprintf("✅ Solved: %s, and #%d is ready for review", allGreenToo(t, ""), t.Pull.Number)
		}
		if t.HeadBy != (sia.Actor{}) {
			return s + ". The commit that did it is by " + pushedBy(t.HeadBy) + "; SIA has noted what was different.\n"
		}
		return s + "." + by + "\n"
	case sia.Stopped:
		s := fmt.Sprintf("⏹️ The task for #%d was stopped, so this question is settled.", t.Issue)
		if t.Ended != "" {
			s += "\n\n" + Quote(t.Ended)
		}
		return s + "\n"
	case sia.Escalated:
		if e := t.Escalation; e != nil && e.Issue != 0 {
			return fmt.Sprintf("SIA has gone on since, and has a newer question: #%d takes this one's place.\n", e.Issue)
		}
		return "SIA has gone on since, and has a newer question, which takes this one's place.\n"
	}
	return fmt.Sprintf("SIA has gone on with #%d, so this question no longer stands.%s\n", t.Issue, by)
}
