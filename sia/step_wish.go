package sia

import (
	"fmt"
	"slices"
	"time"
)

// changesAsked records a change request on the pull request. The next attempt is given it and
// continues from the branch's head. It begins after the running attempt, when no further request
// has arrived for a while.
func (s *step) changesAsked() {
	f := s.e.Fact.(ChangesAsked)
	switch {
	case s.t.Pull.Number == 0 || s.t.Pull.Merged:
		s.ignore("the pull request is not open any more; `/sia start` followed by words, on the issue, says what is " +
			"wanted besides")
		return
	case len(s.t.Wishes) >= maxWishes:
		s.ignore("%d requests wait already; the next attempt is given those", maxWishes)
		return
	}
	s.t.Wishes = append(s.t.Wishes, Wish{ID: s.e.ID, By: s.e.By, At: s.e.At, Review: f.Review, Thread: f.Thread,
		Text: f.Text, Origin: s.e.Origin})
	s.because("%s asked for changes; the next attempt is given them", s.who())
	switch {
	case s.t.State == Working:
		s.waits = fmt.Sprintf("attempt %d comes first: the next is given it", s.number())
	case s.t.State == PushedOut || s.t.State == Checking:
		s.waits = fmt.Sprintf("the checks of %s come first: the next attempt is given it", s.t.Head.Short())
	case s.t.State == Passed:
		s.followUp()
	case s.t.State == Queued && s.pending(DoBegin) && s.t.BeginsAt.After(s.e.At):
		s.queueAfter(max(s.wishDelay(), s.t.BeginsAt.Sub(s.e.At))) // never earlier than already scheduled
		s.because("%s asked for more changes; the next attempt is given them, too", s.who())
	case s.t.State == Escalated && (s.t.Escalation.Kind == AskIssue || s.t.Escalation.AboutChecks()):
		s.answered("", "changes were asked for on the pull request")
		s.t.Approaches = max(s.t.Approaches, len(s.t.Prompts)+1)
		s.t.Failures, s.t.AwaitMemory, s.t.Brief.Technique = 0, "", "" // the outcome does not rate a technique
		s.proceedAfter(s.wishDelay(), s.who()+" asked for changes instead of an answer; the next attempt is given them")
	}
}

// changesTooLate replies that the task has stopped, to a review without a command too.
func (s *step) changesTooLate() {
	s.ignore("SIA has stopped working on this; `/sia start` followed by words, on the issue, starts again with them")
	if !s.e.Origin.Command {
		s.reply(s.ignored)
	}
}

// followUp begins a new run from the green head for change requests, with the instructions that worked.
func (s *step) followUp() {
	s.newRun(true, "", false)
	s.queueAfter(s.wishDelay())
	s.because("changes were asked for on the pull request; the next attempt goes on from %s, which has passed",
		s.t.Head.Short())
}

// followUpInstead is followUp for a green head without a notification yet, because more changes were requested during
// the attempt, or more than it was given. In the second case it answers those that it was given.
func (s *step) followUpInstead() {
	s.closeGreen()
	if a := s.t.Brief.Asked; a != nil && len(a.Rest) > 0 {
		s.respond(s.t.Head, "")
	}
	s.t.Next = nil
	s.dropNext()
	s.emit(DoMemory, s.number(), s.v())
	s.followUp()
}

// wishDelay returns how long to wait for more change requests.
func (s *step) wishDelay() time.Duration {
	first, last := time.Time{}, time.Time{}
	for _, w := range s.t.Wishes {
		if w.Attempt != 0 {
			continue
		}
		if first.IsZero() {
			first = w.At
		}
		last = w.At
	}
	quiet := s.t.Settings.Review.Wait.D()
	until := last.Add(quiet)
	if most := first.Add(maxWishWaits * quiet); most.Before(until) {
		until = most
	}
	return until.Sub(s.e.At)
}

// changesWithdrawn drops the requests of reviews that were withdrawn. A request that an attempt was given
// stays.
func (s *step) changesWithdrawn() {
	f := s.e.Fact.(ChangesWithdrawn)
	before := len(s.t.Wishes)
	s.t.Wishes = without(s.t.Wishes, func(w Wish) bool {
		return w.Attempt == 0 && w.Review != 0 && (w.Review == f.Review || f.Review == 0 && w.By.ID == s.e.By.ID)
	})
	if len(s.t.Wishes) == before {
		s.ignore("nothing that was asked for waits")
		return
	}
	s.because("%s took back what a review asked for", s.who())
	if s.t.State == Queued && s.pending(DoBegin) && !s.t.BeginsAt.IsZero() && s.nothingAsked() {
		s.recheckHead()
		s.because("%s took back what a review asked for; the checks of %s decide as before", s.who(), s.t.Head.Short())
	}
}

