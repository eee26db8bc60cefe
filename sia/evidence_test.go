package sia

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// There is one sentence for each group, and broken tests are separate from firm findings.
func TestEvidenceAsks(t *testing.T) {
	e := &TestEvidence{Early: []string{"a"}, Gone: []string{"a::TestA", "b::T1", "b::T2", "b::T3", "b::T4"},
		Differs: []string{"a::TestA"}, Broken: []string{"b", "b::T`1"}, Dropped: []string{"a::TestB"},
		Edited: []string{"a::TestC", "c::T1", "c::T2"}, Files: []string{"a_test.go"},
		DroppedRed: []string{"a::TestE"}, Red: []string{"a::TestD"}, Failing: []string{"d::T1", "d::T2"}}
	firm, broken := e.Asks()
	want := []string{
		"`a` ends before its tests have, with success; it did not on the base commit",
		"`TestD` of `a` fails now, and did not on the base commit",
		"`TestA` of `a` ran on the base commit and does not run now",
		"`T1`, `T2`, `T3` and 1 more of `b` ran on the base commit and do not run now",
		"`TestA` of `a` comes out otherwise where nothing tells the code that it is tested",
		"`b` of the base commit does not pass now", "`T'1` of `b` of the base commit does not pass now",
		"`TestC` of `a` fails on the base commit, and passes now only because its test was edited",
		"`T1`, `T2` of `c` fail on the base commit, and pass now only because their tests were edited",
		"`TestE` of `a` is gone or skipped, and failed in a check of an earlier commit",
	}
	if d := cmp.Diff(want, append(firm, broken...)); d != "" || len(broken) != 5 {
		t.Errorf("-want +got\n%s", d)
	}
	gone := []string{"`TestB` of `a` is gone or skipped; as the base commit has it, it passes"}
	if d := cmp.Diff(gone, e.Shown()); d != "" {
		t.Errorf("shown: -want +got\n%s", d)
	}
	if d := cmp.Diff([]string{"`T1`, `T2` of `d` fail"}, e.Contradicts()); d != "" {
		t.Errorf("for the reviewer: -want +got\n%s", d)
	}
	if !e.Ran("a_test.go") || e.Ran("b_test.go") {
		t.Error("it ran other files")
	}
	e.NotRun = "no sandbox"
	firm, broken = e.Asks()
	if len(firm)+len(broken)+len(e.Shown())+len(e.Contradicts()) > 0 || e.Ran("a_test.go") ||
		(*TestEvidence)(nil).Ran("a_test.go") {
		t.Error("what was not run says something")
	}
}

// The tests of a head that SIA pushed run once, in parallel to its checks.
func TestTestsOfAHeadAreRunOnce(t *testing.T) {
	p := checked(t, false)
	if !p.task.RunsTests() {
		t.Fatalf("under way are %v", p.task.Pending)
	}
	p.done(DoEvidence, Evidenced{Evidence: TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA, Early: []string{"."}}})
	if e := p.task.Gate.Evidence; e == nil || p.task.RunsTests() {
		t.Fatalf("kept is %+v", e)
	}
	p.says(PauseAsked{})
	p.says(Resume{})
	if p.task.RunsTests() || p.task.Gate.Evidence == nil {
		t.Error("the tests of the same head are run again")
	}
	p.says(BranchMoved{SHA: "c0ffee"})
	if p.task.RunsTests() || p.task.Gate.Evidence != nil {
		t.Error("the tests of a person's push are run, or another head's count")
	}
}

// A test run for an earlier head is cancelled.
func TestTestsOfAnEarlierHeadEnd(t *testing.T) {
	p := checked(t, false)
	p.says(BranchMoved{SHA: "c0ffee"})
	if p.task.RunsTests() || !p.waitsFor(DoCancel) {
		t.Errorf("under way are %v", p.task.Pending)
	}
}

// A look that waits for the tests happens as soon as they have ended.
func TestEvidenceBringsALookForward(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictPending})
	before := p.task.Gate.Seq
	p.done(DoEvidence, Evidenced{Evidence: TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA, NotRun: "no sandbox"}})
	if p.task.Gate.Seq == before || p.task.Gate.Due.After(time.Date(2026, 1, 2, 3, p.n, 0, 0, time.UTC)) {
		t.Errorf("the next look is due at %s", p.task.Gate.Due)
	}
}

// awaitsApproval returns a task that asks about a check that waits for somebody's approval, while its tests still run.
func awaitsApproval(t *testing.T) *taskDriver {
	t.Helper()
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "CI", Reason: "waits for an approval"}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
	p.wantState(Escalated)
	return p
}

// seen reports a change of the head's checks, after which the gate looks at them.
func (p *taskDriver) seen() {
	p.t.Helper()
	p.step(Event{ID: "check" + strconv.Itoa(p.n), Fact: CheckSeen{SHA: p.task.Head}})
}

