package sia

import (
	"strings"
	"testing"
)

// found returns a task with a green head with unmet demands, and the follow-up begun.
func found(t *testing.T) *taskDriver {
	t.Helper()
	p := read(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.done(DoFinalReview, lacks("f00d"))
	p.wantState(Queued)
	return p
}

// lacks returns a review with an unmet demand.
func lacks(sha SHA) FinalReviewed {
	f := said(sha)
	f.Review.Demands[0].State = DemandUnmet
	return f
}

// redo commits the follow-up.
func (p *taskDriver) redo(sha SHA) {
	p.t.Helper()
	p.begins("")
	if a := p.task.Attempt(); a.Number != 2 || a.Demands != 1 || p.task.Brief.Demands[0].Quote != "Greet" ||
		p.waitsFor(DoReady) {
		p.t.Fatalf("%+v with the brief %+v", a, p.task.Brief)
	}
	p.commits(sha, true)
}

// Unmet demands start one follow-up; demands that are still unmet then start no other.
func TestFollowUp(t *testing.T) {
	p := found(t)
	if a := p.task.Attempt(); a.Outcome != AttemptPass || p.task.Kept != "f00d" {
		t.Errorf("the green attempt is %+v, kept is %s", a, p.task.Kept)
	}
	p.redo("f00d2")
	p.judges(Judged{Verdict: VerdictGreen})
	p.done(DoFinalReview, lacks("f00d2"))
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	if o := p.task.Omission; p.task.Head != "f00d2" || o.Open || o.Why != "" || len(p.task.Attempts) != 2 {
		t.Errorf("passed on %s after %d attempts with %+v", p.task.Head, len(p.task.Attempts), o)
	}
}

// With any verdict but green on the follow-up, the branch is reset to the passed head; nothing is diagnosed, and nobody
// is asked.
func TestFollowUpIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		verdict Judged
		why     string
		outcome AttemptOutcome
	}{
		"red": {Judged{Verdict: VerdictRed, Checks: []Check{{Name: "test", Colour: Red}}}, "`test` failed",
			AttemptFail},
		"it weakens tests": {Judged{Verdict: VerdictTampered}, "a person would have to accept its changes", AttemptFail},
		"a check waits": {Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e"}}}, "e2e waits for a person",
			AttemptError},
		"the base moved": {Judged{Verdict: VerdictPending, Conflicts: true}, "moved in its way", AttemptError},
	} {
		t.Run(name, func(t *testing.T) {
			p := found(t)
			p.redo("f00d2")
			failures := p.task.Failures
			p.judges(c.verdict)
			if a := p.task.Attempt(); !p.waitsFor(DoTakeBack) || a.Outcome != c.outcome || p.task.Failures != failures {
				t.Fatalf("%s: %+v, under way %v", p.why, a, p.task.Pending)
			}
			if r := p.says(CheckSeen{SHA: "f00d2"}); len(r.Effects) > 0 && r.Effects[0].Kind == DoGate {
				t.Error("it looks at a commit that is being taken back")
			}
			p.done(DoTakeBack, TakenBack{SHA: "f00d"})
			p.judges(Judged{Verdict: VerdictGreen})
			p.done(DoReady, Readied{})
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
			o := p.task.Omission
			if p.task.Head != "f00d" || !o.StaysUnmet("f00d") || !strings.Contains(o.Why, c.why) || !p.task.Final.Of("f00d") ||
				len(p.task.Interventions) > 0 || p.task.Escalation != nil {
				t.Errorf("passed on %s with %+v", p.task.Head, o)
			}
		})
	}
}

// Where the branch only moves forward, SIA's commit with the green head's files takes its place: its checks decide, and
// its change is not reviewed again. If SIA did not make the commit, somebody else pushed it.
func TestFollowUpIsTakenBackForward(t *testing.T) {
	for _, made := range []SHA{"f00d", ""} {
		p := found(t)
		p.redo("f00d2")
		p.judges(Judged{Verdict: VerdictRed})
		p.done(DoTakeBack, TakenBack{SHA: "f00d3", Made: made})
		if p.task.Head != "f00d3" || (p.task.HeadBy == Actor{}) != (made != "") || len(p.task.Checks) > 0 {
			t.Fatalf("made %q: the head is %s by %+v with %v", made, p.task.Head, p.task.HeadBy, p.task.Checks)
		}
		p.judges(Judged{Verdict: VerdictGreen})
		if made != "" && p.waitsFor(DoFinalReview) {
			t.Error("the same change is reviewed again")
		}
		p.done(DoReady, Readied{})
		p.judges(Judged{Verdict: VerdictGreen})
		p.wantState(Passed)
		if o := p.task.Omission; o.StaysUnmet("f00d3") != (made != "") {
			t.Errorf("made %q: passed with %+v", made, o)
		}
	}
}