// nothingAsked reports whether a run that follows a green head has nothing for an attempt to do.
func (s *step) nothingAsked() bool {
	return len(s.t.Wishes) == 0 && s.t.Brief.FollowUp == "" && s.t.Head != "" && s.t.Kept == s.t.Head &&
		s.number() == s.t.Earlier
}

// recheckHead reads the checks of the passed head once more instead of beginning an attempt.
func (s *step) recheckHead() {
	s.dropPending(func(k EffectKind) bool { return k == DoBegin })
	s.t.BeginsAt = time.Time{}
	s.enter(Checking)
	s.watch()
}

// maxSettled is the maximum number of resolved threads that a task keeps.
const maxSettled = 200

// threadSettled records that a thread was resolved or reopened. No later attempt is given a resolved thread.
func (s *step) threadSettled() {
	f := s.e.Fact.(ThreadSettled)
	s.t.Settled = without(s.t.Settled, func(id int64) bool { return id == f.Thread })
	if f.Again {
		s.because("%s opened a thread again", s.who())
		return
	}
	if s.t.Settled = append(s.t.Settled, f.Thread); len(s.t.Settled) > maxSettled {
		s.t.Settled = s.t.Settled[1:]
	}
	s.because("%s resolved a thread", s.who())
}

// giveAsked records the change requests that the next attempt is given.
func (s *step) giveAsked(a *Asked) {
	s.t.Brief.Asked = nil
	if a == nil {
		return
	}
	for i := range s.t.Wishes {
		if w := &s.t.Wishes[i]; w.Attempt == 0 && slices.Contains(a.Wishes, w.ID) {
			w.Attempt, w.From = s.number()+1, s.t.Head
		}
	}
	if !a.empty() {
		s.t.Brief.Asked = a
	}
}

// endWithAnswers ends an attempt that changed nothing but answered each change request on a green head. The
// checks of that head decide as before, and the answers are posted to the reviewers. It reports whether it
// did.
func (s *step) endWithAnswers() bool {
	a, asked := s.t.Attempt(), s.t.Brief.Asked
	if asked.empty() || s.t.Head == "" || s.t.Kept != s.t.Head ||
		slices.Contains(Answers(a.Summary, len(asked.Words)+len(asked.Threads)), "") {
		return false
	}
	s.closeUnchanged()
	a.Reason = "it changed nothing, and told the reviewers why"
	s.enter(Checking)
	s.watch()
	s.because("attempt %d changed nothing and answers the reviewers; the checks of %s decide as before", a.Number,
		s.t.Head.Short())
	return true
}

// respond reports to people on the change requests that an attempt was given, and drops them, but for those that wait
// in part. head is the green commit with the changes; empty: there is none, and why is the reason.
func (s *step) respond(head SHA, why string) {
	var from SHA
	some, a := false, s.t.Brief.Asked
	s.t.Wishes = without(s.t.Wishes, func(w Wish) bool {
		if w.Attempt == 0 {
			return false
		}
		if !some {
			from, some = w.From, true
		}
		return !a.postpones(w.ID)
	})
	for i := range s.t.Wishes {
		if w := &s.t.Wishes[i]; w.Attempt != 0 {
			w.Attempt, w.From = 0, ""
			w.Answered = append(slices.Clip(w.Answered), 0)
			for _, t := range a.Threads {
				w.Answered = append(w.Answered, t.ID)
			}
		}
	}
	if !some || a.empty() {
		return
	}
	o := Owed{Key: effectKey(s.t.ID, s.number(), DoRespond, s.v()), From: from, Head: head, Why: why,
		Threads: a.Threads, Words: a.Words}
	if last := s.t.Attempt(); last != nil {
		o.Summary = last.Summary
	}
	s.t.Owed = append(s.t.Owed, o)
	s.emit(DoRespond, s.number(), s.v())
}

// settleOwed drops the reports that were posted or failed.
func (s *step) settleOwed() {
	s.t.Owed = without(s.t.Owed, func(o Owed) bool { _, waits := s.t.Pending[o.Key]; return !waits })
}

// without returns xs without the elements for which gone is true; nil if none is left.
func without[T any](xs []T, gone func(T) bool) []T {
	if xs = slices.DeleteFunc(xs, gone); len(xs) == 0 {
		return nil
	}
	return xs
}

// said returns all comments in a, in order.
func (a *Asked) said() []Said {
	all := slices.Clone(a.Words)
	for _, t := range a.Threads {
		all = append(all, t.Said...)
	}
	return all
}

// decided returns people's change requests of earlier rounds as constraints for later ones, because they still hold.
func (a *Asked) decided() (constraints []string) {
	if a == nil {
		return nil
	}
	for _, w := range a.Words {
		constraints = append(constraints, "In a review: "+w.Text)
	}
	for _, t := range a.Threads {
		for _, said := range t.Said {
			if said.Own { // it quotes the issue and models
				continue
			}
			constraints = append(constraints, fmt.Sprintf("In a review, at %s: %s", t.Path, said.Text))
		}
	}
	return constraints
}
