package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/plan"
)

// worked reports whether an attempt of the present run was one at the task itself.
func (t *Task) worked() bool {
	return slices.ContainsFunc(t.Attempts[min(t.Earlier, len(t.Attempts)):], Attempt.Worked)
}

func (s *step) worked() bool { return s.t.worked() }

// plans reports whether the next attempt makes a plan: the repository wants one
// approved, none is, and nothing was done in this run yet.
func (t *Task) plans() bool {
	return t.Settings.Agent.Plan == PlanApprove && t.Brief.Plan == nil && !t.worked()
}

func (s *step) plans() bool { return s.t.plans() }

// Whole reports whether the next attempt is all of the task in one run: then several coders can
// make it at once, each for themselves.
func (t *Task) Whole() bool {
	return t.Opening != nil && t.Opening.Structure == plan.Whole && t.Merging == nil && !t.plans() &&
		t.Brief.Demands == nil
}

// planned ends an attempt that was to make a plan. It is never judged and never
// diagnosed: either a person is shown what it made, or the task is held.
func (s *step) planned(f AttemptEnded) {
	a := s.t.Attempt()
	switch {
	case f.End == EndAsked && f.Ask.Plan != nil:
		a.Outcome = AttemptAsked
		s.propose(*f.Ask.Plan)
	case f.End == EndAsked:
		a.Outcome = AttemptAsked
		s.ask(*f.Ask)
	case f.End == EndCancelled:
		a.Outcome = AttemptCancelled
		s.emit(DoMemory, a.Number, s.v())
		s.queue()
		s.because("attempt %d was interrupted while it made a plan; the next makes one anew", a.Number)
	case f.End == EndCredits:
		a.Outcome = AttemptError
		s.enter(Queued)
		s.outOfCredits()
		s.begin()
	default:
		a.Outcome = AttemptError
		if a.Reason == "" {
			a.Reason = "nothing was proposed"
		}
		s.enter(Queued)
		s.hold(PausedByTrouble, fmt.Sprintf("attempt %d made no plan: %s", a.Number, a.Reason))
		s.begin()
	}
}

// propose shows a plan to people, and waits for somebody's yes.
func (s *step) propose(p Plan) {
	p.Attempt, p.By = s.number(), Actor{}
	s.open(wholePlan(p))
	s.because("attempt %d made a plan; somebody has to approve it before anything is done", p.Attempt)
}

// approve starts the plan that waits.
func (s *step) approve() {
	f := s.e.Fact.(Approve)
	e := s.t.Escalation
	switch {
	case e.Kind != AskPlan:
		s.ignore("no plan waits for a yes, but a question for its answer: `/sia answer …` gives it")
	case f.Question != 0 && f.Question != e.Number:
		s.ignore("another plan has taken that one's place")
	default:
		s.goAhead()
	}
}

// goAhead makes the plan that waits the approved one. What a person can't have
// read yet, nobody approves.
func (s *step) goAhead() {
	e := s.t.Escalation
	if e.URL == "" {
		s.ignore("the plan is about to be posted; read it first, then `/sia go` starts it")
		return
	}
	p := *e.Plan
	p.By, p.At = s.e.By, s.e.At
	s.t.Brief.Plan = &p
	e.Answered = true
	if !s.e.Origin.Command && s.e.Origin.Comment != 0 {
		s.react("rocket") // a 👍 is seen to have been obeyed as a command is
	}
	s.again()
	s.because("%s approved the plan of attempt %d", s.who(), p.Attempt)
}

// answerPlan takes an answer to a plan. Only the plain letter approves it: with
// words beside it, nobody can tell whether the plan is wanted as it stands, so
// another is made that heeds them.
func (s *step) answerPlan(f AnswerGiven) {
	e, text := s.t.Escalation, strings.TrimSpace(f.Text)
	switch {
	case f.Letter == planStop:
		s.end(s.who()+" did not want the plan", false)
	case text != "":
		s.answered("", text)
		s.t.Brief.Answers = append(s.t.Brief.Answers, fmt.Sprintf("About the plan of attempt %d: %s", e.Plan.Attempt, text))
		s.again()
		s.because("%s wants the plan of attempt %d changed: %s", s.who(), e.Plan.Attempt, text)
	case f.Letter == planGo:
		s.goAhead()
	default:
		s.ignore("`/sia go` starts the plan; `/sia answer …` followed by words says what should be different")
	}
}
