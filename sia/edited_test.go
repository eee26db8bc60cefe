package sia

import (
	"cmp"
	"testing"
)

// asksWhichText returns a task after an untrusted user edited the issue.
func asksWhichText(t *testing.T) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", Body: "Politely.", DefaultBranch: "main"})
	p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet",
		Body: "Rudely."})
	p.wantState(Escalated)
	if p.task.Body != "Politely." || len(p.task.Attempts) != 0 || p.task.Escalation.Kind != AskEdited {
		t.Fatalf("the task is %q after %d attempts", p.task.Body, len(p.task.Attempts))
	}
	return p
}

// The task is the text at the time of the request; an edited text needs a person's confirmation.
func TestEditedIssue(t *testing.T) {
	for name, c := range map[string]struct {
		says Fact
		body string
	}{
		"answer":       {AnswerGiven{Letter: "A"}, "Rudely."},
		"words":        {AnswerGiven{Text: "yes, but briefly"}, "Rudely."},
		"retry":        {Retry{}, "Rudely."},
		"start":        {Start{Title: "Greet", Body: "Warmly."}, "Warmly."},
		"edit":         {Edited{Title: "Greet", Body: "Kindly."}, "Kindly."},
		"start anyway": {Start{Title: "Greet", Body: "Rudely.", Anyway: true}, "Rudely."},
	} {
		t.Run(name, func(t *testing.T) {
			p := asksWhichText(t)
			p.says(c.says)
			p.wantState(Queued)
			if p.task.Body != c.body {
				t.Errorf("the task is %q", p.task.Body)
			}
			p.begins("")
			p.wantState(Working)
		})
	}
	p := asksWhichText(t)
	p.says(AnswerGiven{Letter: "B"})
	p.wantState(Stopped)
}

// A confirmation is for the text that was shown: another edit is asked about again.
func TestEditedAgain(t *testing.T) {
	p := asksWhichText(t)
	p.says(AnswerGiven{Letter: "A"})
	p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet",
		Body: "Worse."})
	p.wantState(Escalated)
	if p.task.Escalation.Edition.Body != "Worse." || p.task.Escalation.Number != 2 {
		t.Errorf("asked about %+v", p.task.Escalation)
	}
}

// An edit by a person whose edits count is the task also if only the attempt's beginning finds it, unless a newer edit
// arrived meanwhile.
func TestEditFound(t *testing.T) {
	for _, newer := range []string{"", "Warmly."} {
		p := &taskDriver{t: t}
		p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", Body: "Politely.", DefaultBranch: "main"})
		if newer != "" {
			p.says(Edited{Title: "Greet", Body: newer})
		}
		p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet",
			Body: "Kindly.", EditedBy: Actor{Login: "ada", ID: 1}, Replaces: Brief{}.Hash("Greet", "Politely.")})
		if newer == "" && p.task.State == Escalated || p.task.Body != cmp.Or(newer, "Kindly.") {
			t.Errorf("newer %q: the task is %q, %s", newer, p.task.Body, p.task.State)
		}
	}
}
