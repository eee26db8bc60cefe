package sia

import "strings"

// runTests runs the tests that the present head can reach, in parallel to its checks, once for each head that SIA
// pushed. It cancels a run for an earlier head.
func (s *step) runTests() {
	if s.t.hasEvidence() {
		return
	}
	s.t.Gate.Evidence = nil
	for _, key := range s.pendingKeys(DoEvidence) {
		s.emitEffect(DoCancel, s.number(), "tests-"+s.v(), Effect{TargetKey: key})
	}
	s.dropPending(func(k EffectKind) bool { return k == DoEvidence })
	if s.t.Settings.Checks.Evidence == 0 || s.t.HeadBy != (Actor{}) {
		return
	}
	s.emitEffect(DoEvidence, s.number(), s.v(), Effect{SHA: s.t.Head})
}

// missesTests reports whether nothing is known or will be known of tests that the present head should pass.
func (s *step) missesTests() bool {
	return s.e.Rules >= 1 && !s.t.hasEvidence() && !s.pending(DoEvidence) && s.t.Settings.Checks.Evidence > 0 &&
		s.t.HeadBy == (Actor{})
}

// dropOldTests cancels tests that were running when another commit became the head or its base.
func (s *step) dropOldTests(before Task) {
	if s.e.Rules < 1 || before.Head == s.t.Head && before.BaseSHA == s.t.BaseSHA {
		return
	}
	for _, key := range s.pendingKeys(DoEvidence) {
		if before.Pending[key] != "" {
			s.emitEffect(DoCancel, s.number(), "tests-"+s.v(), Effect{TargetKey: key})
			delete(s.t.Pending, key)
		}
	}
}

// evidenced records the test results, and schedules a look if the gate waits for them.
func (s *step) evidenced() {
	e := s.e.Fact.(Evidenced).Evidence
	checking := s.t.State == Checking
	if s.e.Rules < 1 && !checking {
		s.ignore(late)
		return
	}
	if e.Head != s.t.Head {
		s.because("the head has changed since the tests of %s were run", e.Head.Short())
		return
	}
	if s.e.Rules >= 3 {
		e.separateRed(s.t.FailedBefore())
	}
	s.t.Gate.Evidence = &e
	if s.t.Gate.Looks > 0 && !s.t.Gate.AwaitsPerson && (checking || s.t.AsksAboutChecks()) {
		s.look(s.e.At)
	}
	firm, broken := e.Asks()
	switch {
	case len(firm)+len(broken) > 0:
		s.because("running the tests speaks against %s: %s", e.Head.Short(), append(firm, broken...)[0])
	case e.NotRun != "":
		s.because("SIA could not run the tests of %s itself: %s", e.Head.Short(), strings.TrimRight(e.NotRun, "."))
	default:
		s.because("SIA ran the tests of %s itself; nothing speaks against it", e.Head.Short())
	}
}

// SavesMemory reports whether the task's memory is being committed.
func (t *Task) SavesMemory() bool { return t.pending(DoMemory) }

// hasEvidence reports whether the results of the present head's tests, compared with its base's, are known.
func (t *Task) hasEvidence() bool {
	e := t.Gate.Evidence
	return e != nil && e.Head == t.Head && e.Base == t.BaseSHA
}

// RunsTests reports whether the tests of the present head are being run.
func (t *Task) RunsTests() bool { return t.pending(DoEvidence) }
