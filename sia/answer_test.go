package sia

import (
	"strings"
	"testing"
	"time"
)

// ofItsOwn returns a task that asks, in issue 9, which of two things to do.
func ofItsOwn(t *testing.T) Task {
	t.Helper()
	task := asked(t)
	task.Escalation = &Escalation{Number: 2, Kind: AskIssue, Question: "Which?", Issue: 9,
		Options: []Option{{Letter: "A", Text: "this"}, {Letter: "B", Text: "that"}}}
	return task
}

// saidIn returns an event of a person in the question's issue.
func saidIn(id string, f Fact) Event {
	return Event{ID: id, At: time.Unix(9, 0), By: person, Origin: Origin{OnIssue: 9, Comment: 5}, Fact: f}
}

// replies returns the texts of a result's replies.
func replies(r Result) (all []string) {
	for _, f := range r.Effects {
		if f.Kind == DoReply {
			all = append(all, f.Content)
		}
	}
	return all
}

// An unclear answer is asked for again, with the valid letters: as the reason, if it came from a page, and by a reply
// on GitHub, with or without a command.
func TestAnswerThatMeansNothing(t *testing.T) {
	task := ofItsOwn(t)
	command, page := saidIn("c", AnswerGiven{}), saidIn("p", AnswerGiven{})
	command.Origin.Command, page.Origin = true, Origin{}
	for want, events := range map[int][]Event{
		1: {saidIn("a", AnswerGiven{Letter: "D"}), saidIn("b", AnswerGiven{}), command}, 0: {page},
	} {
		for _, e := range events {
			r := Step(task, e)
			if r.Task.State != Escalated || !strings.Contains(r.Ignored, "the letters here are A and B") ||
				len(replies(r)) != want {
				t.Errorf("%s: %s, %q, answered %q", e.ID, r.Task.State, r.Ignored, replies(r))
			}
		}
	}
}

// A question about checks takes a letter, and words with it; words alone are asked again.
func TestOnlyLettersAboutChecks(t *testing.T) {
	task := ofItsOwn(t)
	task.Head, task.Escalation.Kind = "c1", AskNoChecks
	r := Step(task, saidIn("a", AnswerGiven{Text: "stop, there will be none"}))
	if said := replies(r); r.Task.State != Escalated || len(said) != 1 || !strings.Contains(said[0], "here A and B") {
		t.Errorf("%s, %q", r.Task.State, said)
	}
	if r := Step(task, saidIn("b", AnswerGiven{Letter: "A", Text: "it runs now"})); r.Task.State != Checking {
		t.Errorf("%s, %q", r.Task.State, r.Ignored)
	}
}

// A stopped task shows no check as running: nobody looks at its end.
func TestStopDropsUnfinishedChecks(t *testing.T) {
	task := ofItsOwn(t)
	task.State, task.Checks = Checking, []Check{{Name: "lint", Colour: Green}, {Name: "test", Colour: Running}}
	r := Step(task, saidIn("a", Stop{Reason: "enough"}))
	if c := r.Task.Checks; len(c) != 1 || c[0].Name != "lint" || len(task.Checks) != 2 || task.Checks[1].Name != "test" {
		t.Errorf("%+v, before %+v", c, task.Checks)
	}
}

// SIA replies once each that a comment in a question's issue, and closing it, is no answer. The task keeps waiting, and
// its log has both events.
func TestNotAnswered(t *testing.T) {
	for name, fact := range map[string]Fact{"talk": NotAnswered{}, "shut": NotAnswered{Closed: true}} {
		for _, hold := range []bool{false, true} {
			task := ofItsOwn(t)
			if hold {
				task = Step(task, saidIn("pause", PauseAsked{Reason: "lunch"})).Task
			}
			r := Step(task, saidIn("a", fact))
			if r.Task.State != task.State || r.Task.Escalation.Answered || r.Ignored != "" || r.Why == "" ||
				r.Task.Version != task.Version+1 || len(replies(r)) != 1 || replies(r)[0] != "topic:"+name {
				t.Errorf("%s, %s: %q, %q, answered %q", name, task.State, r.Why, r.Ignored, replies(r))
			}
			if again := Step(r.Task, saidIn("b", fact)); len(again.Effects) != 0 || again.Task.Version != r.Task.Version {
				t.Errorf("%s, %s: said again: %+v", name, task.State, again.Effects)
			}
			other := NotAnswered{Closed: name == "talk"}
			if told := Step(r.Task, saidIn("c", other)); len(replies(told)) != 1 {
				t.Errorf("%s, %s: the other is not said: %q", name, task.State, told.Ignored)
			}
		}
	}
	answered := Step(ofItsOwn(t), saidIn("a", AnswerGiven{Letter: "A"})).Task
	if r := Step(answered, saidIn("b", NotAnswered{Closed: true})); len(r.Effects) != 0 || r.Ignored == "" {
		t.Errorf("closed after the answer: %+v", r)
	}
}

// The reply to a second answer names the author of the first, with or without a command.
func TestSecondAnswer(t *testing.T) {
	task := Step(ofItsOwn(t), saidIn("a", AnswerGiven{Letter: "A"})).Task
	command, page := saidIn("c", AnswerGiven{Text: "that"}), saidIn("p", AnswerGiven{Letter: "B"})
	command.Origin.Command, page.Origin = true, Origin{}
	want := "answered already, by " + person.Mention()
	for _, e := range []Event{saidIn("b", AnswerGiven{Letter: "B"}), command, page} {
		r := Step(task, e)
		said := replies(r)
		if !strings.Contains(r.Ignored, want) || r.Task.Version != task.Version || len(said) != min(1, e.Origin.OnIssue) {
			t.Errorf("%s: %q, answered %q", e.ID, r.Ignored, said)
		}
	}
	task.Answers = nil
	if r := Step(task, saidIn("d", AnswerGiven{Letter: "B"})); r.Ignored != noWaiting || len(replies(r)) != 0 {
		t.Errorf("after a question that nobody answered: %q, %q", r.Ignored, replies(r))
	}
}

// A change of base voids acceptances, and sets Lapsed until something is accepted again.
func TestAcceptanceLapses(t *testing.T) {
	task := Task{ID: "9-3", Version: 1, State: Checking, Issue: 3, Head: "c1", BaseBranch: "main", Accepted: []SHA{"c1"},
		Settings: DefaultSettings()}
	task = Step(task, Event{ID: "a", By: person, Fact: Retargeted{Base: "v1"}}).Task
	if !task.Lapsed || task.Accepted != nil {
		t.Fatalf("lapsed %v, accepted %v", task.Lapsed, task.Accepted)
	}
	task.Gate.AwaitsPerson = true
	if task = Step(task, Event{ID: "b", By: person, Fact: AcceptTests{}}).Task; task.Lapsed || len(task.Accepted) != 1 {
		t.Errorf("lapsed %v, accepted %v", task.Lapsed, task.Accepted)
	}
}
