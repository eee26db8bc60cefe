package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/plan"
)

// An attempt of several runs is worked on as its parts allow: what is free begins, what failed
// is decided about alone, and once nothing is left to do it is put together. What an event of
// one part changes is said here; what follows for the attempt is always workOn's to say.

// maxTries is how often a part is tried, whatever a policy says.
const maxTries = 5

// divides reports whether it is asked how the next attempt's work hangs together: a task
// begins, or its instructions have steps.
func (s *step) divides() bool {
	b := s.t.Brief
	if s.plans() || s.t.Merging != nil || b.FollowUp != "" || b.Asked != nil || b.Plan != nil || b.Demands != nil {
		return false
	}
	return len(b.Steps) > 1 || b.Technique == "" && !s.worked()
}

// shaped has it decided who works, now that it is known how the work hangs together.
func (s *step) shaped(f Decided) {
	o := s.t.Opening
	if o == nil {
		s.ignore(late)
		return
	}
	o.Structure, o.Shape, o.Parallel = plan.Structure(f.Choice), f.Reason, f.AtOnce
	o.MaxParts = f.MaxParts
	s.decide(DecideAssign)
	s.because("the work's structure is %s; it is decided who works", f.Choice)
}

// divide begins an attempt that several runs go into.
func (s *step) divide(o Opening, racers []Racer) {
	a := s.t.Attempt()
	if o.Structure != plan.Whole {
		a.Structure, a.Shape, a.Parallel, a.MaxParts = o.Structure, o.Shape, max(1, o.Parallel), o.MaxParts
		a.Start = s.t.Head
	}
	steps := s.t.Brief.Steps
	switch {
	case len(racers) > 1 && !a.Planning && !a.Divided():
		a.Structure, a.Parallel, a.Start = plan.Race, len(racers), s.t.Head
		for _, r := range racers {
			a.Parts = append(a.Parts, Part{Kind: PartRacer, State: PartWaiting, Coder: r.Coder, Agent: r.Agent})
		}
	case !a.Divided():
	case len(steps) > 1:
		s.takeApart(plan.Linear, steps)
	case a.Structure == plan.Reproduce:
		a.Parts = []Part{
			{Kind: PartTest, State: PartWaiting, Part: plan.Part{
				Do:       "Write a test that fails because of the fault that the issue tells of. Change nothing else.",
				DoneWhen: "the test fails on the code as it is, for the reason that the issue tells"}},
			{State: PartWaiting, Part: plan.Part{
				Do:       "Resolve the issue, so that this test passes.",
				DoneWhen: "the test passes, and so does every test that passed before", Needs: []int{1}}},
		}
	}
	if a.Divided() && len(a.Parts) > 0 {
		s.workOn()
		return
	}
	s.run(nil)
}

// takeApart gives the attempt its parts.
func (s *step) takeApart(as plan.Structure, parts []plan.Part) {
	a := s.t.Attempt()
	if a.Structure = as; as == plan.Linear {
		parts = plan.Chain(parts)
	}
	for _, p := range parts {
		a.Parts = append(a.Parts, Part{Part: p, State: PartWaiting})
	}
}

// run has an agent work on a part; nil: on all of the attempt, or on its plan.
func (s *step) run(p *Part) {
	a := s.t.Attempt()
	run := 0
	if a.Divided() {
		a.Runs++
		run = a.Runs
	}
	if p != nil {
		spare := a.spare()
		p.Run, p.State = run, PartRunning
		p.Reserved = spare / Credits(1+len(a.numbers(PartWaiting)))
	}
	suffix := ""
	if run > 0 {
		suffix = fmt.Sprintf("run-%d", run)
	}
	s.emitEffect(DoAttempt, a.Number, suffix, Effect{Run: run})
}

// spare is what is set aside for the attempt and not for one of its running parts.
func (a *Attempt) spare() Credits {
	spare := a.Reserved
	for _, p := range a.Parts {
		spare -= p.Reserved
	}
	return max(0, spare)
}

