package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Omission is what the final review of a green head found not to be done, and its result: one follow-up
// attempt in a run, where the budget has room for it. The head stays what SIA stands for until another is
// green (docs/adr/0029-a-final-review-that-counts.md).
type Omission struct {
	Review  FinalReview `json:"review"`            // of the green head
	Base    SHA         `json:"base,omitempty"`    // the base commit that this head is measured against
	Open    bool        `json:"open,omitempty"`    // the follow-up waits, works, or is being judged
	Attempt int         `json:"attempt,omitempty"` // number of the follow-up; 0: none began
	Back    SHA         `json:"back,omitempty"`    // the commit that is being taken off the branch; empty: none is
	Why     string      `json:"why,omitempty"`     // why the head lacks it for good, for people; empty: it does not
	Answers []string    `json:"answers,omitempty"` // the coder's, one for each demand that is not done; empty where none
}

// demandsUnmet are those that were found not to be done.
func (r FinalReview) demandsUnmet() []Demand {
	return slices.DeleteFunc(slices.Clone(r.Demands), func(d Demand) bool { return d.State != DemandUnmet })
}

// Answer is what the coder says about a demand that it did not meet; empty: nothing.
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

// Stands reports whether a head is the one that lacks what was found, and why it does is known.
func (o *Omission) Stands(head SHA) bool { return o != nil && o.Why != "" && o.Review.Of(head) }

// omits notes what a review found not to be done, until a follow-up was begun in this run.
func (s *step) omits(f FinalReviewed) {
	if o := s.t.Omission; (o == nil || o.Attempt == 0 && !o.Open) && len(f.Review.demandsUnmet()) > 0 {
		r := f.Review
		r.Done = true
		s.t.Omission = &Omission{Review: r, Base: s.t.BaseSHA}
	}
}

// followUpFirst begins the follow-up attempt for what a green head lacks, before people are told of it. Where
// there is no room for one, the task goes on, and says so.
func (s *step) followUpFirst() bool {
	o := s.t.Omission
	if o == nil || o.Open || o.Attempt > 0 || o.Why != "" || !o.Review.Of(s.t.Head) {
		return false
	}
	if why := s.noFollowUp(false); why != "" {
		o.Why = "no follow-up: " + why
		return false
	}
	o.Open = true
	s.closeGreen()
	s.respond(s.t.Head, "")
	s.t.Next = nil
	s.forgetNext()
	s.t.Kept = s.t.Head
	s.t.Brief = s.nextBrief(true, "", false)
	s.t.Brief.Technique, s.t.Brief.Demands = "", o.Review.demandsUnmet() // its outcome is the reviewer's merit
	s.queue()
	s.because("every required check is green on %s, and %s: one follow-up attempt is made", s.t.Head.Short(),
		o.Review.Unmet())
	return true
}

// noFollowUp says why no follow-up attempt can be made now; empty: one can. One that is known began before.
func (s *step) noFollowUp(known bool) string {
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

// cannotFollowUp says why the follow-up that is about to begin does not; empty: it does.
func (s *step) cannotFollowUp(f Begun, edited bool) string {
	hash := s.t.Brief.Hash(f.Title, f.Body)
	known := slices.ContainsFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == hash })
	switch why := s.noFollowUp(known); {
	case why != "":
		return why
	case f.Hold != "":
		return f.Hold
	case edited || s.t.Edited != nil:
		return "the issue was edited meanwhile"
	case s.t.wishing():
		return "changes were asked for on the pull request meanwhile"
	case s.t.Merging != nil:
		return fmt.Sprintf("`%s` moved in its way", s.t.BaseBranch)
	}
	return ""
}

// leaveOmission ends the follow-up before anything of it is on the branch: the head that is there is judged as before.
func (s *step) leaveOmission(why string) {
	s.closeOmission(why)
	s.t.Brief.Demands = nil
	s.reopen()
	if s.t.Head == "" { // somebody else deleted the branch
		s.proceed("the branch is gone; the next attempt starts at the base")
		return
	}
	s.leaveGreen()
	s.because("%s; the checks of %s decide as before", why, s.t.Head.Short())
}

// closeOmission notes that no follow-up is made any more. What was known first stays.
func (s *step) closeOmission(why string) {
	if o := s.t.Omission; o != nil && o.Open {
		o.Open, o.Why = false, why
	}
}

// isFollowUp reports whether the present attempt is the follow-up, and has not ended.
func (s *step) isFollowUp() bool {
	a, o := s.t.Attempt(), s.t.Omission
	return o != nil && a != nil && o.Attempt == a.Number && a.Outcome == ""
}

