package sia

import (
	"strings"
	"testing"
	"time"
)

func TestCloses(t *testing.T) {
	repo := Repo{Owner: "acme", Name: "shop.js"}
	for text, want := range map[string]bool{
		"Fixes #3":                                        true,
		"fix: greet\n\nCloses: #3.":                       true,
		"RESOLVED GH-3":                                   true,
		"it is closed acme/shop.js#3 now":                 true,
		"fix Acme/Shop.js#3":                              true,
		"fixes https://github.com/acme/shop.js/issues/3":  true,
		"fixes https://github.com/acme/shop.js/issues/31": false,
		"fixes #31":                                       false,
		"fixes acme/other#3":                              false,
		"fixes acme/shopxjs#3":                            false,
		"prefixes #3":                                     false,
		"see #3":                                          false,
		"what is to fix:\n#3 and #4":                      false,
		"fixes#3":                                         false,
	} {
		if got := Closes(text, repo, 3); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A reverted commit closes nothing, unless the revert was reverted.
func TestClosingCommit(t *testing.T) {
	at := func(n string, message string) Commit {
		return Commit{SHA: SHA(strings.Repeat(n, 40)), Message: message}
	}
	undo := func(n string) string {
		return "Revert \"Greet, fixes #3\"\n\nThis reverts commit " + strings.Repeat(n, 40) + "."
	}
	fix := at("a", "Greet, fixes #3")
	for name, c := range map[string]struct {
		newestFirst []Commit
		want        string
	}{
		"none":                 {[]Commit{at("b", "Greet, see #3")}, ""},
		"one":                  {[]Commit{at("b", "More"), fix}, "a"},
		"the newest":           {[]Commit{at("b", "closes #3"), fix}, "b"},
		"reverted":             {[]Commit{at("b", undo("a")), fix}, ""},
		"reverted, then again": {[]Commit{at("c", undo("b")), at("b", undo("a")), fix}, "a"},
		"reverted by its pull request": {[]Commit{at("b", "Revert \"Greet\" (#8)\n\nReverts acme/shop#7"),
			at("a", "Greet (#7)\n\nFixes #3")}, ""},
		"another pull request reverted": {[]Commit{at("b", "Revert \"Greet\" (#8)\n\nReverts acme/shop#9"),
			at("a", "Merge pull request #7 from acme/greet\n\nFixes #3")}, "a"},
	} {
		got, ok := ClosingCommit(c.newestFirst, Repo{Owner: "acme", Name: "shop"}, 3)
		if ok != (c.want != "") || string(got.SHA) != strings.Repeat(c.want, 40)[:len(got.SHA)] {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// asked returns a task that asks whether to work on the issue, which something else resolves.
func asked(t *testing.T) Task {
	t.Helper()
	r := Step(Task{}, Event{ID: "start", By: person, Fact: Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}})
	begin := ""
	for key, kind := range r.Task.Pending {
		if kind == DoBegin {
			begin = key
		}
	}
	r = Step(r.Task, Event{ID: begin, Effect: begin, Fact: Begun{Settings: DefaultSettings(), Title: "Do it",
		Already: &Already{URL: "https://github.com/o/r/pull/7", What: "pull request #7, which is open, closes this issue"}}})
	return r.Task
}

// No credits and no approach are used before a person answers.
func TestAlready(t *testing.T) {
	task := asked(t)
	e := task.Escalation
	if task.State != Escalated || e == nil || e.Kind != AskAlready || len(task.Attempts)+len(task.Prompts) > 0 ||
		task.Credits.Spent+task.Credits.Reserved != 0 {
		t.Fatalf("%s with %+v, %+v", task.State, e, task.Credits)
	}
	for name, c := range map[string]struct {
		fact   Fact
		state  State
		anyway bool
		words  string
	}{
		"tick":             {AnswerGiven{Letter: "A"}, Queued, true, ""},
		"with words":       {AnswerGiven{Letter: "A", Text: "keep the API"}, Queued, true, "keep the API"},
		"words":            {AnswerGiven{Text: "go on from there"}, Queued, true, "go on from there"},
		"stop":             {AnswerGiven{Letter: "B"}, Stopped, false, ""},
		"start anyway":     {Start{Anyway: true}, Queued, true, ""},
		"start with words": {Start{Anyway: true, Text: "be brief"}, Queued, true, "be brief"},
		"plain start":      {Start{}, Escalated, false, ""},
		"retry":            {Retry{}, Queued, true, ""},
	} {
		r := Step(task, Event{ID: "p", At: time.Unix(9, 0), By: person, Origin: Origin{Command: true}, Fact: c.fact})
		if r.Task.State != c.state || r.Task.Anyway != c.anyway || strings.Join(r.Task.Brief.Answers, "") != c.words {
			t.Errorf("%s: %s, anyway %v, %q", name, r.Task.State, r.Task.Anyway, r.Task.Brief.Answers)
		}
		if c.anyway && r.Task.ChecksIfResolved() {
			t.Errorf("%s: it looks once more", name)
		}
	}
}

// The check is made before the first attempt of a run, and when the issue was edited.
func TestLooksForDone(t *testing.T) {
	worked := []Attempt{{Number: 1, Outcome: AttemptFail}}
	for name, c := range map[string]struct {
		task Task
		want bool
	}{
		"new":           {Task{}, true},
		"worked":        {Task{Attempts: worked}, false},
		"edited":        {Task{Attempts: worked, Edited: &Edit{}}, true},
		"edited anyway": {Task{Attempts: worked, Edited: &Edit{}, Anyway: true}, false},
		"started again": {Task{Attempts: worked, Earlier: 1}, true},
		"a plan":        {Task{Attempts: []Attempt{{Number: 1, Planning: true, Outcome: AttemptAsked}}}, true},
	} {
		if got := c.task.ChecksIfResolved(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