// workOn does what comes next in an attempt of several parts.
func (s *step) workOn() {
	a := s.t.Attempt()
	if a == nil || len(a.Parts) == 0 || s.t.State != Working || a.Outcome != "" || a.Aggregating || s.pending(DoPush) {
		return
	}
	if failed := a.numbers(PartFailed); len(failed) > 0 && a.Asking == 0 {
		a.Asking = failed[0]
		question := DecideRecover
		if a.Parts[failed[0]-1].Elsewhere {
			question = DecideAssign
		}
		s.soon = true
		s.emitEffect(DoDecide, a.Number, string(question)+"-"+s.v(), Effect{Question: question, Part: failed[0]})
	}
	lost := a.Lost()
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.State != PartWaiting || lost > 0 || a.Running() >= a.Parallel || !a.free(*p) {
			continue
		}
		if s.affords() {
			s.run(p)
		} else if a.Running() == 0 { // else what those leave may do
			s.outOfCredits()
			return
		}
	}
	switch {
	case a.Running() > 0 || len(a.numbers(PartFailed)) > 0:
	case a.Structure == plan.Race:
		s.rank()
	default:
		a.Aggregating = true
		s.emit(DoAggregate, a.Number, s.v())
	}
}

// affords reports whether another run can be paid for, by what is set aside or else by what
// the task has left.
func (s *step) affords() bool {
	a := s.t.Attempt()
	if a.spare() < Credit {
		left := s.t.Credits.Left()
		a.Reserved += s.t.Credits.reserve(left - left/siaShare)
	}
	return a.spare() >= Credit
}

// free reports whether everything that a part rests on is there.
func (a *Attempt) free(p Part) bool {
	return !slices.ContainsFunc(p.Needs, func(n int) bool { return a.Parts[n-1].State != PartDone })
}

// Lost is the number of a part that was given up and without which the attempt can't
// pass; 0: there is none.
func (a *Attempt) Lost() int {
	for i, p := range a.Parts {
		if p.State == PartGivenUp && (p.Kind == PartOfPlan || p.Kind == PartMerge) {
			return i + 1
		}
	}
	return 0
}

// partOfEvent is the part with the last run that ended in the event, and its number; nil: none's.
func (s *step) partOfEvent() (*Part, int) {
	a := s.t.Attempt()
	for i := range a.Parts {
		if p := &a.Parts[i]; p.Run > 0 && runKey(s.t.ID, a.Number, p.Run) == s.e.Effect {
			return p, i + 1
		}
	}
	return nil, 0
}

// recordRun books how a run ended.
func (s *step) recordRun() (AttemptEnded, *Part, int) {
	f := s.e.Fact.(AttemptEnded)
	a := s.t.Attempt()
	p, n := s.partOfEvent()
	if p != nil {
		p.Reserved = 0
	}
	s.payRun(f.Cost)
	a.book(f)
	a.recordLessons(f.LessonsShown, f.LessonsWithheld)
	if p != nil {
		p.Turns, p.Cost, p.Reason, p.Checked = p.Turns+f.Turns, p.Cost+f.Cost, f.Reason, f.Check
		if f.Agent != "" {
			p.Agent = f.Agent
		}
		if f.Summary != "" {
			p.Summary = f.Summary
		}
		p.Ledger = p.Ledger.Join(f.Ledger)
		p.Affected, p.Reproduced = f.Affected, f.Reproduced
	}
	return f, p, n
}

// payRun pays for a run that ended, from what is set aside for the attempt as far as that goes.
func (s *step) payRun(cost Credits) {
	a := s.t.Attempt()
	from := min(cost, a.spare())
	s.t.Credits.settle(from, cost)
	a.Reserved -= from
}

