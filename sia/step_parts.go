package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/plan"
)

// In an attempt of several runs, each part begins when its dependencies are done, a policy
// decides about each failed part, and finished parts are merged. The functions here handle an
// event of one part; workOn alone decides what follows for the attempt.

// maxTries is the maximum number of tries of a part, under every policy.
const maxTries = 5

// shouldDivide reports whether a policy chooses the structure of the next attempt: the task
// begins, or its instructions have steps.
func (s *step) shouldDivide() bool {
	b := s.t.Brief
	if s.mustPlan() || s.t.Merging != nil || b.FollowUp != "" || b.Asked != nil || b.Plan != nil || b.Demands != nil {
		return false
	}
	return len(b.Steps) > 1 || b.Technique == "" && !s.worked()
}

// decomposeDecided records the chosen structure, and asks the policies who works.
func (s *step) decomposeDecided(f Decided) {
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

// divide starts the attempt's runs, in parts if its structure has several.
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
		s.setParts(plan.Linear, steps)
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

// setParts sets the attempt's structure and parts.
func (s *step) setParts(as plan.Structure, parts []plan.Part) {
	a := s.t.Attempt()
	if a.Structure = as; as == plan.Linear {
		parts = plan.Chain(parts)
	}
	for _, p := range parts {
		a.Parts = append(a.Parts, Part{Part: p, State: PartWaiting})
	}
}

// run starts an agent run for a part; nil: for the whole attempt, or for its plan.
func (s *step) run(p *Part) {
	a := s.t.Attempt()
	run := 0
	if a.Divided() {
		a.Runs++
		run = a.Runs
	}
	if p != nil {
		spare := a.unallocated()
		p.Run, p.State = run, PartRunning
		p.Reserved = spare / Credits(1+len(a.numbers(PartWaiting)))
	}
	suffix := ""
	if run > 0 {
		suffix = fmt.Sprintf("run-%d", run)
	}
	s.emitEffect(DoAttempt, a.Number, suffix, Effect{Run: run})
}

// unallocated returns the part of the attempt's reservation that is not reserved for a running part.
func (a *Attempt) unallocated() Credits {
	spare := a.Reserved
	for _, p := range a.Parts {
		spare -= p.Reserved
	}
	return max(0, spare)
}

// workOn takes the next step of an attempt of several parts.
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
		s.deferSync = true
		s.emitEffect(DoDecide, a.Number, string(question)+"-"+s.v(), Effect{Question: question, Part: failed[0]})
	}
	lost := a.Lost()
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.State != PartWaiting || lost > 0 || a.Running() >= a.Parallel || !a.isReady(*p) {
			continue
		}
		if s.canAfford() {
			s.run(p)
		} else if a.Running() == 0 { // else the running ones may leave enough
			s.outOfCredits()
			return
		}
	}
	switch {
	case a.Running() > 0 || len(a.numbers(PartFailed)) > 0:
	case a.Structure == plan.Race:
		s.finishRace()
	default:
		a.Aggregating = true
		s.emit(DoAggregate, a.Number, s.v())
	}
}

// canAfford reports whether the attempt's reservation pays for another run, and increases it
// from the task's remaining credits if necessary.
func (s *step) canAfford() bool {
	a := s.t.Attempt()
	if a.unallocated() < Credit {
		left := s.t.Credits.Left()
		a.Reserved += s.t.Credits.reserve(left - left/overheadDivisor)
	}
	return a.unallocated() >= Credit
}

// isReady reports whether all parts that p depends on are done.
func (a *Attempt) isReady(p Part) bool {
	return !slices.ContainsFunc(p.Needs, func(n int) bool { return a.Parts[n-1].State != PartDone })
}

// Lost returns the number of a part that was given up and without which the attempt can't
// pass; 0 if there is none.
func (a *Attempt) Lost() int {
	for i, p := range a.Parts {
		if p.State == PartGivenUp && (p.Kind == PartOfPlan || p.Kind == PartMerge) {
			return i + 1
		}
	}
	return 0
}

// partOfEvent returns the part with the last run that ended in the event, and its number; nil if none.
func (s *step) partOfEvent() (*Part, int) {
	a := s.t.Attempt()
	for i := range a.Parts {
		if p := &a.Parts[i]; p.Run > 0 && runKey(s.t.ID, a.Number, p.Run) == s.e.Effect {
			return p, i + 1
		}
	}
	return nil, 0
}

