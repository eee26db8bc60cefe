package gate

import "github.com/sia-bot/sia/sia"

// Tests contains the results of SIA's own run of the tests that a change can reach, except for the findings against the
// change, which are in [Input.Tampering].
type Tests struct {
	Running bool     // the tests are still running
	Shown   []string // sentences for people that need no acceptance
	Dropped int      // number of removed tests that would pass, so that checks run fewer
}

// TestsOf returns the results of a task's own runs.
func TestsOf(t sia.Task) Tests {
	e := t.Gate.Evidence
	if e == nil || e.Head != t.Head {
		return Tests{Running: t.RunsTests()}
	}
	return Tests{Shown: e.Shown(), Dropped: len(e.Dropped) + len(e.DroppedRed)}
}
