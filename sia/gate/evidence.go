package gate

import "github.com/sia-bot/sia/sia"

// Tests is what SIA's own run of the tests that a change can reach says, beside [Input.Tampering], which has what it
// says against the change.
type Tests struct {
	Running bool     // they still run
	Shown   []string // sentences for people that ask nobody
	Dropped int      // tests that are gone and would pass, so that checks run fewer
}

// TestsOf is what a task's own runs say.
func TestsOf(t sia.Task) Tests {
	e := t.Gate.Evidence
	if e == nil || e.Head != t.Head {
		return Tests{Running: t.RunsTests()}
	}
	return Tests{Shown: e.Shown(), Dropped: len(e.Dropped)}
}

// awaitTests waits, before a pass, for the tests that SIA runs itself, no longer than the settings say.
func (j *judgement) awaitTests() bool {
	limit := j.Settings.Evidence.D()
	if !j.Tests.Running || j.Accepted || j.Now.Sub(j.Since) >= limit {
		return false
	}
	j.result.Verdict = sia.VerdictPending
	j.explain("Every required check is green; SIA still runs the tests that the change can reach, for %s at most.", limit)
	return true
}
