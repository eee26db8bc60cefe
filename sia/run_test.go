package sia

import (
	"testing"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// passedTask returns a task that passed with a technique, with an open pull request.
func passedTask() Task {
	set := DefaultSettings()
	return Task{
		ID: "9-3", Version: 9, Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", State: Passed, Settings: set, Head: "green",
		BaseSHA: "base", Pull: Pull{Number: 12}, Attempts: []Attempt{{Number: 1, Outcome: AttemptPass, Head: "green"}},
		Brief: Brief{Technique: Decomposition, Prompt: "in two steps", Steps: []plan.Part{{Do: "this"}},
			WithoutTools: []string{"run"}},
		Final:   &FinalReview{SHA: "green", Done: true},
		Prompts: []Prompt{{Hash: "x"}}, Approaches: 5, Credits: Ledger{Budget: 100 * Credit},
	}
}

func startFact(text string) Start {
	return Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", Text: text}
}

// A start directly after a stop gives the new run its own budget, without the reservation of the attempt that is still
// ending.
func TestBudgetOfARunAfterAStop(t *testing.T) {
	p := &taskDriver{t: t}
	p.says(startFact(""))
	p.begins("")
	set := p.task.Credits
	p.says(Stop{Reason: "said so"})
	p.says(startFact(""))
	p.ends(AttemptEnded{End: EndCancelled, Cost: 5 * Credit})
	if want := (Ledger{Budget: set.Budget + 5*Credit, Spent: 5 * Credit}); p.task.Credits != want || set.Reserved == 0 {
		t.Errorf("%s, after %+v: %+v, want %+v", p.task.State, set, p.task.Credits, want)
	}
}

// The reason of an attempt without a change accounts for earlier changes on the branch.
func TestChangedNothing(t *testing.T) {
	p := &taskDriver{t: t}
	p.says(startFact(""))
	p.begins("")
	p.ends(AttemptEnded{End: EndFinished})
	if r := p.task.Attempt().Reason; r != "it changed nothing" {
		t.Errorf("the first: %q", r)
	}

	p = &taskDriver{t: t}
	p.says(startFact(""))
	p.begins("")
	p.task.Head, p.task.Attempts[0].Head = "f00d", "f00d"
	p.ends(AttemptEnded{End: EndFinished})
	if r := p.task.Attempt().Reason; r != "it changed nothing more" {
		t.Errorf("after another: %q", r)
	}
}

// A new run never drops a passed head or a person's push.
func TestRestart(t *testing.T) {
	moved := BranchMoved{SHA: "hers"}
	for _, c := range []struct {
		name   string
		change func(*Task)
		facts  []Fact
		state  State
		head   SHA
		kept   SHA
		base   bool // the next attempt starts at the base
		follow string
	}{
		{"more is wanted", nil, []Fact{startFact("and that")}, Queued, "green", "green", false, "and that"},
		{"nothing is wanted", nil, []Fact{startFact("")}, Checking, "green", "green", false, ""},
		{"the issue is another", nil, []Fact{Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do more"}}, Queued, "green", "green",
			false, "The issue was edited after that: do what it asks for now and the change does not do yet."},
		{"it was edited before it passed", func(t *Task) { t.Edited = &Edit{} }, []Fact{startFact("")}, Queued, "green",
			"green", false, "The issue was edited after that: do what it asks for now and the change does not do yet."},
		{"a person pushed", nil, []Fact{moved, startFact("")}, Checking, "hers", "hers", false, ""},
		{"a person pushed and more is wanted", nil, []Fact{moved, startFact("and that")}, Queued, "hers", "hers", false,
			"and that"},
		{"it was merged", nil, []Fact{PullClosed{Merged: true, Head: "green"}, startFact("and that")}, Queued, "green", "",
			true, ""},
		{"it was not wanted", nil, []Fact{PullClosed{}, startFact("otherwise")}, Queued, "green", "", true, ""},
		{"it was wanted after all", nil, []Fact{PullClosed{}, PullReopened{Number: 12}, startFact("and that")}, Queued,
			"green", "green", false, "and that"},
		{"it was stopped", func(t *Task) { t.State, t.Ended = Stopped, "said so" }, []Fact{startFact("")}, Queued, "green",
			"", true, ""},
		{"it was stopped and a person pushed", func(t *Task) { t.State, t.Ended = Stopped, "said so" },
			[]Fact{moved, startFact("")}, Queued, "hers", "hers", false, ""},
		{"more was wanted and it was stopped", nil, []Fact{startFact("and that"), Stop{Reason: "said so"}, startFact("")},
			Queued, "green", "green", false, ""},
		{"the branch is gone", nil, []Fact{PullClosed{Merged: true}, startFact("more"), BranchMoved{}}, Queued, "", "", true,
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := passedTask()
			if c.change != nil {
				c.change(&task)
			}
			var r Result
			for i, f := range c.facts {
				r = Step(task, Event{ID: string(rune('a' + i)), At: time.Unix(int64(i), 0), By: person, Fact: f,
					Origin: Origin{Command: true, OnIssue: 3}})
				task = r.Task
			}
			b := task.Brief
			if task.State != c.state || task.Head != c.head || task.Kept != c.kept || b.FromBase != c.base ||
				b.FollowUp != c.follow {
				t.Errorf("%s, head %q, kept %q, brief %+v (%s%s)", task.State, task.Head, task.Kept, b, r.Why, r.Ignored)
			}
			if c.follow != "" && (b.Technique != Decomposition || b.Prompt != "in two steps" || b.Steps != nil) {
				t.Errorf("what had worked is not known any more: %+v", b)
			}
		})
	}
}

// A new run begins from the present default branch, unless the last run's branch is kept.
func TestRestartFromTheDefaultBranch(t *testing.T) {
	for closed, want := range map[bool]string{true: "main", false: "master"} {
		task := passedTask()
		task.BaseBranch = "master"
		f := startFact("more")
		f.DefaultBranch = "main"
		if closed {
			task = Step(task, Event{ID: "a", By: person, Fact: PullClosed{}, Origin: Origin{OnIssue: 12}}).Task
		}
		task = Step(task, Event{ID: "b", By: person, Fact: f, Origin: Origin{OnIssue: 3}}).Task
		if task.BaseBranch != want {
			t.Errorf("the pull request is closed: %v; it begins from %s, want %s", closed, task.BaseBranch, want)
		}
	}
}

// ClosedBy is kept until somebody reopens the pull request or a new run begins.
func TestPullClosedAfterPass(t *testing.T) {
	task := Step(passedTask(), Event{ID: "a", By: person, Fact: PullClosed{}, Origin: Origin{OnIssue: 12}}).Task
	if task.Pull != (Pull{ClosedBy: person}) || task.State != Passed {
		t.Errorf("%s with %+v", task.State, task.Pull)
	}
	for _, f := range []Fact{PullReopened{Number: 12}, startFact("")} {
		next := Step(task, Event{ID: "b", By: person, Fact: f, Origin: Origin{OnIssue: 12}}).Task
		if next.Pull.ClosedBy != (Actor{}) {
			t.Errorf("after %T: %+v", f, next.Pull)
		}
	}
}

// The next run does not use a pull request that was closed or merged after the task stopped.
func TestPullClosedAfterStop(t *testing.T) {
	for _, closed := range []PullClosed{{}, {Merged: true}} {
		task := passedTask()
		task.State, task.Ended = Stopped, "said so"
		for i, f := range []Fact{closed, startFact("")} {
			task = Step(task, Event{ID: string(rune('a' + i)), By: person, Fact: f, Origin: Origin{OnIssue: 12}}).Task
		}
		if task.State != Queued || task.Pull != (Pull{}) {
			t.Errorf("%+v: %s with %+v", closed, task.State, task.Pull)
		}
	}
}

// A start of a passed task without a new request costs no attempt, and the reply explains how to
// ask for more.
func TestStartWithoutAWord(t *testing.T) {
	r := Step(passedTask(), Event{ID: "a", By: person, Fact: startFact(""), Origin: Origin{OnIssue: 3}})
	key := r.Task.pendingOf(DoReply)
	gate := r.Task.pendingOf(DoGate)
	if key == "" || gate == "" || r.Task.pendingOf(DoBegin) != "" {
		t.Fatalf("under way are %v", r.Task.Pending)
	}
	r = Step(r.Task, Event{ID: gate, Effect: gate, Fact: Judged{SHA: "green",
		Looked: time.Unix(1000, 0), Verdict: VerdictGreen}})
	if r.Task.State != Passed || len(r.Task.Attempts) != 1 || r.Task.Attempts[0].Outcome != AttemptPass {
		t.Errorf("%s, %+v", r.Task.State, r.Task.Attempts)
	}
}

// AskedBy does not change when the operator restarts a task.
func TestOperatorStartsWhatSomebodyAskedFor(t *testing.T) {
	task := Step(passedTask(), Event{ID: "a", By: person, Fact: startFact("and that")}).Task
	task = Step(task, Event{ID: "b", By: person, Fact: Stop{Reason: "enough"}}).Task
	task = Step(task, Event{ID: "c", By: Actor{Operator: true}, Fact: startFact("")}).Task
	if task.State != Queued || task.AskedBy != person {
		t.Errorf("%s, asked by %+v", task.State, task.AskedBy)
	}
}

// A fresh start in a run that follows a pass starts from the passed head.
func TestFreshStartKeepsWhatPassed(t *testing.T) {
	r := Step(passedTask(), Event{ID: "a", By: person, Fact: startFact("and that")})
	task := r.Task
	task.State, task.Brief = Announced, Brief{Technique: FreshStart, FromBase: true}
	task.Pending = map[string]EffectKind{"go": DoBegin}
	r = Step(task, Event{ID: "go", Effect: "go", Fact: Begun{Settings: DefaultSettings(), Title: "Do it"}})
	if b := r.Task.Brief; b.FromBase || !b.FromKept || r.Task.Kept != "green" {
		t.Errorf("the brief %+v, kept %q", b, r.Task.Kept)
	}
}

// A new run uses the settings at its beginning, and drops a person's choices of the previous run.
func TestANewRunsSettings(t *testing.T) {
	task := passedTask()
	task.State, task.Ended, task.Wanted, task.WantedCoder = Stopped, "said so", FreshStart, "other"
	task = Step(task, Event{ID: "a", By: person, Fact: startFact("")}).Task
	if task.Wanted != "" || task.WantedCoder != "" {
		t.Errorf("a wish of the run before is left: %q, %q", task.Wanted, task.WantedCoder)
	}
	set := DefaultSettings()
	set.SIA.MaxApproaches, set.Budget.Task = 2, 30
	for range 2 { // as if it had to wait, and began again
		task.State, task.Pending = Queued, map[string]EffectKind{"go": DoBegin}
		task = Step(task, Event{ID: "go", Effect: "go",
			Fact: Begun{Settings: set, BaseBranch: "main", BaseSHA: "base", Title: "Do it"}}).Task
		if got, want := task.Approaches, task.EarlierTried+2; got != want {
			t.Errorf("%d approaches, want %d", got, want)
		}
		if got := task.Credits.Left(); got != 30*Credit {
			t.Errorf("%s credits are left of 30", got)
		}
	}
}
