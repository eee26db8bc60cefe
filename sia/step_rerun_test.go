package sia

import (
	"slices"
	"strings"
	"testing"
)

// A re-run that GitHub refuses does not count as one, unless other checks are run again.
func TestRerunRefused(t *testing.T) {
	for some, reruns := range map[bool]int{false: 0, true: 1} {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictRerun, RerunIDs: []int64{1}})
		if p.task.Gate.Reruns != 1 {
			t.Fatalf("%d re-runs were asked for", p.task.Gate.Reruns)
		}
		p.done(DoRerun, RerunRefused{SHA: p.task.Head, Runs: []int64{7}, Reason: "GitHub forbids it", Some: some})
		p.wantState(Checking)
		if g := p.task.Gate; g.Reruns != reruns || !slices.Equal(g.Unrepeatable, []int64{7}) {
			t.Errorf("others run again %v: %d re-runs count, and %d can't be run again", some, g.Reruns, g.Unrepeatable)
		}
		if p.task.Warning != "GitHub forbids it" {
			t.Errorf("warned of %q", p.task.Warning)
		}
	}
}

// GitHub may say that a branch conflicts with a base that it contains. That is no merge of it, and does not count.
func TestBaseIsContained(t *testing.T) {
	p := checked(t, false)
	for range 5 {
		p.judges(Judged{Verdict: VerdictGreen, Conflicts: true})
		p.done(DoUpdate, Updated{From: p.task.Head, Onto: "ba5e", Contained: true})
		p.wantState(Checking)
		if p.task.Updates != 0 || !p.task.Contains("ba5e") || !p.task.Contains("") || p.task.Contains("cafe") {
			t.Fatalf("%d updates, contained is %+v", p.task.Updates, p.task.Contained)
		}
	}
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	if !strings.Contains(p.task.Warning, "close the pull request and open it again") {
		t.Errorf("warned of %q", p.task.Warning)
	}
}
