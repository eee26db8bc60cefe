package sia

import (
	"slices"
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
