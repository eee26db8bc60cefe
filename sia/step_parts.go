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
	if s.plans() || s.t.Merging != nil || b.FollowUp != "" || b.Plan != nil {
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
		s.part(plan.Linear, steps)
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

// part takes the attempt apart.
func (s *step) part(as plan.Structure, parts []plan.Part) {
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

// recordRun books how a run ended.
func (s *step) recordRun() (AttemptEnded, *Part, int) {
	f := s.e.Fact.(AttemptEnded)
	a := s.t.Attempt()
	var p *Part
	n := 0
	for i := range a.Parts {
		if a.Parts[i].Run > 0 && runKey(s.t.ID, a.Number, a.Parts[i].Run) == s.e.Effect {
			p, n = &a.Parts[i], i+1
		}
	}
	if p != nil {
		p.Reserved = 0
	}
	from := min(f.Cost, a.spare())
	s.t.Credits.settle(from, f.Cost)
	a.Reserved -= from
	a.Turns, a.Cost = a.Turns+f.Turns, a.Cost+f.Cost
	if p != nil {
		p.Turns, p.Cost, p.Reason, p.Checked = p.Turns+f.Turns, p.Cost+f.Cost, f.Reason, f.Check
		if f.Agent != "" {
			p.Agent = f.Agent
		}
		if f.Summary != "" {
			p.Summary = f.Summary
		}
	}
	return f, p, n
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
	if p.Kind == PartTest { // it is worth nothing unless it was seen to fail
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
	case p.Kind == PartRacer && f.Commit != "":
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

// partsAnew has what parts had come to done again: it was on one machine, and is gone.
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
		p.Kept = f.Commit
	}
}

// done ends a part with what it came to.
func (p *Part) done(f AttemptEnded) {
	p.State, p.Commit, p.Diff, p.Hunks = PartDone, f.Commit, f.Diff, f.Hunks
	if p.Commit == "" { // the last run changed nothing more
		p.Commit = p.Kept
	}
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
			s.part(a.Structure, f.Ask.Plan.Steps)
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

// giveUp ends a part without what it was to come to. What only helps is left out; else
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
}

// aggregated goes on with what the parts come to together.
func (s *step) aggregated() {
	f := s.e.Fact.(Aggregated)
	a := s.t.Attempt()
	a.Aggregating = false
	if f.Lost {
		s.partsAnew()
		s.workOn()
		return
	}
	if len(f.Conflicts) > 0 {
		s.resolve(f)
		return
	}
	lost := a.Lost()
	if red := unmet(f.Checks); red != nil && lost == 0 && !a.mended() {
		a.Parts = append(a.Parts, Part{Kind: PartMend, State: PartWaiting, Checked: red, Part: plan.Part{
			Do:       "The parts are put together, and this does not hold: `" + red.Command + "`. Mend it.",
			DoneWhen: "`" + red.Command + "` ends with 0", Check: red.Command, Needs: a.Tops(),
		}})
		s.workOn()
		s.because("put together, the parts of attempt %d fail `%s`: that is mended before the checks see it", a.Number,
			red.Command)
		return
	}
	s.closeParts()
	a.Diff, a.Hunks = f.Diff, f.Hunks
	if lost > 0 {
		s.partsLost(lost, f)
		return
	}
	switch {
	case f.Reason != "":
		a.Reason = f.Reason
		s.fail(nil)
	case f.Commit == "":
		a.Reason = "it changed nothing"
		s.fail([]Signal{{OutputUnchanged, "the attempt's diff is empty"}})
	default:
		s.push(f.Commit)
		s.because("the %d parts of attempt %d changed %s together; that is pushed so that the checks can say whether it is "+
			"right", len(a.Parts), a.Number, files(f.Diff.Files))
	}
}

// resolve makes what two sides don't agree on a part of its own.
func (s *step) resolve(f Aggregated) {
	a := s.t.Attempt()
	var sides, paths []string
	for _, n := range f.Over {
		sides = append(sides, fmt.Sprintf("part %d (%s)", n, strings.TrimSuffix(a.Parts[n-1].Do, ".")))
	}
	for _, c := range f.Conflicts {
		paths = append(paths, c.Path)
	}
	a.Parts = append(a.Parts, Part{Kind: PartMerge, State: PartWaiting, Part: plan.Part{
		Do:       "Resolve the conflicts between " + strings.Join(sides, " and ") + ". Keep what each of them is for.",
		DoneWhen: "no file holds both sides any more", Paths: paths, Needs: f.Over,
	}})
	s.workOn()
	s.because("parts of attempt %d conflict in %s: resolving that is a part of its own", a.Number, files(len(paths)))
}

// partsLost ends an attempt of which a part was given up as failed. What the others did is
// kept on the branch, unjudged.
func (s *step) partsLost(lost int, f Aggregated) {
	a := s.t.Attempt()
	p := a.Parts[lost-1]
	a.Reason = fmt.Sprintf("part %d of %d was not done: %s", lost, len(a.Parts), p.Do)
	if c := p.Checked; c != nil && c.Missing == "" && !c.Holds {
		a.Failures = []CheckFailure{{Check: fmt.Sprintf("part %d: %s", lost, c.Command), Excerpt: c.Excerpt, Class: c.Class,
			Tests: c.Tests, Signature: "part " + c.Command + " " + c.Class}}
	} else if p.Reason != "" {
		a.Reason += " (" + p.Reason + ")"
	}
	if f.Commit == "" || f.Reason != "" {
		s.fail([]Signal{{SameTask, a.Reason}})
		return
	}
	a.Outcome = AttemptFail
	s.push(f.Commit)
	s.because("%s; what the other parts did is kept on the branch", a.Reason)
}

// mended reports whether what does not hold together was worked on already.
func (a *Attempt) mended() bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool { return p.Kind == PartMend })
}

