package sia

import (
	"strings"
	"testing"
)

// tampered is a green verdict with changed expectations.
func tampered(findings ...string) Judged { return Judged{Verdict: VerdictTampered, Weigh: findings} }

// A change that the issue asks for passes after one more green look, and is weighed once.
func TestExpectationAskedFor(t *testing.T) {
	p := checked(t, false)
	p.judges(tampered("a_test.go:3"))
	if !p.waitsFor(DoWeigh) || p.task.Gate.AwaitsPerson {
		t.Fatalf("under way are %v; a person is asked: %v", p.task.Pending, p.task.Gate.AwaitsPerson)
	}
	p.done(DoWeigh, Weighed{SHA: p.task.Head, Quotes: []string{"It should be four."}, Cost: Credit})
	if !p.task.Gate.Weighing.AskedFor() || p.task.Credits.Spent != 100+Credit {
		t.Errorf("%+v, %s spent", p.task.Gate.Weighing, p.task.Credits.Spent)
	}
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}

// A person is asked if the issue does not ask for all changes, or the weighing failed;
// the same changes of the head are not weighed again, but others are.
func TestExpectationNotAskedFor(t *testing.T) {
	for name, out := range map[string]Weighed{
		"none": {}, "one of two": {Quotes: []string{"It should be four.", ""}},
		"too few": {Quotes: []string{"It should be four."}}, "the model is down": {Why: "it could not be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			p := checked(t, false)
			p.judges(tampered("a_test.go:3", "a_test.go:9"))
			out.SHA = p.task.Head
			p.done(DoWeigh, out)
			if !p.task.Gate.AwaitsPerson || !strings.Contains(p.why, out.Why) {
				t.Fatalf("nobody is asked: %s", p.why)
			}
			p.says(PauseAsked{})
			p.says(Resume{})
			p.judges(tampered("a_test.go:3", "a_test.go:9"))
			if p.waitsFor(DoWeigh) || !p.task.Gate.AwaitsPerson {
				t.Errorf("the same is weighed again: %v", p.task.Pending)
			}
			p.says(PauseAsked{})
			p.says(Resume{})
			p.judges(tampered("a_test.go:3"))
			if !p.waitsFor(DoWeigh) {
				t.Error("something else is not weighed")
			}
		})
	}
}

// A failed weighing pauses the task, and is repeated on resume.
func TestWeighingFails(t *testing.T) {
	p := checked(t, false)
	p.judges(tampered("a_test.go:3"))
	p.done(DoWeigh, EffectFailed{Effect: DoWeigh, Reason: "the disk is full"})
	p.wantState(OnHold)
	p.says(Resume{})
	p.judges(tampered("a_test.go:3"))
	if !p.waitsFor(DoWeigh) {
		t.Errorf("under way are %v", p.task.Pending)
	}
}

// Only changes that a person was shown are accepted, and a button accepts those of its own commit: nobody has seen a
// head that was pushed meanwhile.
func TestAcceptsWhatWasShown(t *testing.T) {
	p := checked(t, false)
	p.judges(tampered())
	shown := p.task.Head
	p.says(BranchMoved{SHA: "beef"})
	if r := p.says(AcceptTests{}); r.Ignored == "" || len(p.task.Accepted) > 0 {
		t.Fatalf("accepted %v before anybody was shown what %s changes", p.task.Accepted, p.task.Head)
	}
	p.judges(tampered())
	if r := p.says(AcceptTests{SHA: shown}); r.Ignored == "" || len(p.task.Accepted) > 0 {
		t.Fatalf("accepted %v by the button on %s", p.task.Accepted, shown)
	}
	p.says(AcceptTests{SHA: "beef"})
	q := *p // what was accepted was compared with the base of then
	if q.says(Retargeted{Base: "release"}); len(q.task.Accepted) > 0 {
		t.Errorf("accepted on another base are %v", q.task.Accepted)
	}
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}

// An answer that arrives while a person is asked about a check is kept and paid: the same is not weighed again. By
// older rules it is lost.
func TestWeighedWhileAsked(t *testing.T) {
	p := checked(t, false)
	p.judges(tampered("a_test.go:3"))
	p.says(Retry{})
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "CI", Reason: "waits for an approval"}}})
	p.wantState(Escalated)
	before, key := p.task, p.task.pendingOf(DoWeigh)
	answer := Weighed{SHA: p.task.Head, Quotes: []string{"It should be four."}, Cost: Credit}
	p.done(DoWeigh, answer)
	p.wantState(Escalated)
	if !p.task.Gate.Weighing.AskedFor() || p.task.Credits.Spent != before.Credits.Spent+Credit ||
		p.task.Gate.AwaitsPerson {
		t.Errorf("%+v, %s spent", p.task.Gate.Weighing, p.task.Credits.Spent)
	}
	old := Replay(before, Event{ID: key, Effect: key, Fact: answer}).Task
	if old.Gate.Weighing.Done || old.Credits != before.Credits {
		t.Errorf("by older rules %+v, %s spent", old.Gate.Weighing, old.Credits.Spent)
	}
}