// runEnded goes on after a run of an attempt of several.
func (s *step) runEnded() {
	f, p, n := s.recordRun()
	if p == nil {
		s.parted(f)
		return
	}
	s.because("part %d of attempt %d: %s", n, s.number(), partEnd(f))
	if p.Kind == PartRacer {
		s.because("one of %d changes for attempt %d is there", len(s.t.Attempt().Parts), s.number())
	}
	holds := f.Check == nil || f.Check.Holds || f.Check.Missing != ""
	if p.Kind == PartTest { // it counts only if it was seen to fail
		holds = f.Check != nil && f.Check.Holds && f.Commit != ""
	}
	switch {
	case f.Lost:
		p.State = PartWaiting
		s.partsAnew()
	case f.End == EndCancelled:
		p.State = PartWaiting
		p.keep(f)
	case f.End == EndError:
		p.State = PartWaiting
		p.keep(f)
		s.hold(PausedByTrouble, f.Reason)
		return
	case f.End == EndCredits && f.Turns == 0: // its share does not pay for a single answer
		p.State = PartWaiting
		s.outOfCredits()
		return
	case p.Kind == PartRacer && (f.Commit != "" || p.Kept != ""):
		p.done(f)
	case p.Kind != PartRacer && f.End == EndFinished && holds && f.Reason == "":
		p.done(f)
		if p.Kind == PartTest && f.Check != nil {
			a := s.t.Attempt()
			a.Parts[n].Check = f.Check.Command
		}
	case p.Kind == PartRacer:
		p.State = PartGivenUp
	case p.Kind == PartMend: // the checks decide about what it left undone
		p.done(f)
	default:
		p.Tries++
		p.keep(f)
		p.Failed = append(p.Failed, s.coderOf(*p))
		if p.State = PartFailed; p.Tries >= maxTries {
			s.giveUp(n, fmt.Sprintf("%d runs of it failed", p.Tries))
		}
	}
	s.workOn()
}

// partsAnew has the results of parts made again: they were on one machine, and are gone.
func (s *step) partsAnew() {
	a := s.t.Attempt()
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.State == PartDone {
			p.State = PartWaiting
		}
		if p.State != PartGivenUp {
			p.Commit, p.Kept, p.Checked = "", "", nil
		}
	}
	s.because("what the parts of attempt %d had come to is gone from the machine that it was made on: they are done again",
		a.Number)
}

// partEnd says how a run ended.
func partEnd(f AttemptEnded) string {
	switch {
	case f.Check != nil && f.Check.Missing == "" && f.Check.Holds:
		return "its done-when holds"
	case f.Check != nil && f.Check.Missing == "":
		return "its done-when does not hold"
	case f.Reason != "":
		return f.Reason
	}
	return "it is finished"
}

// keep has the next run go on from where this one was.
func (p *Part) keep(f AttemptEnded) {
	if f.Commit != "" {
		p.Kept, p.Diff, p.Hunks = f.Commit, f.Diff, f.Hunks
	}
}

// done ends a part with its result.
func (p *Part) done(f AttemptEnded) {
	p.keep(f) // a last run that changed nothing more leaves what was kept before
	p.State, p.Commit = PartDone, p.Kept
}

// coderOf is who works on a part.
func (s *step) coderOf(p Part) string {
	if p.Coder != "" {
		return p.Coder
	}
	return s.t.Attempt().Coder
}

// parted goes on with the plan that a run made; without one, all of it is one run's.
func (s *step) parted(f AttemptEnded) {
	a := s.t.Attempt()
	switch {
	case f.End == EndAsked && f.Ask.Plan != nil:
		wrong := plan.Problems(f.Ask.Plan.Steps, a.MaxParts, true)
		if len(wrong) == 0 {
			s.takeApart(a.Structure, f.Ask.Plan.Steps)
			a.Summary = f.Ask.Plan.Summary
			s.because("attempt %d has %d parts (%s)", a.Number, len(a.Parts), a.Structure)
			s.workOn()
			return
		}
		a.Shape = "no plan of parts could be worked by: " + strings.Join(wrong, "; ")
	case f.End == EndAsked:
		s.closeParts()
		a.Outcome = AttemptAsked
		s.forgetPrompt(a.PromptHash)
		s.ask(*f.Ask)
		return
	case f.End == EndCancelled:
		s.run(nil)
		s.because("the plan of attempt %d is made anew", a.Number)
		return
	case f.End == EndError:
		s.closeParts()
		a.Outcome, a.Reason = AttemptError, f.Reason
		s.goOn()
		return
	case f.End == EndCredits:
		s.closeParts()
		a.Outcome, a.Reason = AttemptError, f.Reason
		s.enter(Queued)
		s.outOfCredits()
		s.begin()
		return
	default:
		a.Shape = "no plan of parts was made"
		if f.Reason != "" {
			a.Shape += ": " + f.Reason
		}
	}
	a.Structure = plan.Whole
	s.run(nil)
	s.because("attempt %d is done as a whole: %s", a.Number, a.Shape)
}

