package sia

import (
	"strings"
	"testing"
	"time"
)

// ofItsOwn is a task that asks, in issue 9, which of two things to do.
func ofItsOwn(t *testing.T) Task {
	t.Helper()
	task := asked(t)
	task.Escalation = &Escalation{Number: 2, Kind: AskIssue, Question: "Which?", Issue: 9,
		Options: []Option{{Letter: "A", Text: "this"}, {Letter: "B", Text: "that"}}}
	return task
}

// saidIn is what a person does in the question's issue.
func saidIn(id string, f Fact) Event {
	return Event{ID: id, At: time.Unix(9, 0), By: person, Origin: Origin{OnIssue: 9, Comment: 5}, Fact: f}
}

// replies are what a result says to people.
func replies(r Result) (all []string) {
	for _, f := range r.Effects {
		if f.Kind == DoReply {
			all = append(all, f.Content)
		}
	}
	return all
}

// An answer of which nobody can tell what it means is asked for again, with the letters that there are: in words, where
// it came from a page, and on GitHub where it was given, with or without a command.
func TestAnswerThatMeansNothing(t *testing.T) {
	task := ofItsOwn(t)
	command, page := saidIn("c", AnswerGiven{}), saidIn("p", AnswerGiven{})
	command.Origin.Command, page.Origin = true, Origin{}
	for want, events := range map[int][]Event{1: {saidIn("a", AnswerGiven{Letter: "D"}), saidIn("b", AnswerGiven{}), command},
		0: {page}} {
		for _, e := range events {
			r := Step(task, e)
			if r.Task.State != Escalated || !strings.Contains(r.Ignored, "the letters here are A and B") ||
				len(replies(r)) != want {
				t.Errorf("%s: %s, %q, answered %q", e.ID, r.Task.State, r.Ignored, replies(r))
			}
		}
	}
}
