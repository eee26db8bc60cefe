package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/plan"
)

// worked reports whether an attempt of the present run worked on the task itself.
func (t *Task) worked() bool {
	return slices.ContainsFunc(t.Attempts[min(t.Earlier, len(t.Attempts)):], Attempt.Worked)
}

func (s *step) worked() bool { return s.t.worked() }

// mustPlan reports whether the next attempt makes a plan: the repository requires an approved
// plan, there is none, and no attempt of this run has worked on the task.
func (t *Task) mustPlan() bool {
	return t.Settings.Agent.Plan == PlanApprove && t.Brief.Plan == nil && !t.worked()
}

func (s *step) mustPlan() bool { return s.t.mustPlan() }

// Whole reports whether the next attempt does the whole task in one run: then several coders can
// race.
func (t *Task) Whole() bool {
	return t.Opening != nil && t.Opening.Structure == plan.Whole && t.Merging == nil && !t.mustPlan() &&
		t.Brief.Demands == nil
}

// planned ends an attempt that makes a plan. It is never judged and never diagnosed:
// either a person is asked to approve the plan, or the task is paused.
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

// propose posts a plan and waits for a person's approval.
func (s *step) propose(p Plan) {
	p.Attempt, p.By = s.number(), Actor{}
	s.open(planQuestion(p))
	s.because("attempt %d made a plan; somebody has to approve it before anything is done", p.Attempt)
}

// approve handles the approval of the open plan.
func (s *step) approve() {
	f := s.e.Fact.(Approve)
	e := s.t.Escalation
	switch {
	case e.Kind != AskPlan:
		s.ignore("no plan waits for a yes, but a question for its answer: `/sia answer …` gives it")
	case f.Question != 0 && f.Question != e.Number:
		s.ignore("another plan has taken that one's place")
	default:
		s.approvePlan()
	}
}

// approvePlan approves the open plan, unless it was not posted yet, so that nobody can
// have read it.
func (s *step) approvePlan() {
	e := s.t.Escalation
	if e.URL == "" {
		s.ignore("the plan is about to be posted; read it first, then `/sia go` starts it")
		return
	}
	p := *e.Plan
	p.By, p.At = s.e.By, s.e.At
	s.t.Brief.Plan = &p
	e.Answered = true
	s.requeue()
	s.because("%s approved the plan of attempt %d", s.who(), p.Attempt)
}

// answerPlan handles an answer to a plan. Only the letter alone approves it: with
// additional text it is unclear whether the plan is approved unchanged, so another
// plan is made that takes the text into account.
func (s *step) answerPlan(f AnswerGiven) {
	e, text := s.t.Escalation, strings.TrimSpace(f.Text)
	switch {
	case f.Letter == planStop:
		s.end(s.who()+" did not want the plan", false)
	case text != "":
		s.answered("", text)
		s.t.Brief.Answers = append(s.t.Brief.Answers, fmt.Sprintf("About the plan of attempt %d: %s", e.Plan.Attempt, text))
		s.requeue()
		s.because("%s wants the plan of attempt %d changed: %s", s.who(), e.Plan.Attempt, text)
	case f.Letter == planGo:
		s.approvePlan()
	default:
		s.ignore("`/sia go` starts the plan; `/sia answer …` followed by words says what should be different")
	}
}
