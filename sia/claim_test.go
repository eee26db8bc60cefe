package sia

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaimOf(t *testing.T) {
	for summary, want := range map[string]*Claim{
		"Already so\nTest: go test ./x -run TestY\nCommit: 1a2b3c4 x/y.go z": {"go test ./x -run TestY", "1a2b3c4",
			[]string{"x/y.go", "z"}},
		"I looked.\n\n- **Already so.**\n- Test: `sh a.sh`": {Command: "sh a.sh"},
		"Already so":                        {},
		"already so: yes\ncommit: HEAD~1 x": {},
		"Test: sh a.sh\nIt is already so":   nil,
		"Test: sh a.sh":                     nil,
		"":                                  nil,
	} {
		got, claims := ClaimOf(summary)
		if claims != (want != nil) || want != nil && cmp.Diff(*want, got) != "" {
			t.Errorf("%q: %v, %+v", summary, claims, got)
		}
	}
}

// claims ends the first attempt with a claim.
func claims(t *testing.T, wrong string) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.begins("")
	p.ends(AttemptEnded{End: EndFinished, Cost: 100,
		Claim: &ClaimCheck{Claim: Claim{Command: "sh a.sh", Commit: "1a2b3c4"}, Base: "base", URL: "u", Wrong: wrong}})
	return p
}

// A claim with valid evidence is asked about, once in a run and at no approach; the answer goes to the next attempt.
func TestSo(t *testing.T) {
	p := claims(t, "")
	e := p.task.Escalation
	if p.task.State != Escalated || e.Kind != AskAlready || len(p.task.Prompts) > 0 || p.task.Failures > 0 ||
		!strings.Contains(e.Already.What, "`sh a.sh` on `main`, and it passes; commit 1a2b3c4 did it") {
		t.Fatalf("%s: %+v", p.task.State, e)
	}
	stopped := Step(p.task, Event{ID: "b", By: person, Fact: AnswerGiven{Letter: "B"}}).Task
	if stopped.State != Stopped {
		t.Errorf("resolved, and it is %s", stopped.State)
	}
	for _, fact := range []Fact{AnswerGiven{Letter: "A", Text: "not on Windows"}, AnswerGiven{Text: "not on Windows"},
		Start{Anyway: true, Text: "not on Windows"}} {
		q := *p
		q.says(fact)
		q.begins("")
		if a := q.task.Brief.Answers; len(a) != 1 || !strings.Contains(a[0], "still broken") ||
			!strings.HasSuffix(a[0], "not on Windows") {
			t.Errorf("%T: the next attempt is told %q", fact, a)
		}
		q.ends(AttemptEnded{End: EndFinished, Claim: &ClaimCheck{Claim: Claim{Command: "sh a.sh"}}})
		if q.wantState(Diagnosing); !strings.Contains(q.task.Attempt().Reason, "a person wants") {
			t.Errorf("asked again: %+v", q.task.Attempt())
		}
	}
}

// A test that could not be run does not count against the claim: the commit is asked about, or else the claim alone.
func TestSoNotRun(t *testing.T) {
	for commit, want := range map[SHA]string{
		"1a2b3c4": "commit 1a2b3c4 did it",
		"":        "an attempt says so, but its test `sh a.sh` could not be run: there is no sandbox",
	} {
		p := &taskDriver{t: t}
		p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
		p.begins("")
		p.ends(AttemptEnded{End: EndFinished, Claim: &ClaimCheck{Claim: Claim{Command: "sh a.sh", Commit: commit},
			Base: "base", NotRun: "there is no sandbox"}})
		if e := p.task.Escalation; p.task.State != Escalated || e.Kind != AskAlready || e.Already.What != want ||
			len(p.task.Prompts) > 0 || p.task.Failures > 0 {
			t.Errorf("%q: %s: %+v", commit, p.task.State, e)
		}
	}
}

// The issue's author may say that it is resolved, whatever their access: the task then ends. Work takes a person with
// access, and only this question is the author's.
func TestAuthorResolves(t *testing.T) {
	p := claims(t, "")
	p.task.Author = "Ada"
	anyway := p.task
	open := *anyway.Escalation
	open.Already = &Already{What: "pull request #7, which is open, closes this issue"}
	anyway.Escalation = &open
	answered := p.task
	was := *answered.Escalation
	was.Answered = true
	answered.Escalation = &was
	for _, c := range []struct {
		task Task
		by   string
		fact Fact
		want bool
	}{
		{p.task, "ada", AnswerGiven{Letter: "B"}, true},
		{p.task, "ada", AnswerGiven{Letter: "B", Text: "since 1.2"}, true},
		{p.task, "ada", Stop{}, true},
		{p.task, "ada", AnswerGiven{Letter: "A"}, false},
		{p.task, "ada", AnswerGiven{Text: "not on Windows"}, false},
		{p.task, "ada", Start{Anyway: true}, false},
		{p.task, "bob", AnswerGiven{Letter: "B"}, false},
		{p.task, "", AnswerGiven{Letter: "B"}, false},
		{anyway, "ada", AnswerGiven{Letter: "B"}, false},
		{answered, "ada", AnswerGiven{Letter: "B"}, false},
		{answered, "ada", Stop{}, false},
		{Task{Author: "ada"}, "ada", Stop{}, false},
	} {
		e := Event{By: Actor{Login: c.by}, Origin: Origin{Command: true}, Fact: c.fact}
		if got := c.task.AuthorResolves(e); got != c.want {
			t.Errorf("%s by %q: %v", c.fact.Kind(), c.by, got)
		}
	}
	nobody := p.task
	nobody.Author = ""
	if nobody.AuthorResolves(Event{Fact: Stop{}, Origin: Origin{Command: true}}) {
		t.Error("a deleted account counts as the author")
	}
}

// A claim with invalid evidence is a failed attempt that names the evidence.
func TestSoThatDoesNotHold(t *testing.T) {
	p := claims(t, "`sh a.sh` fails on `main`:\nno greeting")
	a := p.task.Attempt()
	if p.task.State != Diagnosing || a.Outcome != AttemptFail || len(p.task.Prompts) != 1 ||
		!strings.Contains(a.Reason, "`sh a.sh` fails on `main`: no greeting") || len(a.Failures) != 1 {
		t.Errorf("%s: %+v", p.task.State, a)
	}
}
