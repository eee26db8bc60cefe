package sia

import (
	"slices"
)

// found takes up a pull request that is not what the task knows, before anything is concluded about its checks. What
// somebody else did is followed as if a webhook had reported it.
func (s *step) found(f Found) {
	switch {
	case f.Merged || f.Closed:
		s.closePull(PullClosed{Merged: f.Merged, Head: f.Head})
	case f.Gone:
		s.t.Pull = Pull{}
		s.end("GitHub does not know the pull request any more", false)
	case f.Base != "":
		s.retarget(Retargeted{Base: f.Base, SHA: f.BaseAt})
	case s.t.State == Passed:
		s.followAfter(f.Head, f.By)
	default:
		s.follow(f.Head, f.By)
	}
}

// MovedTo reports whether a pull request's head tells that somebody else than SIA pushed. For a while after an
// attempt's push it may be the head of before: GitHub's servers hear of a push one after the other.
func (t *Task) MovedTo(head SHA, lagged bool) bool {
	if head == "" || head == t.Head || t.pending(DoUpdate) || t.pending(DoTakeBack) {
		return false // what stands there is known, or may be SIA's own
	}
	former := slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Head == head })
	return !former || !lagged
}

// retargeted follows the pull request to another base branch.
func (s *step) retargeted() { s.retarget(s.e.Fact.(Retargeted)) }

// retarget makes another branch the base. Its rules hold from now on, and its head is what the change is compared with;
// what that shows of files that only differ between the two bases a person is asked about. The next attempt reads
// settings and base again.
func (s *step) retarget(f Retargeted) {
	if f.Base == "" || f.Base == s.t.BaseBranch {
		s.ignore("the pull request is to be merged into `%s`, as it was", s.t.BaseBranch)
		return
	}
	s.t.Lapsed = s.t.Lapsed || len(s.t.Accepted) > 0
	s.t.BaseBranch, s.t.Accepted = f.Base, nil
	if f.SHA != "" && s.t.Head != "" {
		s.t.BaseSHA = f.SHA
	}
	s.t.Updates = 0
	if s.t.State == Checking {
		s.t.Checks = nil
		s.watch()
	}
	s.because("%s changed the base of the pull request to `%s`; the rules of that branch hold from now on", s.who(),
		f.Base)
}

// seenAfterPass has a passed pull request looked at when a check of its head is said to have turned red, or, where one
// has, to have changed.
func (s *step) seenAfterPass() {
	f := s.e.Fact.(CheckSeen)
	switch {
	case !f.Bad && (s.t.Afterwards == nil || len(s.t.Afterwards.Red) == 0), f.SHA != s.t.Head, s.t.Pull.Number == 0,
		s.t.Pull.Merged:
		s.ignore("no verdict is waited for")
	case s.pending(DoWatch):
		s.ignore("a look at it is due already")
	default:
		s.emitEffect(DoWatch, s.number(), s.v(),
			Effect{At: s.e.At.Add(s.t.Settings.Checks.Settle.D()), SHA: s.t.Head})
		s.because("checks of %s changed after the pass; SIA looks", f.SHA.Short())
	}
}

// watched notes what a look showed after the pass. The pass stays with its commit.
func (s *step) watched() {
	f := s.e.Fact.(Watched)
	before := s.t.Afterwards
	switch {
	case f.Found != nil:
		s.found(*f.Found)
	case f.SHA != s.t.Head:
		s.ignore(late)
	case len(f.Red) == 0 && before == nil || before != nil && sameNames(f.Red, before.Red):
		s.ignore("nothing has changed since the last look")
	case len(f.Red) == 0:
		s.t.Afterwards = &Afterwards{SHA: f.SHA, At: f.Looked}
		s.because("what had turned red on %s after the pass is green again", f.SHA.Short())
	default:
		s.t.Afterwards = &Afterwards{SHA: f.SHA, At: f.Looked, Red: f.Red}
		s.because("%s turned red on %s after the pass", f.Red[0].Name, f.SHA.Short())
	}
}

// Stands reports whether a look after the pass shows what the task knows already.
func (t *Task) Stands(f Watched) bool {
	if o := f.Found; o != nil {
		open := !o.Closed && !o.Merged && !o.Gone && o.Base == ""
		return open && t.Moved != nil && t.Moved.SHA == o.Head
	}
	if f.SHA != t.Head {
		return true // it is about another pass
	}
	if t.Afterwards == nil {
		return len(f.Red) == 0
	}
	return sameNames(f.Red, t.Afterwards.Red)
}

func sameNames(a, b []Check) bool {
	return slices.EqualFunc(a, b, func(x, y Check) bool { return x.Name == y.Name })
}

// withReported adds what reported to what had, the newest last, at most MaxReported.
func withReported(had, now []Reported) []Reported {
	out := slices.DeleteFunc(slices.Clone(had), func(r Reported) bool { return slices.Contains(now, r) })
	out = append(out, now...)
	return out[max(0, len(out)-MaxReported):]
}
