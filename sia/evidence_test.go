package sia

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// There is one sentence for each group, and broken tests are separate from firm findings.
func TestEvidenceAsks(t *testing.T) {
	e := &TestEvidence{Early: []string{"a"}, Gone: []string{"a::TestA", "b::T1", "b::T2", "b::T3", "b::T4"},
		Differs: []string{"a::TestA"}, Broken: []string{"b", "b::T`1"}, Dropped: []string{"a::TestB"},
		Edited: []string{"a::TestC", "c::T1", "c::T2"}, Files: []string{"a_test.go"},
		Red: []string{"a::TestD"}, Failing: []string{"d::T1", "d::T2"}}
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
	}
	if d := cmp.Diff(want, append(firm, broken...)); d != "" || len(broken) != 4 {
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
