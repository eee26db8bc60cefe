package sia

import "time"

// green passes the task, once a fresh reviewer has read it and its pull request is no draft: what is ready for
// review may be checked by more than a draft is, so one more look follows.
func (s *step) green() {
	if s.pending(DoDraft) {
		s.because("every required check is green; the pull request is being made a draft, and one more look follows")
		return
	}
	if s.t.wishing() {
		s.followUpInstead()
		return
	}
	if s.finalReviewFirst() || s.followUpFirst() {
		return
	}
	if !s.readyFirst("every required check is green on " + s.t.Head.Short()) {
		s.pass()
	}
}

// readyFirst has the pull request marked ready for review, if it is a draft and
// can be. It is done once for each attempt: work makes it a draft again.
func (s *step) readyFirst(why string) bool {
	p := s.t.Pull
	if p.Number == 0 || !p.Draft || p.StaysDraft() {
		return false
	}
	if !s.pending(DoReady) {
		s.emit(DoReady, s.number(), s.v())
	}
	s.soon = true
	s.because("%s; it is marked ready for review, and one more look follows", why)
	return true
}

// readied notes whether the pull request is ready for review, and looks once more.
func (s *step) readied() {
	f := s.e.Fact.(Readied)
	if f.Refused != "" {
		s.notReadied(f.Refused)
		return
	}
	s.t.Pull.Draft, s.t.Pull.Readied, s.t.Pull.Refused = false, true, ""
	if s.t.State == Checking {
		s.t.Gate.Since = s.e.At // what was not made for a draft may appear from now on
		s.soon = true
	}
	s.lookOnceMore()
	s.because("the pull request is ready for review")
}

// notReadied leaves it to a person to mark the pull request ready.
func (s *step) notReadied(reason string) {
	s.t.Pull.Refused = reason
	s.warn("The pull request could not be marked ready for review: " + reason)
	s.lookOnceMore()
	s.because("the pull request could not be marked ready for review; a person has to: %s", reason)
}

// drafted notes that the pull request is a draft again.
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

// draftChanged follows somebody who made the pull request a draft, or marked it ready. SIA does not undo either: it
// leaves it a draft until somebody marks it ready, and makes one ready by somebody else no draft for its work.
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

// lookOnceMore has the gate look after settle time, where it watches.
func (s *step) lookOnceMore() {
	if s.t.State == Checking {
		s.t.Gate.Hint = s.e.At
		s.look(s.e.At.Add(s.t.Settings.Checks.Settle.D()))
	}
}

// signalSeen has the gate look while a person is asked for what the checks did not
// say: perhaps they say it now.
func (s *step) signalSeen() {
	f := s.e.Fact.(CheckSeen)
	g := &s.t.Gate
	if f.SHA != s.t.Head || !s.t.Escalation.AboutChecks() {
		s.ignore("no verdict is waited for")
		return
	}
	s.lookWhileAsked()
	s.because("checks of %s changed; SIA looks at them at %s", f.SHA.Short(), g.Due.UTC().Format(time.TimeOnly))
}

// lookWhileAsked has the gate look after settle time, while a person is asked.
func (s *step) lookWhileAsked() {
	g := &s.t.Gate
	if s.e.At.After(g.Hint) {
		g.Hint = s.e.At
	}
	if want := g.Hint.Add(s.t.Settings.Checks.Settle.D()); !s.pending(DoGate) || g.Due.After(want) {
		s.look(want)
	}
}

// Silent reports whether the checks don't say enough, so that a person is asked.
func (f Judged) Silent() bool {
	return f.Found == nil && !f.Conflicts && (f.Verdict == VerdictNone || f.Verdict == VerdictBlocked)
}

// judgedWhileAsked takes a question about checks back when they have an answer of
// their own.
func (s *step) judgedWhileAsked() {
	f := s.e.Fact.(Judged)
	g := &s.t.Gate
	if f.SHA != s.t.Head || !s.t.Escalation.AboutChecks() {
		s.ignore(late)
		return
	}
	if f.Found != nil {
		s.found(*f.Found)
		return
	}
	settle := s.t.Settings.Checks.Settle.D()
	quiet := g.Hint.Add(settle)
	switch {
	case f.Silent():
		s.takeLook(f)
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
		s.judged()
		s.soon = false // that nobody is asked any more is shown at once
	}
}
