package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Omission contains the unmet demands that the final review of a green head found, and the result of the
// follow-up: one attempt in a run, if the budget has room for it. The head stays SIA's result until the
// follow-up's is green (docs/adr/0029-a-final-review-that-counts.md).
type Omission struct {
	Review  FinalReview `json:"review"`            // of the green head
	Base    SHA         `json:"base,omitempty"`    // the base commit with which this head is compared
	Open    bool        `json:"open,omitempty"`    // the follow-up waits, works, or is being judged
	Attempt int         `json:"attempt,omitempty"` // number of the follow-up; 0: none began
	Back    SHA         `json:"back,omitempty"`    // the commit that is being removed from the branch; empty: none
	Why     string      `json:"why,omitempty"`     // why the demands stay unmet, for people; empty: not decided
	Answers []string    `json:"answers,omitempty"` // the coder's answer to each unmet demand; empty: none
}

// demandsUnmet returns the unmet demands.
func (r FinalReview) demandsUnmet() []Demand {
	return slices.DeleteFunc(slices.Clone(r.Demands), func(d Demand) bool { return d.State != DemandUnmet })
}

// Answer returns the coder's answer to an unmet demand; empty: none.
func (o *Omission) Answer(quote string) string {
	if o == nil {
		return ""
	}
	i := slices.IndexFunc(o.Review.demandsUnmet(), func(d Demand) bool { return d.Quote == quote })
	if i < 0 || i >= len(o.Answers) {
		return ""
	}
	return o.Answers[i]
}

// StaysUnmet reports whether head is the reviewed head and its demands stay unmet.
func (o *Omission) StaysUnmet(head SHA) bool { return o != nil && o.Why != "" && o.Review.Of(head) }

// recordOmission records a review's unmet demands, unless a follow-up was begun in this run.
func (s *step) recordOmission(f FinalReviewed) {
	if o := s.t.Omission; (o == nil || o.Attempt == 0 && !o.Open) && len(f.Review.demandsUnmet()) > 0 {
		r := f.Review
		r.Done = true
		s.t.Omission = &Omission{Review: r, Base: s.t.BaseSHA}
	}
}

// startFollowUp queues the follow-up attempt for a green head's unmet demands, before people are notified, and
// reports whether it did. If no follow-up is possible it records why.
func (s *step) startFollowUp() bool {
	o := s.t.Omission
	if o == nil || o.Open || o.Attempt > 0 || o.Why != "" || !o.Review.Of(s.t.Head) {
		return false
	}
	if why := s.followUpObstacle(false); why != "" {
		o.Why = "no follow-up: " + why
		return false
	}
	o.Open = true
	s.closeGreen()
	s.respond(s.t.Head, "")
	s.t.Next = nil
	s.dropNext()
	s.t.Kept = s.t.Head
	s.t.Brief = s.nextBrief(true, "", false)
	s.t.Brief.Technique, s.t.Brief.Demands = "", o.Review.demandsUnmet() // the outcome does not rate a technique
	s.queue()
	s.because("every required check is green on %s, and %s: one follow-up attempt is made", s.t.Head.Short(),
		o.Review.Unmet())
	return true
}

// followUpObstacle returns why no follow-up attempt can be made now; empty if one can. known means that its prompt was
// tried before, so that it costs no approach.
func (s *step) followUpObstacle(known bool) string {
	switch {
	case s.t.HeadBy != (Actor{}):
		return "somebody else pushed to the branch"
	case s.t.Pull.Number == 0 || s.t.Pull.Merged:
		return "the pull request is not open"
	case s.t.Credits.Left() < Credit:
		return fmt.Sprintf("the task's %s credits are used up", s.t.Credits.Budget)
	case s.t.ApproachesLeft() == 0 && !known:
		return "no approach is left"
	}
	return ""
}

// followsUp reports whether the next attempt, or the present one, is the follow-up.
func (s *step) followsUp() bool { return s.t.Omission != nil && s.t.Omission.Open }

// followUpCanceled returns why the follow-up that is about to begin is canceled; empty if it begins.
func (s *step) followUpCanceled(f Begun, edited bool) string {
	hash := s.t.Brief.Hash(f.Title, f.Body)
	known := slices.ContainsFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == hash })
	switch why := s.followUpObstacle(known); {
	case why != "":
		return why
	case f.Hold != "":
		return f.Hold
	case edited || s.t.Edited != nil:
		return "the issue was edited meanwhile"
	case s.t.hasOpenWishes():
		return "changes were asked for on the pull request meanwhile"
	case s.t.Merging != nil:
		return fmt.Sprintf("`%s` moved in its way", s.t.BaseBranch)
	}
	return ""
}

// abandonFollowUp ends the follow-up before it has pushed a commit: the checks of the present head decide as before.
func (s *step) abandonFollowUp(why string) {
	s.closeFollowUp(why)
	s.t.Brief.Demands = nil
	s.dropOpening()
	if s.t.Head == "" { // the branch was deleted
		s.proceed("the branch is gone; the next attempt starts at the base")
		return
	}
	s.recheckHead()
	s.because("%s; the checks of %s decide as before", strings.TrimRight(why, "."), s.t.Head.Short())
}

// closeFollowUp records that no follow-up is open any more, and why; the first reason stays.
func (s *step) closeFollowUp(why string) {
	if o := s.t.Omission; o != nil && o.Open {
		o.Open, o.Why = false, why
	}
}

// isFollowUp reports whether the present attempt is the follow-up and has no outcome yet.
func (s *step) isFollowUp() bool {
	a, o := s.t.Attempt(), s.t.Omission
	return o != nil && a != nil && o.Attempt == a.Number && a.Outcome == ""
}