// followUpEnded has the follow-up's commit judged. When it ends in any other way, nothing is pushed: what stands on the
// branch is green.
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
		s.leftUnchanged()
		switch {
		case why != "": // what it changed may not leave
		case o.Answers != nil:
			why = "it changed nothing: " + text.Clip(text.OneLine(strings.Join(o.Answers, " ")), 300)
		default:
			why = "it changed nothing"
		}
	case EndAsked:
		a.Outcome = AttemptAsked
		s.forgetPrompt(a.PromptHash)
		if why = "it has a question"; f.Ask != nil && f.Ask.Question != "" {
			why += ": " + f.Ask.Question
		}
	case EndCancelled:
		a.Outcome = AttemptCancelled
	case EndError:
		a.Outcome = AttemptError
	default: // stuck, or a limit
		s.leftUnchanged()
	}
	if why == "" {
		why = string(f.End)
	}
	a.Reason = why
	s.leaveOmission(fmt.Sprintf("attempt %d was to do it, and %s", a.Number, why))
}

// followUpRefused leaves the branch to whoever pushed to it, or as it is where GitHub does not take the commit.
func (s *step) followUpRefused(f PushRefused) {
	a := s.t.Attempt()
	a.Reason = f.Reason
	if f.Change {
		s.leftUnchanged()
	} else {
		a.Outcome = AttemptError
		if !f.Lost && f.Head != s.t.Head {
			s.follow(f.Head, Actor{})
		}
	}
	s.leaveOmission("no follow-up: " + f.Reason)
}

// judgesFollowUp reports whether the present head is the follow-up's, so that anything but green puts the branch back.
func (s *step) judgesFollowUp() bool {
	o := s.t.Omission
	return o != nil && o.Open && o.Attempt > 0 && !o.Review.Of(s.t.Head) && s.t.HeadBy == (Actor{})
}

// takeBack puts the branch back on the head that is green: the follow-up's checks say otherwise, or nothing.
func (s *step) takeBack(outcome AttemptOutcome, why string) {
	a, o := s.t.Attempt(), s.t.Omission
	why = fmt.Sprintf("attempt %d did it, and %s", a.Number, why)
	if outcome == AttemptFail {
		s.outcome(AttemptFail)
	} else {
		a.Outcome = outcome
	}
	a.Reason = why
	s.closeOmission(why + "; its commit was taken off the branch")
	o.Back, o.Answers = s.t.Head, nil // they were about that commit
	s.t.Brief.Demands = nil
	s.forgetNext()
	s.emitEffect(DoTakeBack, a.Number, s.v(), Effect{SHA: o.Review.SHA})
	s.because("%s: the branch goes back to %s, which is green", why, o.Review.SHA.Short())
}

// takenBack judges the head that is on the branch now.
func (s *step) takenBack() {
	f, o := s.e.Fact.(TakenBack), s.t.Omission
	switch {
	case s.putBack():
		s.watch()
		s.because("%s is on %s again; its checks decide", s.t.Head.Short(), s.t.Branch)
	case o != nil && o.Back == s.t.Head && s.t.Head != "": // somebody was faster, and nothing was heard of it
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

// takenBackLate notes where the branch is, after the task had moved on.
func (s *step) takenBackLate() {
	if !s.putBack() {
		s.ignore(late)
		return
	}
	s.because("%s is on %s again", s.t.Head.Short(), s.t.Branch)
}

// putBack makes the head that is green the task's again, where it is on the branch and nobody has pushed since.
func (s *step) putBack() bool {
	f, o := s.e.Fact.(TakenBack), s.t.Omission
	if o == nil || o.Back == "" || o.Back != s.t.Head || !o.Review.Of(f.SHA) {
		return false
	}
	r := o.Review
	o.Back = ""
	s.t.Head, s.t.Kept, s.t.Checks, s.t.Final, s.t.BaseSHA = f.SHA, f.SHA, nil, &r, o.Base
	return true
}

// isTakingBack reports whether the present head is being taken off the branch, so that nothing more is concluded of it.
func (s *step) isTakingBack() bool {
	o := s.t.Omission
	return o != nil && o.Back != "" && o.Back == s.t.Head
}

// TakenBack: the branch is where it was before the follow-up; or where somebody else put it.
type TakenBack struct {
	SHA SHA `json:"sha"` // the branch's head now; empty: it is gone
}

// Kind names the fact.
func (TakenBack) Kind() Kind { return KTakenBack }
