package sia

import (
	"fmt"
	"slices"
	"time"
)

// applyFound applies a difference between the pull request and the task's record, before any conclusion about its
// checks. It handles a change by somebody else as if a webhook had reported it.
func (s *step) applyFound(f Found) {
	switch {
	case f.Merged || f.Closed:
		s.closePull(PullClosed{Merged: f.Merged, Head: f.Head, ClosedAt: f.ClosedAt})
	case f.Gone:
		s.t.Pull = Pull{}
		s.end("GitHub does not know the pull request any more", false)
	case f.Base != "":
		s.retarget(Retargeted{Base: f.Base, SHA: f.BaseAt})
	case s.t.State == Passed:
		s.recordMove(f.Head, f.By)
	default:
		s.follow(f.Head, f.By)
	}
}

// MovedTo reports whether a pull request's head shows that somebody other than SIA pushed. lagged means that GitHub may
// still report an earlier head shortly after an attempt's push, because its servers are eventually consistent.
func (t *Task) MovedTo(head SHA, lagged bool) bool {
	if head == "" || head == t.Head || t.pending(DoUpdate) || t.pending(DoTakeBack) {
		return false // the head is known, or may be SIA's own
	}
	return !lagged || !t.HadHead(head)
}

// HadHead reports whether a commit was the task's head before. If the branch is at the task's head, a pull request that
// shows such a commit lags: GitHub may take hours to show a push, and runs no workflow for the pull request meanwhile.
// https://github.com/strands-labs/robots/issues/2538
func (t *Task) HadHead(sha SHA) bool {
	return sha != t.Head && (slices.Contains(t.Former, sha) ||
		slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Head == sha }))
}

// reopenTime is how long a task that waits for checks does not end because its pull request was closed. GitHub
// sometimes starts no workflow for a push, and people then close the pull request and open it again, which starts them.
// https://github.com/lewiswigmore/open-wire/issues/40
// https://github.com/kamp-us/phoenix/issues/1016
const reopenTime = time.Minute

// ReopenWait returns how much longer the task does not end because its pull request was closed, unmerged, at a time;
// 0 or less: it ends.
func (t *Task) ReopenWait(closed, now time.Time) time.Duration {
	if closed.IsZero() || t.State != Checking && !t.AsksAboutChecks() {
		return 0
	}
	return min(reopenTime, closed.Add(reopenTime).Sub(now))
}

// retargeted applies a change of the pull request's base branch.
func (s *step) retargeted() { s.retarget(s.e.Fact.(Retargeted)) }

// retarget sets another base branch. From now on its rules apply, and the change is compared with its head; a person is
// asked about protected files that only differ between the two bases. The next attempt reads settings and base again.
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

// checkSeenAfterPass schedules a look at a passed pull request when a check of its head is reported as failed, or, if
// one is red already, as changed.
func (s *step) checkSeenAfterPass() {
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
		s.because("SIA looks again at %s, which has passed", f.SHA.Short())
	}
}

// watched records the result of a look after the pass. It does not change the verdict, but a branch that conflicts with
// its base can't be merged: the gate looks at it again, merges the base into it, and the checks decide.
func (s *step) watched() {
	f := s.e.Fact.(Watched)
	t := &s.t
	before := t.Afterwards
	switch {
	case !s.hasPull():
		s.ignore("the pull request is closed")
	case f.Found != nil:
		s.applyFound(*f.Found)
	case f.SHA != s.t.Head:
		s.ignore(late)
	case f.Conflicts && t.Conflicted < maxUpdates:
		t.Conflicted++
		t.Afterwards, t.Updates = nil, 0
		s.enter(Checking)
		s.watch()
		s.because("after the pass `%s` moved in the way of the branch", t.BaseBranch)
	case f.Conflicts && t.Conflicted == maxUpdates:
		t.Conflicted++
		s.warn(fmt.Sprintf("`%s` is in the way of the branch again, after %d merges of it since the pass; `/sia start` "+
			"has it merged once more.", t.BaseBranch, maxUpdates))
		s.because("`%s` is in the way of the branch again, after %d merges of it since the pass", t.BaseBranch, maxUpdates)
	case sameNames(f.Red, before.red()) && f.MergeBlocked == t.MergeBlocked:
		s.ignore("nothing has changed since the last look")
	case sameNames(f.Red, before.red()) && f.MergeBlocked:
		t.MergeBlocked = true
		s.because("GitHub says that the merge of %s is blocked", f.SHA.Short())
	case sameNames(f.Red, before.red()):
		t.MergeBlocked = false
		s.because("GitHub no longer says that the merge of %s is blocked, or a check tells why", f.SHA.Short())
	case len(f.Red) == 0:
		t.Afterwards, t.MergeBlocked = &Afterwards{SHA: f.SHA, At: f.Looked}, f.MergeBlocked
		s.because("what had turned red on %s after the pass is green again", f.SHA.Short())
	default:
		t.Afterwards, t.MergeBlocked = &Afterwards{SHA: f.SHA, At: f.Looked, Red: f.Red}, f.MergeBlocked
		s.because("%s turned red on %s after the pass", f.Red[0].Name, f.SHA.Short())
	}
}

// HasSeen reports whether a look after the pass shows nothing new.
func (t *Task) HasSeen(f Watched) bool {
	if o := f.Found; o != nil {
		open := !o.Closed && !o.Merged && !o.Gone && o.Base == ""
		return open && t.Moved != nil && t.Moved.SHA == o.Head
	}
	if f.SHA != t.Head {
		return true // it is about another pass
	}
	if f.Unmerged || f.Conflicts && t.Conflicted <= maxUpdates { // unmerged: GitHub has begun to compute it
		return false
	}
	return sameNames(f.Red, t.Afterwards.red()) && f.MergeBlocked == t.MergeBlocked
}

// red returns the red checks of the last look; none without a look.
func (a *Afterwards) red() []Check {
	if a == nil {
		return nil
	}
	return a.Red
}

func sameNames(a, b []Check) bool {
	return slices.EqualFunc(a, b, func(x, y Check) bool { return x.Name == y.Name })
}

// withReported appends the checks in now to had, without duplicates, the newest last, at most MaxReported.
func withReported(had, now []Reported) []Reported {
	out := slices.DeleteFunc(slices.Clone(had), func(r Reported) bool { return slices.Contains(now, r) })
	out = append(out, now...)
	return out[max(0, len(out)-MaxReported):]
}
