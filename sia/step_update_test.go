package sia

import (
	"strings"
	"testing"
)

var inTheWay = Updated{From: "f00d", Onto: "ba5e2",
	Conflicts: []Conflict{{"hello.txt", "both sides changed the same lines"}}}

// A conflicting base is merged into the branch regardless of the checks: those of a
// pull request don't even run.
func TestConflictingBase(t *testing.T) {
	for _, v := range []GateVerdict{VerdictGreen, VerdictRed, VerdictNone, VerdictPending, VerdictTampered} {
		p := checked(t, true)
		p.judges(Judged{Verdict: v, Conflicts: true})
		p.wantState(Checking)
		p.done(DoUpdate, Updated{SHA: "f00d2", From: "f00d", Onto: "ba5e2"})
		p.wantState(Checking)
		if p.task.Head != "f00d2" || p.task.BaseSHA != "ba5e2" || p.task.Attempt().Head != "f00d2" {
			t.Errorf("%s: head %s on %s, attempt at %s", v, p.task.Head, p.task.BaseSHA, p.task.Attempt().Head)
		}
		p.judges(Judged{Verdict: VerdictGreen})
		p.done(DoReady, Readied{})
		p.judges(Judged{Verdict: VerdictGreen})
		p.wantState(Passed)
		if len(p.task.Attempts) != 1 || p.task.Attempt().Outcome != AttemptPass {
			t.Errorf("%s: %+v", v, p.task.Attempts)
		}
	}
}

// If the two conflict, the next attempt gets both sides, and no approach is used.
func TestBothSides(t *testing.T) {
	p := checked(t, true)
	base := p.task.BaseSHA
	p.judges(Judged{Verdict: VerdictRed, Conflicts: true})
	p.done(DoUpdate, inTheWay)
	p.wantState(Queued)
	p.begins("")
	p.wantState(Working)
	if p.task.Merging == nil || p.task.Merging.Onto != "ba5e2" || p.task.BaseSHA != base {
		t.Errorf("merging %+v on %s", p.task.Merging, p.task.BaseSHA)
	}
	if len(p.task.Prompts) != 1 || p.task.Failures != 0 {
		t.Errorf("%d prompts, %d failures", len(p.task.Prompts), p.task.Failures)
	}
	p.commits("f00d3", true)
	if p.task.Merging != nil || p.task.BaseSHA != "ba5e2" || p.task.Head != "f00d3" {
		t.Errorf("merging %+v; %s on %s", p.task.Merging, p.task.Head, p.task.BaseSHA)
	}
}

// A fresh start begins at the base, so there is no conflict.
func TestNothingToMergeAfterAFreshStart(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictRed, Conflicts: true})
	p.done(DoUpdate, inTheWay)
	p.task.Brief.FromBase = true
	p.begins("")
	if p.task.Merging != nil {
		t.Errorf("merging %+v", p.task.Merging)
	}
}

// A rule that requires an up-to-date branch is applied when the checks are green.
func TestBehind(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictPending, Behind: true})
	if p.waitsFor(DoUpdate) {
		t.Error("merged before the checks had finished")
	}
	for _, sha := range []SHA{"f1", "f2", "f3"} {
		p.judges(Judged{Verdict: VerdictGreen, Behind: true})
		p.done(DoUpdate, Updated{SHA: sha, From: p.task.Head, Onto: "b" + sha})
	}
	p.judges(Judged{Verdict: VerdictGreen, Behind: true})
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictGreen, Behind: true})
	p.wantState(Passed)
	if !strings.Contains(p.task.Warning, "has moved again after 3 merges") {
		t.Errorf("warned of %q", p.task.Warning)
	}
}