// partDecided moves on an answer about a part.
func (s *step) partDecided(f Decided) {
	a := s.t.Attempt()
	n := a.Asking
	if n == 0 {
		s.ignore(late)
		return
	}
	a.Asking = 0
	p := &a.Parts[n-1]
	switch {
	case f.Type == DecideAssign && f.Choice == ChooseNobody:
		s.giveUp(n, f.Reason)
	case f.Type == DecideAssign:
		p.Coder, p.Agent, p.Assigned, p.Elsewhere, p.State = f.Choice, f.Agent, f.Reason, false, PartWaiting
		s.because("part %d of attempt %d is %s's now: %s", n, a.Number, f.Choice, f.Reason)
	case f.Choice == ChooseRetry:
		p.State = PartWaiting
		s.because("part %d of attempt %d is tried again, because %s", n, a.Number, f.Reason)
	case f.Choice == ChooseOtherCoder:
		p.Elsewhere = true
		s.because("part %d of attempt %d is tried by another coder, because %s", n, a.Number, f.Reason)
	default:
		s.giveUp(n, f.Reason)
	}
	s.workOn()
}

// giveUp ends a part without its result. What only helps is left out, or a person is asked; else
// the attempt fails once the others have ended, and what they did stays.
func (s *step) giveUp(n int, why string) {
	a := s.t.Attempt()
	p := &a.Parts[n-1]
	p.State, p.Elsewhere = PartGivenUp, false
	s.because("part %d of attempt %d is given up: %s", n, a.Number, why)
	if p.Kind != PartTest {
		return
	}
	a.Shape = "the fault could not be reproduced by a test"
	if p.Reason != "" {
		a.Shape += ": " + p.Reason
	} else if c := p.Checked; c != nil && !c.Holds && c.Excerpt != "" {
		a.Shape += ": " + c.Excerpt
	}
	a.Parts[n].Needs = nil
	s.notShown(*p)
}

// closeParts returns what is left of the attempt's credits, once nothing works on it any more.
func (s *step) closeParts() {
	a := s.t.Attempt()
	s.settle(0)
	if a.EndedAt.IsZero() {
		a.EndedAt = s.e.At
	}
	var agents, said []string
	if len(a.Parts) > 0 && a.Structure != plan.Race {
		a.Ledger = nil // it is made of the parts', however often that is done
	}
	for i := range a.Parts {
		a.Parts[i].Reserved = 0
		p := a.Parts[i]
		if p.Agent != "" && !slices.Contains(agents, p.Agent) {
			agents = append(agents, p.Agent)
		}
		if p.Summary != "" && p.Kind != PartRacer {
			said = append(said, fmt.Sprintf("Part %d: %s", i+1, p.Summary))
		}
		if p.Kind != PartRacer {
			a.Ledger = a.Ledger.Join(p.Ledger)
		}
	}
	if len(agents) > 0 && a.Structure != plan.Race {
		a.Agent = strings.Join(agents, ", ")
	}
	if len(said) > 0 {
		a.Summary = strings.Join(said, "\n\n")
	}
}

// runLost takes back a run that could not be made; it is made again on resume.
func (s *step) runLost(f EffectFailed) bool {
	p, _ := s.partOfEvent()
	if p == nil {
		return false
	}
	p.State, p.Reserved, p.Reason = PartWaiting, 0, f.Reason
	s.payRun(f.Cost)
	a := s.t.Attempt()
	a.Cost, p.Cost = a.Cost+f.Cost, p.Cost+f.Cost
	return true
}

// runEndedLate books a run that ends after the task's run did. Once the last has, the
// results of the parts are merged, so that they are kept.
func (s *step) runEndedLate() {
	f, p, n := s.recordRun()
	a := s.t.Attempt()
	if p != nil {
		p.keep(f)
		if p.State = PartWaiting; f.End == EndFinished && (f.Check == nil || f.Check.Holds) {
			p.done(f)
		}
	}
	a.Outcome, a.Asking = AttemptCancelled, 0
	s.because("part %d of attempt %d was stopped", n, a.Number)
	if s.pending(DoAttempt) {
		return
	}
	s.closeParts()
	if len(a.numbers(PartDone)) > 0 && a.Structure != plan.Race {
		s.emit(DoAggregate, a.Number, s.v())
		return
	}
	s.remember()
	s.ended()
}
