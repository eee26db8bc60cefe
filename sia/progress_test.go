package sia

import (
	"strconv"
	"testing"
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