// recordRun records the end of a run.
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

// payRun books the cost of a run, first against the attempt's reservation.
func (s *step) payRun(cost Credits) {
	a := s.t.Attempt()
	from := min(cost, a.unallocated())
	s.t.Credits.settle(from, cost)
	a.Reserved -= from
}

// runEnded continues after a run of an attempt with several runs.
func (s *step) runEnded() {
	f, p, n := s.recordRun()
	if p == nil {
		s.planRunEnded(f)
		return
	}
	s.because("part %d of attempt %d: %s", n, s.number(), partEnd(f))
	if p.Kind == PartRacer {
		s.because("one of %d changes for attempt %d is there", len(s.t.Attempt().Parts), s.number())
	}
	holds := f.Check == nil || f.Check.Holds || f.Check.Missing != ""
	if p.Kind == PartTest { // it counts only if SIA saw it fail
		holds = f.Check != nil && f.Check.Holds && f.Commit != ""
	}
	switch {
	case f.Lost:
		p.State = PartWaiting
		s.redoParts()
	case f.End == EndCancelled:
		p.State = PartWaiting
		p.keep(f)
	case f.End == EndError:
		p.State = PartWaiting
		p.keep(f)
		s.hold(PausedByTrouble, f.Reason)
		return
	case f.End == EndCredits && f.Turns == 0: // its share does not pay for a single turn
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
	case p.Kind == PartMend: // the checks decide about the rest
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

// redoParts resets the finished parts, because their results were lost with the machine that had them.
func (s *step) redoParts() {
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

// partEnd describes how a run ended.
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

// keep records the run's commit, from which the next run continues.
func (p *Part) keep(f AttemptEnded) {
	if f.Commit != "" {
		p.Kept, p.Diff, p.Hunks = f.Commit, f.Diff, f.Hunks
	}
}

// done ends a part with its result.
func (p *Part) done(f AttemptEnded) {
	p.keep(f) // a last run without a change leaves the commit kept before
	p.State, p.Commit = PartDone, p.Kept
}

// coderOf returns the coder of a part.
func (s *step) coderOf(p Part) string {
	if p.Coder != "" {
		return p.Coder
	}
	return s.t.Attempt().Coder
}

// planRunEnded continues with the plan that a run made; without a usable plan, one run does the whole attempt.
func (s *step) planRunEnded(f AttemptEnded) {
	a := s.t.Attempt()
	switch {
	case f.End == EndAsked && f.Ask.Plan != nil:
		wrong := plan.Problems(f.Ask.Plan.Steps, a.MaxParts, true)
		if len(wrong) == 0 {
			s.setParts(a.Structure, f.Ask.Plan.Steps)
			a.Summary = f.Ask.Plan.Summary
			s.because("attempt %d has %d parts (%s)", a.Number, len(a.Parts), a.Structure)
			s.workOn()
			return
		}
		a.Shape = "no plan of parts could be worked by: " + strings.Join(wrong, "; ")
	case f.End == EndAsked:
		s.closeParts()
		a.Outcome = AttemptAsked
		s.dropPrompt(a.PromptHash)
		s.ask(*f.Ask)
		return
	case f.End == EndCancelled:
		s.run(nil)
		s.because("the plan of attempt %d is made anew", a.Number)
		return
	case f.End == EndError:
		s.closeParts()
		a.Outcome, a.Reason = AttemptError, f.Reason
		s.continueUnjudged()
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

// partDecided applies a decision about a part.
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

// giveUp ends a part without a result. A part that only helps is left out, or a person is asked; else
// the attempt fails once the other parts have ended, and their work is kept.
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
	s.askIfResolved(*p)
}

// closeParts releases the rest of the attempt's reservation and summarises its parts, once no run is left.
func (s *step) closeParts() {
	a := s.t.Attempt()
	s.settle(0)
	if a.EndedAt.IsZero() {
		a.EndedAt = s.e.At
	}
	var agents, said []string
	if len(a.Parts) > 0 && a.Structure != plan.Race {
		a.Ledger = nil // it is rebuilt from the parts' ledgers at every call
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

// runFailed resets the part of a failed run; resuming runs it again.
func (s *step) runFailed(f EffectFailed) bool {
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

// runEndedLate records a run that ends after the task's run had ended. After the last one,
// the results of the parts are merged to be kept.
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
	s.commitFinalMemory()
	s.beginIfIdle()
}
