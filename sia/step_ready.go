package sia

import "time"

// green passes the task, once a fresh reviewer has read the change and the pull request is not a draft. Marking it
// ready for review may start more checks, so one more look follows.
func (s *step) green() {
	if s.pending(DoDraft) {
		s.because("every required check is green; the pull request is being made a draft, and one more look follows")
		return
	}
	if s.t.hasOpenWishes() {
		s.followUpInstead()
		return
	}
	if s.startFinalReview() || s.startFollowUp() {
		return
	}
	if !s.startReady("every required check is green on " + s.t.Head.Short()) {
		s.pass()
	}
}

// startReady marks the pull request ready for review, if it is a draft and can be
// marked, and reports whether it does. It happens once for each attempt, because an
// attempt makes it a draft again.
func (s *step) startReady(why string) bool {
	p := s.t.Pull
	if p.Number == 0 || !p.Draft || p.StaysDraft() {
		return false
	}
	if !s.pending(DoReady) {
		s.emit(DoReady, s.number(), s.v())
	}
	s.deferSync = true
	s.because("%s; it is marked ready for review, and one more look follows", why)
	return true
}

// readied records whether the pull request is ready for review, and schedules one more look.
func (s *step) readied() {
	f := s.e.Fact.(Readied)
	if f.Refused != "" {
		s.notReadied(f.Refused)
		return
	}
	s.t.Pull.Draft, s.t.Pull.Readied, s.t.Pull.Refused = false, true, ""
	if s.t.State == Checking {
		s.t.Gate.Since = s.e.At // checks that don't run for a draft may appear from now on
		s.deferSync = true
	}
	s.lookOnceMore()
	s.because("the pull request is ready for review")
}

// notReadied warns that a person has to mark the pull request ready.
func (s *step) notReadied(reason string) {
	s.t.Pull.Refused = reason
	s.warn("The pull request could not be marked ready for review: " + reason)
	s.lookOnceMore()
	s.because("the pull request could not be marked ready for review; a person has to: %s", reason)
}

// drafted records whether the pull request is a draft again.
func (s *step) drafted() {
	f := s.e.Fact.(Drafted)
	s.t.Pull.Draft, s.t.Pull.Readied = f.Refused == "", false
	s.lookOnceMore()
	if f.Refused != "" {
		s.because("the pull request could not be made a draft again: %s", f.Refused)
		return
	}
	s.because("the pull request is a draft again while the work goes on")
}

// draftChanged records that somebody made the pull request a draft, or marked it ready. SIA does not undo either: a
// draft stays one until somebody marks it ready, and one that somebody marked ready is not made a draft for SIA's work.
func (s *step) draftChanged() {
	f, p := s.e.Fact.(DraftChanged), &s.t.Pull
	switch {
	case p.Number == 0:
		s.ignore("there is no pull request yet, as far as SIA knows")
		return
	case f.Draft:
		p.Draft, p.Readied, p.LeftDraft = true, false, true
		s.because("%s made the pull request a draft; it stays one until somebody marks it ready", s.who())
	default:
		*p = Pull{Number: p.Number, NodeID: p.NodeID, URL: p.URL, Merged: p.Merged}
		s.because("%s marked the pull request ready for review", s.who())
	}
	// Other checks may run on it now.
	if s.t.State == Escalated && s.t.Escalation.AboutChecks() {
		s.lookWhileAsked()
	}
	s.lookOnceMore()
}

// lookOnceMore schedules a look after the settle time, in state checking.
func (s *step) lookOnceMore() {
	if s.t.State == Checking {
		s.t.Gate.Hint = s.e.At
		s.look(s.e.At.Add(s.t.Settings.Checks.Settle.D()))
	}
}

// checkSeenWhileAsked schedules a look while a question about insufficient checks is
// open: they may have a result now.
func (s *step) checkSeenWhileAsked() {
	f := s.e.Fact.(CheckSeen)
	g := &s.t.Gate
	if f.SHA != s.t.Head || !s.t.Escalation.AboutChecks() {
		s.ignore("no verdict is waited for")
		return
	}
	s.lookWhileAsked()
	s.because("checks of %s changed; SIA looks at them at %s", f.SHA.Short(), g.Due.UTC().Format(time.TimeOnly))
}

// lookWhileAsked schedules a look after the settle time, while a question is open.
func (s *step) lookWhileAsked() {
	g := &s.t.Gate
	if s.e.At.After(g.Hint) {
		g.Hint = s.e.At
	}
	if want := g.Hint.Add(s.t.Settings.Checks.Settle.D()); !s.pending(DoGate) || g.Due.After(want) {
		s.look(want)
	}
}

// Silent reports whether the checks' results are insufficient, so that a person is asked.
func (f Judged) Silent() bool {
	return f.Found == nil && !f.Conflicts && (f.Verdict == VerdictNone || f.Verdict == VerdictBlocked)
}

// judgedWhileAsked closes a question about insufficient checks when they have a
// result.
func (s *step) judgedWhileAsked() {
	f := s.e.Fact.(Judged)
	g := &s.t.Gate
	if f.SHA != s.t.Head || !s.t.Escalation.AboutChecks() {
		s.ignore(late)
		return
	}
	if f.Found != nil {
		s.applyFound(*f.Found)
		return
	}
	settle := s.t.Settings.Checks.Settle.D()
	quiet := g.Hint.Add(settle)
	switch {
	case f.Silent():
		s.recordLook(f)
		s.because("the checks still don't say enough; the question stands")
	case !f.Conflicts && f.Verdict == VerdictPending:
		s.lookLater(settle, time.Time{})
		s.because("the checks have not finished; the question stands")
	case f.Looked.Before(quiet):
		s.look(quiet)
		s.because("the gate waits for %s of quiet; the question stands", settle)
	default:
		s.t.Escalation.Answered = true
		s.t.AwaitMemory = ""
		s.closeEscalation()
		s.enter(Checking)
		if s.missesTests() {
			s.watch()
			s.because("the checks have a result; the tests of %s are run before it counts", s.t.Head.Short())
			return
		}
		s.judged()
		s.deferSync = false // show at once that the question is closed
	}
}
