package sia

import "fmt"

// finishRace pushes the best racer's change that the checks have not judged yet, or fails the attempt.
func (s *step) finishRace() {
	a := s.t.Attempt()
	s.closeParts()
	if a.RacersLeft() > 0 {
		s.pushRacer()
		return
	}
	a.Reason = "none of those who worked came to a change"
	s.fail([]Signal{{OutputUnchanged, a.Reason}})
}

// pushRacer pushes the best of the racers' changes that were not pushed yet.
func (s *step) pushRacer() {
	a := s.t.Attempt()
	best := -1
	for i, p := range a.Parts {
		if p.State == PartDone && !p.Pushed && (best < 0 || compareRacers(p, a.Parts[best]) < 0) {
			best = i
		}
	}
	p := &a.Parts[best]
	p.Pushed = true
	a.Coder, a.Agent, a.Summary, a.Ledger, a.Diff, a.Hunks = p.Coder, p.Agent, p.Summary, p.Ledger, p.Diff, p.Hunks
	a.Affected = p.Affected
	a.Failures, a.Passing, a.Signals, a.Reason = nil, nil, nil, ""
	s.enter(Working)
	s.emitEffect(DoPush, a.Number, fmt.Sprintf("racer-%d", best+1), Effect{SHA: p.Commit, Part: best + 1})
	s.because("%s's change is checked, the best of %d by the tests in the sandbox", p.Coder, len(a.Parts))
}
