package sia

// startFinalReview lets a fresh reviewer read a green head before it is marked ready, once for
// each head, and reports whether the task waits for that. A head that a person pushed is not
// reviewed: that person is responsible for it. Unmet demands start one follow-up attempt;
// everything else in the review is for people.
func (s *step) startFinalReview() bool {
	switch r := s.t.Final; {
	case !s.t.Settings.Review.Final || s.t.HeadBy != (Actor{}) || r.Of(s.t.Head) && r.Done:
		return false
	case r.Of(s.t.Head) && s.pending(DoFinalReview):
		s.because("every required check is green on %s; a fresh reviewer is reading the change", s.t.Head.Short())
		return true
	case s.t.Credits.Left() <= 0:
		return false
	}
	s.t.Final = &FinalReview{SHA: s.t.Head}
	s.emitEffect(DoFinalReview, s.number(), s.v(), Effect{SHA: s.t.Head})
	s.deferSync = true
	s.because("every required check is green on %s; a fresh reviewer reads the change first", s.t.Head.Short())
	return true
}

// finalReviewed records the review, and continues.
func (s *step) finalReviewed() {
	f := s.e.Fact.(FinalReviewed)
	s.t.Credits.spend(f.Cost)
	if !s.t.Final.Of(f.Review.SHA) || f.Review.SHA != s.t.Head {
		s.because("the head has changed since %s was read", f.Review.SHA.Short())
		return
	}
	s.recordOmission(f)
	s.afterFinalReview(f.Review)
}

// finalReviewFailed continues without a review.
func (s *step) finalReviewFailed(reason string) {
	if !s.t.Final.Of(s.t.Head) || s.t.Final.Done {
		s.because("the final review of an earlier head failed: %s", reason)
		return
	}
	s.afterFinalReview(FinalReview{SHA: s.t.Head, Why: reason})
}

// afterFinalReview marks the pull request ready, or schedules a look if it need not be marked.
// If checks changed meanwhile, the gate looks first.
func (s *step) afterFinalReview(r FinalReview) {
	r.Done = true
	s.t.Final = &r
	g := &s.t.Gate
	said := "the reviewer has nothing to say"
	switch {
	case r.Why != "":
		said = "the final review " + r.String()
	case r.URL != "":
		said = "what the reviewer says stands on the pull request, and decides nothing"
	}
	switch {
	case s.t.State != Checking || g.AwaitsPerson || s.pending(DoGate):
		s.because("%s", said)
	case g.Hint.After(g.Due):
		s.look(g.Hint.Add(s.t.Settings.Checks.Settle.D()))
		s.because("%s; checks changed meanwhile, and SIA looks at them first", said)
	case s.startFollowUp(), s.startReady(said):
	default:
		s.look(s.e.At)
		s.deferSync = true
		s.because("%s; one more look follows", said)
	}
}
