package sia

import (
	"strings"
	"testing"
	"time"
)

// acknowledged returns the reactions and the replies of a result.
func acknowledged(r Result) (reactions, said string) {
	for _, f := range r.Effects {
		switch f.Kind {
		case DoReact:
			reactions += f.Content + " "
		case DoReply:
			said += f.Content
		}
	}
	return strings.TrimSpace(reactions), said
}

// A command or an answer that was accepted gets 🚀 if it takes effect, else 👀 and a reply with the reason. A review
// can have no reaction. An event from a page has its answer there.
func TestAcknowledged(t *testing.T) {
	asks := ofItsOwn(t)
	paused := Step(asks, saidIn("pause", PauseAsked{Reason: "@ada said `/sia pause`"})).Task
	begin := Event{ID: "start", By: person, Fact: Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}}
	queued := Step(Task{}, begin).Task
	halt := PauseAsked{Reason: "everything in this repository is paused", Scope: RepositoryHalt(9)}
	halted := Step(queued, Event{ID: "halt", Fact: halt}).Task
	broke := halted.clone()
	broke.Pause = &Pause{From: Queued, Kind: PausedByCredits, Reason: "the task's 9 credits are used up"}
	working, checking, passed := queued.clone(), asks.clone(), passedTask()
	working.State, checking.State = Working, Checking
	checking.Head = "c1"
	checking.Escalation = asks.Escalation
	checking.Pull = Pull{Number: 12}
	asks.Pull = Pull{Number: 12}

	comment := Origin{OnIssue: 9, Comment: 5}
	order := Origin{OnIssue: 3, Comment: 5, Command: true}
	for _, c := range []struct {
		name   string
		task   Task
		fact   Fact
		origin Origin
		halted string
		react  string
		said   string // part of the reply; empty: none
	}{
		{"a comment that answers", asks, AnswerGiven{Text: "this"}, comment, "", "rocket", ""},
		{"a ticked box", asks, AnswerGiven{Letter: "A"}, Origin{OnIssue: 9}, "", "rocket", ""},
		{"an answer from a page", asks, AnswerGiven{Letter: "A"}, Origin{}, "", "", ""},
		{"a review that answers", asks, ChangesAsked{Review: 7}, Origin{OnIssue: 12}, "", "",
			"noted: the next attempt is given what the review asks for"},
		{"an answer while paused", paused, AnswerGiven{Letter: "A"}, comment, "", "eyes",
			"it waits because @ada said `/sia pause`; `/sia resume` goes on where it stopped"},
		{"an answer while checks run", checking, AnswerGiven{Letter: "A"}, comment, "", "eyes",
			"the checks of c1 come first: if they are red, the next attempt is given it"},
		{"credits while everything is paused", halted, Resume{Credits: 50 * Credit}, order, "", "eyes",
			"everything in this repository is paused; `/sia resume all` goes on with everything in this repository"},
		{"a technique while it is paused", halted, Use{Technique: "decomposition"}, order, "", "eyes", "`/sia resume all`"},
		{"a technique before the first attempt", queued, Use{Technique: "decomposition"}, order, "", "eyes",
			"attempt 1 comes first: if that fails, it is used for the next"},
		{"a coder before the first attempt", queued, Use{Coder: "fast"}, order, "", "rocket", ""},
		{"a coder while it works", working, Use{Coder: "fast"}, order, "", "eyes", "if that fails, it works on the next"},
		{"words while checks run", checking, ChangesAsked{Text: "shorter"}, order, "", "eyes",
			"the checks of c1 come first: the next attempt is given it"},
		{"a start", Task{}, begin.Fact, order, "", "eyes rocket", ""},
		{"a start of many", Task{}, Start{Repo: Repo{ID: 9}, Issue: 3, Wait: 20}, order, "", "eyes",
			"other tasks that @ada started come first: it begins in 20s"},
		{"a start while everything is paused", Task{}, begin.Fact, order, "all rests; somebody ends that", "eyes",
			"noted, but it waits because all rests; somebody ends that"},
		{"a label while everything is paused", Task{}, begin.Fact, Origin{OnIssue: 3}, "all rests", "eyes", ""},
		{"more credits", queued, Resume{Credits: Credit}, order, "", "rocket", ""},
		{"credits that were used up", broke, Resume{Credits: 50 * Credit}, order, "", "rocket", ""},
		{"a look at the checks while everything is paused", passed, Start{Repo: passed.Repo, Issue: passed.Issue,
			Title: passed.Title, Body: passed.Body}, order, "all rests", "eyes rocket", "nothing new is asked for"},
	} {
		e := Event{ID: "e", At: time.Unix(9, 0), By: person, Origin: c.origin, Fact: c.fact, Halted: c.halted}
		r := Step(c.task, e)
		react, said := acknowledged(r)
		if r.Ignored != "" || react != c.react || !strings.Contains(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%s: ignored %q, %q, %q", c.name, r.Ignored, react, said)
		}
	}
}

// A task that has used up its credits does not go on without more, and its person learns how to give them.
func TestResumeNeedsCredits(t *testing.T) {
	start := Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}
	task := Step(Task{}, Event{ID: "start", By: person, Fact: start}).Task
	task.State = OnHold
	task.Pause = &Pause{From: Queued, Kind: PausedByCredits, Reason: "the task's 9 credits are used up (9 spent)"}
	for _, f := range []Fact{Resume{}, Retry{}} {
		r := Step(task, Event{ID: "e", By: person, Origin: Origin{OnIssue: 3, Comment: 5, Command: true}, Fact: f})
		want := "the task's 9 credits are used up (9 spent), so say how many more it may spend: `/sia resume +50` adds 50 " +
			"credits (0.50 USD) and goes on"
		if react, said := acknowledged(r); r.Task.State != OnHold || react != "" || said != want {
			t.Errorf("%s: %s, %q, %q", f.Kind(), r.Task.State, react, said)
		}
	}
}
