package sia

import "fmt"

// tampered asks a person to accept a green head's changes to the tests and files that validate
// it. If all of them are expectations that the issue may ask to change, a reviewer first decides
// whether it does, once for the same changes of a head.
func (s *step) tampered(weigh []string) {
	w := s.t.Gate.Weighing
	switch {
	case len(weigh) == 0 || w.Of(s.t.Head, weigh) && w.Done:
		s.awaitAcceptance("a person must accept the changes to tests and protected paths")
	case w.Of(s.t.Head, weigh) && s.pending(DoWeigh):
		s.because("whether the issue asks for the changed expectations is being weighed")
	default:
		s.t.Gate.Weighing = &Weighing{SHA: s.t.Head, Findings: weigh}
		s.emitEffect(DoWeigh, s.number(), s.v(), Effect{SHA: s.t.Head})
		s.because("expectations were changed; a reviewer says whether the issue asks for that")
	}
}

// weighed records the reviewer's answer. While the gate watches the head, it schedules a look if the issue asks for all
// of the changes, and else asks a person to accept them.
func (s *step) weighed() {
	f := s.e.Fact.(Weighed)
	w, checking := s.t.Gate.Weighing, s.t.State == Checking
	if s.e.Rules < 1 && !checking {
		s.ignore(late)
		return
	}
	s.t.Credits.spend(f.Cost)
	if w == nil || f.SHA != w.SHA || f.SHA != s.t.Head {
		s.because("the head has changed since %s was weighed", f.SHA.Short())
		return
	}
	w.Done, w.Quotes = true, f.Quotes
	switch {
	case !checking:
		s.because("whether the issue asks for the changed expectations of %s is weighed", f.SHA.Short())
	case w.AskedFor():
		s.look(s.e.At)
		s.because("the issue asks for every expectation that was changed")
	case f.Why != "":
		s.awaitAcceptance(fmt.Sprintf("whether the issue asks for the changed expectations could not be weighed (%s): a "+
			"person must accept them", f.Why))
	default:
		s.awaitAcceptance("the issue does not ask for every expectation that was changed: a person must accept them")
	}
}

// awaitAcceptance waits for a person to accept a head's changes to the tests and files that validate it. A follow-up is
// taken back instead, because the head before it is green.
func (s *step) awaitAcceptance(why string) {
	if s.judgesFollowUp() {
		s.takeBack(AttemptFail, "a person would have to accept its changes to tests and protected paths")
		return
	}
	s.t.Gate.AwaitsPerson = true
	s.because("%s", why)
}