// If the follow-up ends in another way, nothing is pushed, and the green head is judged as before.
func TestFollowUpThatPushesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		end AttemptEnded
		why string
	}{
		"an answer": {AttemptEnded{End: EndFinished, Summary: "[1] Not needed because it greets already."},
			"it changed nothing: Not needed because it greets already."},
		"nothing": {AttemptEnded{End: EndFinished}, "it changed nothing"},
		"no time": {AttemptEnded{End: EndTime, Reason: "30 minutes are over", Commit: "f00d2",
			Signals: []Signal{{Name: SameTask}}}, "30 minutes are over"},
		"stuck":      {AttemptEnded{End: EndStuck, Reason: "it went in circles"}, "it went in circles"},
		"a question": {AttemptEnded{End: EndAsked, Ask: &Ask{Question: "whom?"}}, "it has a question: whom?"},
		"no model":   {AttemptEnded{End: EndError, Reason: "the model is down"}, "the model is down"},
	} {
		t.Run(name, func(t *testing.T) {
			p := found(t)
			p.begins("")
			p.ends(c.end)
			p.wantState(Checking)
			if p.waitsFor(DoPush) || !strings.Contains(p.task.Omission.Why, c.why) {
				t.Fatalf("%+v, under way %v", p.task.Omission, p.task.Pending)
			}
			p.judges(Judged{Verdict: VerdictGreen})
			p.done(DoReady, Readied{})
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
			a := p.task.Attempt()
			judged := a.Outcome == AttemptFail || a.Outcome == AttemptPass || len(a.Signals) > 0
			if p.task.Prompts[len(p.task.Prompts)-1].Outcome == AttemptFail || judged {
				t.Errorf("it counts as a failure: %+v", a)
			}
			if c.end.Summary != "" && p.task.Omission.Answer("Greet") != "Not needed because it greets already." {
				t.Errorf("people read %+v", p.task.Omission)
			}
		})
	}
}

// No follow-up begins without budget, or for a head that SIA did not push.
func TestNoFollowUp(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Task)
		why    string
	}{
		"no approach": {func(t *Task) { t.Approaches = len(t.Prompts) }, "no approach is left"},
		"no credits":  {func(t *Task) { t.Credits.Budget = t.Credits.Spent + 1 }, "credits are used up"},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, true)
			p.judges(Judged{Verdict: VerdictGreen})
			c.change(&p.task)
			f := lacks("f00d")
			f.Cost = 0
			p.done(DoFinalReview, f)
			p.done(DoReady, Readied{})
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
			if !strings.Contains(p.task.Omission.Why, c.why) {
				t.Errorf("people read %q", p.task.Omission.Why)
			}
		})
	}
	begun := Begun{Settings: DefaultSettings(), Title: "Greet", BaseBranch: "main", BaseSHA: "base"}
	p := found(t)
	p.done(DoBegin, begun)
	p.done(DoDecide, Decided{Type: DecideAssign, Choice: "coder", Hold: "990 are set aside", Aside: true})
	if p.wantState(Checking); !strings.Contains(p.task.Omission.Why, "990 are set aside") {
		t.Errorf("people read %q", p.task.Omission.Why)
	}
	for name, c := range map[string]struct {
		before Fact
		begun  func(*Begun)
		why    string
	}{
		"a person pushed": {BranchMoved{SHA: "beef"}, func(*Begun) {}, "somebody else pushed"},
		"budget of a day": {nil, func(b *Begun) { b.Hold = "this repository spent 1000" }, "this repository spent 1000"},
		"edited":          {nil, func(b *Begun) { b.Title = "Greet all" }, "the issue was edited"},
		"a review":        {ChangesAsked{Text: "be brief"}, func(*Begun) {}, "changes were asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			p := found(t)
			if c.before != nil {
				p.says(c.before)
			}
			b := begun
			c.begun(&b)
			p.done(DoBegin, b)
			if len(p.task.Attempts) != 1 && p.task.Attempts[1].Demands > 0 || !strings.Contains(p.task.Omission.Why, c.why) {
				t.Errorf("%s with %d attempts: %+v", p.task.State, len(p.task.Attempts), p.task.Omission)
			}
		})
	}
}

// A push by somebody else during the follow-up, or while it is taken back, becomes the head.
func TestFollowUpGivesWay(t *testing.T) {
	p := found(t)
	p.begins("")
	p.says(BranchMoved{SHA: "beef"})
	p.ends(AttemptEnded{End: EndFinished, Commit: "f00d2"})
	p.done(DoPush, PushRefused{Head: "beef", Reason: "somebody else pushed"})
	p.wantState(Checking)
	if p.task.Head != "beef" || p.task.HeadBy != person {
		t.Errorf("the head is %s by %+v", p.task.Head, p.task.HeadBy)
	}

	for _, heard := range []bool{false, true} {
		p = found(t)
		p.redo("f00d2")
		p.judges(Judged{Verdict: VerdictRed})
		if heard {
			p.says(BranchMoved{SHA: "beef"})
		}
		p.done(DoTakeBack, TakenBack{SHA: "beef"})
		p.judges(Judged{Verdict: VerdictGreen})
		p.done(DoReady, Readied{})
		p.judges(Judged{Verdict: VerdictGreen})
		if p.wantState(Passed); p.task.Head != "beef" {
			t.Errorf("passed on %s", p.task.Head)
		}
	}

	p = found(t)
	p.redo("f00d2")
	p.judges(Judged{Verdict: VerdictRed})
	p.done(DoTakeBack, TakenBack{SHA: "f00d2"}) // taken off, and put there again
	p.judges(Judged{Verdict: VerdictRed})
	if p.wantState(Diagnosing); p.task.Head != "f00d2" {
		t.Errorf("diagnoses %s", p.task.Head)
	}
}

// A stop leaves the green head on the branch.
func TestStopInAFollowUp(t *testing.T) {
	p := found(t)
	p.begins("")
	p.says(Stop{Reason: "enough"})
	p.ends(AttemptEnded{End: EndCancelled, Commit: "f00d2"})
	if p.waitsFor(DoPush) || p.task.Head != "f00d" || p.task.State != Stopped {
		t.Errorf("%s on %s, under way %v", p.task.State, p.task.Head, p.task.Pending)
	}
}
