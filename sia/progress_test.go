package sia

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/sia-bot/sia/sia/plan"
)

// Progress is recorded while the attempt runs; late and older reports are ignored.
func TestProgress(t *testing.T) {
	p := newPlanning(t)
	p.task.Attempt().Planning = false
	tell := func(turn int, tests string) Result {
		return p.step(Event{ID: "progress/1/" + strconv.Itoa(turn), Fact: Progressed{Attempt: 1, Turn: turn, Tests: tests}})
	}
	seen := len(p.task.Seen)
	tell(7, "The tests fail: go test ./...")
	tell(9, "")
	if got := p.task.Attempt().Progress; got == nil || got.Turn != 9 || got.Tests != "The tests fail: go test ./..." ||
		!got.TestsAt.Before(got.At) {
		t.Errorf("%+v", got)
	}
	if r := tell(8, "The tests pass: go test ./..."); r.Ignored == "" {
		t.Errorf("an older turn counts: %s", r.Why)
	}
	if len(p.task.Seen) != seen {
		t.Error("it takes the place of what people said")
	}
	p.ends(AttemptEnded{End: EndFinished, Commit: "f00d", Cost: 100})
	if r := tell(12, ""); r.Ignored == "" {
		t.Errorf("after the end it counts: %s", r.Why)
	}
}

// In an attempt of several runs, a report belongs to the part of its run; without a part, to the attempt.
func TestProgressOfRuns(t *testing.T) {
	p := newPlanning(t)
	a := p.task.Attempt()
	a.Planning, a.Structure, a.Runs = false, plan.Parallel, 1
	tell := func(run, turn int, tests string) Result {
		return p.step(Event{ID: fmt.Sprint("progress/1/", run, "/", turn),
			Fact: Progressed{Attempt: 1, Run: run, Turn: turn, Tests: tests}})
	}
	tell(1, 20, "")
	if got := p.task.Attempt().Progress; got == nil || got.Run != 1 || got.Turn != 20 {
		t.Errorf("making the plan: %+v", got)
	}
	a = p.task.Attempt()
	a.Runs, a.Parts = 4, []Part{{State: PartRunning, Run: 4}, {State: PartRunning, Run: 3}, {State: PartDone, Run: 2}}
	tell(3, 12, "The tests fail")
	tell(4, 2, "")
	tell(3, 13, "")
	a = p.task.Attempt()
	if one, two := a.Parts[0].Progress, a.Parts[1].Progress; one == nil || one.Turn != 2 || one.Tests != "" ||
		two == nil || two.Turn != 13 || two.Tests != "The tests fail" {
		t.Errorf("%+v, %+v", one, two)
	}
	for run, what := range map[int]string{1: "an earlier run", 2: "a part that is done", 3: "an older turn"} {
		if r := tell(run, 9, ""); r.Ignored == "" {
			t.Errorf("%s counts: %s", what, r.Why)
		}
	}
	a.Parts[1].Run, a.Runs = 5, 5 // its next try
	tell(5, 1, "")
	if got := p.task.Attempt().Parts[1].Progress; got.Run != 5 || got.Turn != 1 || got.Tests != "" {
		t.Errorf("the next try: %+v", got)
	}
	a = p.task.Attempt()
	a.Parts, a.Runs = nil, 6
	tell(6, 3, "")
	if got := p.task.Attempt().Progress; got.Run != 6 || got.Turn != 3 {
		t.Errorf("putting them together: %+v", got)
	}
	p.task.Attempt().Structure = plan.Whole // after a plan that was of no use
	tell(0, 2, "")
	if got := p.task.Attempt().Progress; got.Run != 0 || got.Turn != 2 {
		t.Errorf("as a whole after all: %+v", got)
	}
}
