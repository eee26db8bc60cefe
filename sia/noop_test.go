package sia

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An event that changes nothing leaves the task and its version unchanged, and people are still answered.
func TestWhatChangesNothingIsNoEvent(t *testing.T) {
	passed := passedTask()
	start := Step(Task{}, Event{ID: "start", By: person,
		Fact: Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", Body: "so"}})
	working := start.Task
	paused := Step(working, Event{ID: "pause", By: person, Fact: PauseAsked{Reason: "lunch"}}).Task
	wanted := Step(working, Event{ID: "use", By: person, Fact: Use{Coder: "fast"}}).Task
	said := func(id int64) Origin { return Origin{OnIssue: 3, Comment: id, Command: true} }
	for _, c := range []struct {
		name    string
		task    Task
		fact    Fact
		origin  Origin
		answers int // number of answers to a comment
	}{
		{"a question", working, Query{Topic: "status"}, said(1), 1},
		{"a refusal", working, Query{Topic: "say", Text: "you may not"}, said(1), 1},
		{"what was done already", working, Query{Topic: "say", Text: "done", Obeyed: true}, said(1), 2},
		{"an answer to no question", working, AnswerGiven{Letter: "A"}, Origin{}, 0},
		{"the same, as a command", working, AnswerGiven{Letter: "A"}, said(1), 1},
		{"the same edition", working, Edited{Title: "Do it", Body: "so"}, Origin{OnIssue: 3}, 0},
		{"a label while it works", working, Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}, Origin{OnIssue: 3}, 0},
		{"a label while it is paused", paused, Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}, Origin{OnIssue: 3}, 0},
		{"the coder that was asked for", wanted, Use{Coder: "fast"}, said(1), 1},
		{"checks of another commit", passed, CheckSeen{SHA: "other"}, Origin{}, 0},
		{"checks before there are any", working, CheckSeen{SHA: "other"}, Origin{}, 0},
		{"the branch where it was", passed, BranchMoved{SHA: passed.Head}, Origin{}, 0},
		{"the same base", working, Retargeted{Base: working.BaseBranch}, Origin{}, 0},
		{"a review that was not there", working, ChangesWithdrawn{}, Origin{}, 0},
		{"a thread that was open", working, ThreadSettled{Thread: 1, Again: true}, Origin{}, 0},
		{"an intervention that was not", working, Rated{Intervention: 4, Good: true}, Origin{}, 0},
		{"an end that has come", passed, Stop{Reason: "closed"}, Origin{}, 0},
		{"a plan that is not there", working, Approve{}, said(1), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := c.task
			keys := map[string]bool{}
			for i := range 60 {
				e := Event{ID: fmt.Sprintf("comment/%d", i), By: Actor{Login: "mallory", ID: 6}, Fact: c.fact, Origin: c.origin}
				r := Step(task, e)
				if d := cmp.Diff(c.task, r.Task); d != "" || r.Ignored == "" || len(r.Effects) != c.answers {
					t.Fatalf("ignored %q, %d answers:\n%s", r.Ignored, len(r.Effects), d)
				}
				for _, f := range r.Effects {
					if keys[f.Key] || !f.Aside {
						t.Errorf("%+v is not its own", f)
					}
					keys[f.Key] = true
				}
				if again := Step(r.Task, e); cmp.Diff(r, again) != "" {
					t.Error("the same event led to something else")
				}
				task = r.Task
			}
		})
	}
}