// Repeated conflicts pause the task, and resuming tries again.
func TestMergesWithoutEnd(t *testing.T) {
	for name, outcome := range map[string]Updated{
		"conflicts again": {SHA: "f00d", From: "f00d", Onto: "ba5e2"},
		"refused":         {From: "f00d", Refused: "GitHub does not take it"},
		"moved":           {From: "f00d"},
	} {
		t.Run(name, func(t *testing.T) {
			p := checked(t, true)
			for range maxUpdates {
				p.judges(Judged{Verdict: VerdictGreen, Conflicts: true})
				if p.task.State == OnHold {
					break
				}
				p.done(DoUpdate, outcome)
			}
			if p.task.State == Checking {
				p.judges(Judged{Verdict: VerdictGreen, Conflicts: true})
			}
			p.wantState(OnHold)
			p.says(Resume{})
			p.judges(Judged{Verdict: VerdictGreen, Conflicts: true})
			if !p.waitsFor(DoUpdate) {
				t.Error("not merged again")
			}
		})
	}
}

// TestConflictsAfterPass: a base that conflicts with a branch that has passed is merged into it, three times in a run.
func TestConflictsAfterPass(t *testing.T) {
	p := checked(t, true)
	pass := func() {
		t.Helper()
		p.judges(Judged{Verdict: VerdictGreen})
		if p.waitsFor(DoReady) {
			p.done(DoReady, Readied{})
			p.judges(Judged{Verdict: VerdictGreen})
		}
		p.wantState(Passed)
	}
	conflict := func() Watched { return Watched{SHA: p.task.Head, Conflicts: true} }
	pass()
	if p.task.HasSeen(Watched{SHA: p.task.Head, Unmerged: true}) {
		t.Error("it is not looked again when GitHub has not computed whether the branch can be merged")
	}
	for _, sha := range []SHA{"f1", "f2", "f3"} {
		p.says(CheckSeen{SHA: p.task.Head, Bad: true})
		p.done(DoWatch, conflict())
		p.wantState(Checking)
		p.judges(Judged{Verdict: VerdictNone, Conflicts: true})
		p.done(DoUpdate, Updated{SHA: sha, From: p.task.Head, Onto: "b" + sha})
		pass()
	}
	if p.task.HasSeen(conflict()) {
		t.Error("the fourth conflict is not reported")
	}
	p.says(CheckSeen{SHA: p.task.Head, Bad: true})
	p.done(DoWatch, conflict())
	p.wantState(Passed)
	if !strings.Contains(p.task.Warning, "in the way of the branch again, after 3 merges") {
		t.Errorf("warned of %q", p.task.Warning)
	}
	if !p.task.HasSeen(conflict()) {
		t.Error("the fourth conflict is reported twice")
	}
}

// A merge that GitHub blocks is recorded at the pass, and each change of that by a later look, with what turned red.
func TestMergeBlockedAfterPass(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictGreen, MergeBlocked: true})
	p.wantState(Passed)
	if !p.task.MergeBlocked {
		t.Error("it is not recorded at the pass")
	}
	red := []Check{{Name: "test", Colour: Red, Required: true}}
	for _, w := range []Watched{{}, {MergeBlocked: true}, {Red: red}, {MergeBlocked: true}} {
		w.SHA = p.task.Head
		if p.task.HasSeen(w) {
			t.Errorf("%+v is not news", w)
		}
		p.says(CheckSeen{SHA: p.task.Head, Bad: true})
		p.done(DoWatch, w)
		if !p.task.HasSeen(w) || p.task.MergeBlocked != w.MergeBlocked || len(p.task.Afterwards.red()) != len(w.Red) {
			t.Errorf("after %+v: blocked %v, %+v", w, p.task.MergeBlocked, p.task.Afterwards)
		}
	}
}

// A merge that finished after the task had ended is recorded as the head.
func TestUpdatedLate(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictGreen, Behind: true})
	p.says(Stop{Reason: "enough"})
	p.done(DoUpdate, Updated{SHA: "f00d2", From: "f00d", Onto: "ba5e2"})
	p.wantState(Stopped)
	if p.task.Head != "f00d2" || p.task.Moved != nil {
		t.Errorf("head %s, moved %+v", p.task.Head, p.task.Moved)
	}
}