// Test results are kept if they arrive while a question is open, or while a failure is diagnosed, and bring forward a
// look that waits for them. An event by older rules means what it meant.
func TestTestsEndWhileSomethingElseIsDone(t *testing.T) {
	red := func(p *taskDriver) Fact {
		return Evidenced{Evidence: TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA, Red: []string{"a::TestA"}}}
	}
	p := awaitsApproval(t)
	p.seen()
	p.judges(Judged{Verdict: VerdictPending})
	before := p.task
	p.done(DoEvidence, red(p))
	if p.task.Gate.Evidence == nil || p.task.Gate.Seq == before.Gate.Seq {
		t.Errorf("kept is %+v, and the next look is due at %s", p.task.Gate.Evidence, p.task.Gate.Due)
	}
	key := before.pendingOf(DoEvidence)
	old := Replay(before, Event{ID: key, Effect: key, Fact: red(p)})
	if old.Ignored != late || old.Task.Gate.Evidence != nil || old.Task.RunsTests() {
		t.Errorf("by older rules %q, kept is %+v", old.Ignored, old.Task.Gate.Evidence)
	}

	for _, paused := range []bool{false, true} {
		p = checked(t, false)
		p.judges(Judged{Verdict: VerdictRed})
		p.wantState(Diagnosing)
		if paused {
			p.says(PauseAsked{})
		}
		p.done(DoEvidence, red(p))
		if p.task.Gate.Evidence == nil || p.waitsFor(DoGate) {
			t.Errorf("paused: %v; kept is %+v, under way are %v", paused, p.task.Gate.Evidence, p.task.Pending)
		}
	}
}

// A verdict that ends a question passes nothing before the tests of the head have been run against its base.
func TestTestsThatAreMissingAreRun(t *testing.T) {
	for name, loses := range map[string]func(p *taskDriver){
		"an older version dropped them": func(p *taskDriver) {
			key := p.task.pendingOf(DoEvidence)
			p.task = Replay(p.task, Event{ID: key, Effect: key, Fact: Evidenced{}}).Task
		},
		"another base, and they run": func(p *taskDriver) { p.says(Retargeted{Base: "dev", SHA: "dev1"}) },
		"another base, and they ran": func(p *taskDriver) {
			p.done(DoEvidence, Evidenced{Evidence: TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA}})
			p.says(Retargeted{Base: "dev", SHA: "dev1"})
		},
		"they could not be run": func(p *taskDriver) { p.done(DoEvidence, EffectFailed{Effect: DoEvidence, Reason: "no"}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := awaitsApproval(t)
			loses(p)
			if p.task.RunsTests() {
				t.Fatal("tests against another base still run")
			}
			p.seen()
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Checking)
			if !p.task.RunsTests() || !p.task.Escalation.Answered {
				t.Fatalf("under way are %v, the question is %+v", p.task.Pending, p.task.Escalation)
			}
			p.done(DoEvidence, Evidenced{Evidence: TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA}})
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
		})
	}
}

// Tests that still run when a question ends are not begun again.
func TestTestsThatRunAreNotRunAgain(t *testing.T) {
	p := awaitsApproval(t)
	key := p.task.pendingOf(DoEvidence)
	p.seen()
	p.judges(Judged{Verdict: VerdictRed})
	if p.task.pendingOf(DoEvidence) != key {
		t.Errorf("under way are %v", p.task.Pending)
	}
}

// Test results are kept while checks are run again after a while, and tests that were not run are run then. An event by
// older rules means what it meant.
func TestTestsBeforeALateRerun(t *testing.T) {
	for _, ran := range []bool{true, false} {
		p := checked(t, false)
		if ran {
			p.done(DoEvidence, Evidenced{Evidence: TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA, Red: []string{"a::T"}}})
		} else {
			p.done(DoEvidence, EffectFailed{Effect: DoEvidence, Reason: "no machine"})
		}
		p.judges(Judged{Verdict: VerdictRed})
		p.wantState(Diagnosing)
		if j := p.task.Judged(); j.Attempt().Outcome != "" || j.Failures != 0 || p.task.Attempt().Outcome != AttemptFail {
			t.Errorf("while it is undecided, attempt %+v counts", j.Attempt())
		}
		held := p.task.clone()
		held.Pending, held.Pause = nil, &Pause{Held: []Effect{{Kind: DoDecide, Question: DecideRecover}}}
		if j := held.Judged(); j.Attempt().Outcome != "" {
			t.Errorf("while the decision is held, attempt %+v counts", j.Attempt())
		}
		held.Pause = nil
		if j := held.Judged(); j.Attempt().Outcome != AttemptFail {
			t.Errorf("when it is decided, attempt %+v counts", j.Attempt())
		}
		before, rerun := p.task, Decided{Type: DecideRecover, Choice: ChooseRerun, Wait: Duration(time.Minute)}
		p.done(DoDecide, rerun)
		p.wantState(Checking)
		if e := p.task.Gate.Evidence; ran != (e != nil) || ran == p.task.RunsTests() {
			t.Errorf("they ran: %v; kept is %+v, under way are %v", ran, e, p.task.Pending)
		}
		key := before.pendingOf(DoDecide)
		old := Replay(before, Event{ID: key, Effect: key, Fact: rerun}).Task
		if old.State != Checking || old.Gate.Evidence != nil || old.RunsTests() {
			t.Errorf("by older rules the task is %s, kept is %+v", old.State, old.Gate.Evidence)
		}
	}
}