// unmet is the first check that does not hold; nil: each that could be run does.
func unmet(checks []CheckRun) *CheckRun {
	for _, c := range checks {
		if !c.Holds && c.Missing == "" {
			return &c
		}
	}
	return nil
}

// rank puts the best change to the checks that they have not seen yet.
func (s *step) rank() {
	a := s.t.Attempt()
	s.closeParts()
	if a.RacersLeft() > 0 {
		s.pushRacer()
		return
	}
	a.Reason = "none of those who worked came to a change"
	s.fail([]Signal{{OutputUnchanged, a.Reason}})
}

// pushRacer puts the best racer's change on the branch, of those that were not there yet.
func (s *step) pushRacer() {
	a := s.t.Attempt()
	best := -1
	for i, p := range a.Parts {
		if p.State == PartDone && !p.Pushed && (best < 0 || better(p, a.Parts[best]) < 0) {
			best = i
		}
	}
	p := &a.Parts[best]
	p.Pushed = true
	a.Coder, a.Agent, a.Summary, a.Diff, a.Hunks = p.Coder, p.Agent, p.Summary, p.Diff, p.Hunks
	a.Failures, a.Passing, a.Signals, a.Reason = nil, nil, nil, ""
	s.enter(Working)
	s.emitEffect(DoPush, a.Number, fmt.Sprintf("racer-%d", best+1), Effect{SHA: p.Commit, Part: best + 1})
	s.because("%s's change is put to the checks, the best of %d by the tests in the sandbox", p.Coder, len(a.Parts))
}

// closeParts returns what is left of the attempt's credits, once nothing works on it any more.
func (s *step) closeParts() {
	a := s.t.Attempt()
	s.t.Credits.settle(a.Reserved, 0)
	a.Reserved = 0
	if a.EndedAt.IsZero() {
		a.EndedAt = s.e.At
	}
	var agents, said []string
	for i := range a.Parts {
		a.Parts[i].Reserved = 0
		p := a.Parts[i]
		if p.Agent != "" && !slices.Contains(agents, p.Agent) {
			agents = append(agents, p.Agent)
		}
		if p.Summary != "" && p.Kind != PartRacer {
			said = append(said, fmt.Sprintf("Part %d: %s", i+1, p.Summary))
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
	a := s.t.Attempt()
	for i := range a.Parts {
		if p := &a.Parts[i]; p.State == PartRunning && runKey(s.t.ID, a.Number, p.Run) == s.e.Effect {
			p.State, p.Reserved, p.Reason = PartWaiting, 0, f.Reason
			return true
		}
	}
	return false
}

// runEndedLate books a run that ends after the task's run did. Once the last has, what the
// parts came to is put together, so that it is kept.
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

// aggregatedLate keeps what the parts of an attempt came to whose run had ended.
func (s *step) aggregatedLate() {
	f := s.e.Fact.(Aggregated)
	a := s.t.Attempt()
	a.Aggregating = false
	a.Diff, a.Hunks = f.Diff, f.Hunks
	if f.Commit != "" && f.Reason == "" && len(f.Conflicts) == 0 {
		s.push(f.Commit)
		s.because("what the parts of attempt %d had done is kept", a.Number)
		return
	}
	s.remember()
	s.because("what the parts of attempt %d had done together can't be kept", a.Number)
	s.ended()
}