// followUpEnded pushes the follow-up's commit, to be judged. If the follow-up ends in any other way, nothing is pushed,
// because the branch is green.
func (s *step) followUpEnded() {
	f := s.record()
	a, o := s.t.Attempt(), s.t.Omission
	o.Answers = nil
	if said := Answers(a.Summary, len(o.Review.demandsUnmet())); strings.Join(said, "") != "" {
		o.Answers = said
	}
	if f.End == EndFinished && f.Commit != "" {
		s.push(f.Commit)
		s.because("attempt %d changed %s for what was not done; its commit is pushed so that the checks can say whether it "+
			"is right", a.Number, text.Count(f.Diff.Files, "file"))
		return
	}
	why := f.Reason
	switch f.End {
	case EndFinished:
		s.closeUnchanged()
		switch {
		case why != "": // its change may not be pushed
		case o.Answers != nil:
			why = "it changed nothing: " + text.Clip(text.OneLine(strings.Join(o.Answers, " ")), 300)
		default:
			why = "it changed nothing"
		}
	case EndAsked:
		a.Outcome = AttemptAsked
		s.dropPrompt(a.PromptHash)
		if why = "it has a question"; f.Ask != nil && f.Ask.Question != "" {
			why += ": " + f.Ask.Question
		}
	case EndCancelled:
		a.Outcome = AttemptCancelled
	case EndError:
		a.Outcome = AttemptError
	default: // stuck, or a limit
		s.closeUnchanged()
	}
	if why == "" {
		why = string(f.End)
	}
	a.Reason = why
	s.abandonFollowUp(fmt.Sprintf("attempt %d was to do it, and %s", a.Number, why))
}

// followUpRefused accepts somebody else's push, or leaves the branch unchanged if GitHub rejects the commit.
func (s *step) followUpRefused(f PushRefused) {
	a := s.t.Attempt()
	a.Reason = f.Reason
	if f.Change {
		s.closeUnchanged()
	} else {
		a.Outcome = AttemptError
		if !f.Lost && f.Head != s.t.Head {
			s.follow(f.Head, Actor{})
		}
	}
	s.abandonFollowUp("no follow-up: " + f.Reason)
}

// judgesFollowUp reports whether the present head is the follow-up's, so that any verdict but green resets the branch.
func (s *step) judgesFollowUp() bool {
	o := s.t.Omission
	return o != nil && o.Open && o.Attempt > 0 && !o.Review.Of(s.t.Head) && s.t.HeadBy == (Actor{})
}

// takeBack resets the branch to the green head, because the follow-up's head did not become green.
func (s *step) takeBack(outcome AttemptOutcome, why string) {
	a, o := s.t.Attempt(), s.t.Omission
	why = fmt.Sprintf("attempt %d did it, and %s", a.Number, why)
	if outcome == AttemptFail {
		s.outcome(AttemptFail)
	} else {
		a.Outcome = outcome
	}
	a.Reason = why
	s.closeFollowUp(why + "; its commit was taken off the branch")
	o.Back, o.Answers = s.t.Head, nil // the answers were about that commit
	s.t.Brief.Demands = nil
	s.dropNext()
	s.emitEffect(DoTakeBack, a.Number, s.v(), Effect{SHA: o.Review.SHA})
	s.because("%s: the branch goes back to %s, which is green", why, o.Review.SHA.Short())
}

// takenBack lets the checks of the present head decide.
func (s *step) takenBack() {
	f, o := s.e.Fact.(TakenBack), s.t.Omission
	switch {
	case s.restoreHead():
		s.watch()
		s.because("%s is on %s again; its checks decide", s.t.Head.Short(), s.t.Branch)
	case o != nil && o.Back == s.t.Head && s.t.Head != "": // somebody else pushed first, and no event reported it
		o.Back = ""
		if f.SHA == s.t.Head {
			s.watch()
			s.because("somebody has put %s on %s again; its checks decide", f.SHA.Short(), s.t.Branch)
		} else if s.follow(f.SHA, Actor{}); s.t.Head == "" {
			s.proceed("the branch is gone; the next attempt starts at the base")
		}
	default:
		s.because("somebody else has pushed to the branch since")
	}
}

// takenBackLate records the reset branch after the task had moved on.
func (s *step) takenBackLate() {
	if !s.restoreHead() {
		s.ignore(late)
		return
	}
	s.because("%s is on %s again", s.t.Head.Short(), s.t.Branch)
}

// restoreHead makes the green head, or the commit with its files that SIA pushed in its place, the task's head again,
// if it is on the branch and nobody has pushed since. It reports whether it did.
func (s *step) restoreHead() bool {
	f, o := s.e.Fact.(TakenBack), s.t.Omission
	if o == nil || o.Back == "" || o.Back != s.t.Head || !o.Review.Of(f.SHA) && !(f.SHA != "" && o.Review.Of(f.Made)) {
		return false
	}
	o.Back, o.Review.SHA = "", f.SHA // the same files, so the review holds
	r := o.Review
	s.t.Head, s.t.Kept, s.t.Checks, s.t.Final, s.t.BaseSHA = f.SHA, f.SHA, nil, &r, o.Base
	return true
}

// isTakingBack reports whether the present head is being removed from the branch, so that its checks are ignored.
func (s *step) isTakingBack() bool {
	o := s.t.Omission
	return o != nil && o.Back != "" && o.Back == s.t.Head
}

// TakenBack: the branch was reset to its head before the follow-up, or somebody else moved it.
type TakenBack struct {
	SHA  SHA `json:"sha"`            // the branch's head now; empty: it was deleted
	Made SHA `json:"made,omitempty"` // the green head, if SIA pushed SHA with its files in its place; else empty
}

// Kind returns the kind of the fact.
func (TakenBack) Kind() Kind { return KTakenBack }
