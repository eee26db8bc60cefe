package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/text"
)

// watch starts to watch the checks of the present head.
func (s *step) watch() {
	g := s.t.Gate
	s.t.Gate = GateState{Seq: g.Seq, Since: s.e.At, Weighing: g.Weighing, Evidence: g.Evidence}
	s.runTests()
	s.look(s.e.At.Add(s.t.Settings.Checks.Settle.D()))
}

// look schedules the gate's next look, and replaces one that has not run yet.
func (s *step) look(due time.Time) {
	s.t.Gate.Seq++
	s.t.Gate.Due = due
	s.emitEffect(DoGate, s.number(), fmt.Sprintf("%d", s.t.Gate.Seq), Effect{At: due, SHA: s.t.Head, Seq: s.t.Gate.Seq})
}

// checkSeen moves the gate's look forward, to settle time after the hint.
func (s *step) checkSeen() {
	f := s.e.Fact.(CheckSeen)
	if f.SHA != s.t.Head {
		s.ignore("the checks of %s say nothing about the present head %s", f.SHA.Short(), s.t.Head.Short())
		return
	}
	g := &s.t.Gate
	if s.e.At.After(g.Hint) {
		g.Hint = s.e.At
	}
	if want := g.Hint.Add(s.t.Settings.Checks.Settle.D()); g.Due.After(want) && !g.AwaitsPerson && !s.isTakingBack() {
		s.look(want)
	}
	s.because("checks of %s changed; SIA looks at them at %s", f.SHA.Short(), g.Due.UTC().Format(time.TimeOnly))
}

// judged acts on the gate's verdict on the present head.
func (s *step) judged() {
	f := s.e.Fact.(Judged)
	g := &s.t.Gate
	if f.SHA != s.t.Head || s.isTakingBack() {
		s.ignore("the verdict is about %s, the head is %s now", f.SHA.Short(), s.t.Head.Short())
		return
	}
	if f.Found != nil {
		s.applyFound(*f.Found)
		return
	}
	s.recordLook(f)
	if f.Same {
		s.adoptHead()
		return
	}
	settle := s.t.Settings.Checks.Settle.D()
	if quiet := g.Hint.Add(settle); f.Looked.Before(quiet) && f.Verdict != VerdictPending {
		s.because("checks changed until %s; the gate waits for %s of quiet", g.Hint.UTC().Format(time.TimeOnly), settle)
		s.look(quiet)
		return
	}
	if f.Conflicts && s.judgesFollowUp() {
		s.takeBack(AttemptError, fmt.Sprintf("`%s` moved in its way", s.t.BaseBranch))
		return
	}
	if s.updateFirst(f) {
		return
	}
	if f.Verdict == VerdictRed && f.Looked.Before(g.Since) {
		s.because("the checks are run again at %s; until then the red ones say nothing", g.Since.UTC().Format(time.TimeOnly))
		s.look(g.Since.Add(lookInterval(settle, 1)))
		return
	}
	deadline := g.Since.Add(s.t.Settings.Checks.Wait.D())
	switch f.Verdict {
	case VerdictGreen:
		s.green()
	case VerdictRed:
		s.red(f)
	case VerdictRerun:
		g.Reruns++
		g.Looks = 0
		s.emitEffect(DoRerun, s.number(), fmt.Sprintf("%d", g.Seq), Effect{SHA: f.SHA, CheckIDs: f.RerunIDs})
		s.look(s.e.At.Add(lookInterval(settle, 1)))
		why := "not the attempt's doing"
		if f.Doubt != nil {
			g.Doubted = true
			why = fmt.Sprintf("perhaps not the attempt's doing (%s chance of a flaky failure; a re-run costs %s of "+
				"another attempt)", text.Percent(f.Doubt.Chance), text.Percent(f.Doubt.Cost))
		}
		s.because("%s: the checks are asked to run again (%d of at most %d)", why, g.Reruns, MaxReruns)
	case VerdictTampered:
		s.tampered(f.Weigh)
	case VerdictBlocked:
		if f.Guarded && s.startReady("a required check did not report, and the pull request is a draft") {
			return
		}
		if s.judgesFollowUp() {
			s.takeBack(AttemptError, fmt.Sprintf("%s waits for a person", f.Blocked[0].Check))
			return
		}
		s.open(blockedQuestion(&s.t, f.Blocked))
		if o := f.Blocked[0]; o.Pull {
			s.because("a person is asked because the pull request %s", o.Reason)
		} else {
			s.because("%s says nothing before a person acts, so one is asked: it %s", o.Check, o.Reason)
		}
	case VerdictNone:
		if f.Guarded && s.startReady("every check was skipped, and the pull request is a draft") {
			return
		}
		if !s.e.At.Before(deadline) && s.judgesFollowUp() {
			s.takeBack(AttemptError, noSignal(f))
			return
		}
		if !s.e.At.Before(deadline) {
			s.open(noChecksQuestion(&s.t))
			s.because("%s within %s: there is no signal, so a person is asked", noSignal(f), s.t.Settings.Checks.Wait.D())
			return
		}
		s.lookLater(settle, deadline)
		s.because("%s yet", noSignal(f))
	default:
		s.lookLater(settle, deadline)
		if len(f.Checks) == 0 {
			s.because("no check has reported yet")
			return
		}
		s.because("the checks have not finished")
	}
}

// rerunRefused records which checks GitHub refuses to run again. A re-run of which nothing was run does not count.
func (s *step) rerunRefused() {
	f := s.e.Fact.(RerunRefused)
	if f.SHA != s.t.Head {
		s.ignore(late)
		return
	}
	g := &s.t.Gate
	g.Unrepeatable = append(slices.Clone(g.Unrepeatable), f.Runs...)
	if !f.Some && g.Reruns > 0 && !strings.HasPrefix(s.e.Effect, effectKey(s.t.ID, s.number(), DoRerun, rerunWait)) {
		g.Reruns--
	}
	s.warn(f.Reason)
	s.lookOnceMore()
	s.because("GitHub runs checks not again: %s", f.Reason)
}

// recordLook records the result of a look at the present head.
func (s *step) recordLook(f Judged) {
	if f.Base != "" {
		s.setBase(f.Base)
		s.t.Gate.Based = true
	}
	s.t.Checks, s.t.Gate.Explain = f.Checks, f.Explain
	s.t.MergeRules, s.t.MergeBlocked = f.MergeRules, f.MergeBlocked
	s.t.Reported = withReported(s.t.Reported, f.Reported)
	if s.t.Gate.Unmerged++; !f.Unmerged {
		s.t.Gate.Unmerged = 0
	}
}

// adoptHead takes over, as the attempt's head, a push by somebody else that only merged new commits of the base.
func (s *step) adoptHead() {
	s.because("%s updated the branch from `%s`; what the attempt changed is the same on %s", s.t.HeadBy.Mention(),
		s.t.BaseBranch, s.t.Head.Short())
	s.replaceHead(s.t.Attempt().Head, s.t.Head)
	s.t.HeadBy = Actor{}
	s.watch()
}

// noSignal describes why the checks have no usable result.
func noSignal(f Judged) string {
	switch {
	case slices.ContainsFunc(f.Checks, func(c Check) bool { return c.Colour == Green && c.Required }):
		return "no check has run the repository's code"
	case slices.ContainsFunc(f.Checks, func(c Check) bool { return c.Colour == Skipped }):
		return "no required check has run anything"
	case len(f.Checks) > 0:
		return "no required check that is not excused has reported"
	}
	return "no check has reported"
}

// lookLater schedules the next look without a hint.
func (s *step) lookLater(settle time.Duration, deadline time.Time) {
	g := &s.t.Gate
	due := s.e.At.Add(lookInterval(settle, g.Looks))
	g.Looks++
	if quiet := g.Hint.Add(settle); quiet.After(s.e.At) && quiet.Before(due) {
		due = quiet
	}
	if deadline.After(s.e.At) && deadline.Before(due) {
		due = deadline
	}
	s.look(due)
}

// pass is the only way into Passed: a green verdict on the present head.
func (s *step) pass() {
	study := s.studyFix()
	s.closeFollowUp("") // a green follow-up is done
	s.closeGreen()
	s.respond(s.t.Head, "")
	s.t.Next = nil
	s.dropNext()
	s.enter(Passed)
	if study { // memory is committed after it
		s.emitEffect(DoStudy, s.number(), s.v(), Effect{SHA: s.t.Head})
	} else {
		s.emit(DoMemory, s.number(), s.v())
	}
	s.closeEscalation()
	s.because("every required check is green on %s", s.t.Head.Short())
}

// closeGreen closes the present attempt on a green head.
func (s *step) closeGreen() {
	a := s.t.Attempt()
	if a == nil {
		return
	}
	if a.Worked() {
		a.Passing = greenNames(s.t.Checks)
	}
	if a.Head == s.t.Head {
		s.outcome(AttemptPass)
	} else if a.Outcome == "" {
		s.closeUnjudged(fmt.Sprintf("%s pushed on top of it, and with that the checks are green", s.t.HeadBy.Mention()))
	}
}

// closeUnjudged closes the present attempt without a verdict, because the checks' results are about somebody else's
// push. The attempt's technique is not rated.
func (s *step) closeUnjudged(reason string) {
	a := s.t.Attempt()
	a.Outcome, a.Reason = AttemptError, reason
	if a.EndedAt.IsZero() {
		a.EndedAt = s.e.At
	}
}

// closeUnchanged closes the present attempt, which left a green head unchanged. Whether anything was missing is only a
// reviewer's opinion, so the attempt is not rated.
func (s *step) closeUnchanged() {
	s.outcome(AttemptUnchanged)
	s.t.Attempt().Signals = nil // they are reasons for a failure
}

// outcome closes the present attempt, and records the outcome in its prompt and intervention.
func (s *step) outcome(o AttemptOutcome) {
	a := s.t.Attempt()
	a.Outcome = o
	if a.EndedAt.IsZero() {
		a.EndedAt = s.e.At
	}
	for i := range s.t.Prompts {
		if s.t.Prompts[i].Hash == a.PromptHash {
			s.t.Prompts[i].Outcome = o
		}
	}
	if i := s.t.InterventionOf(*a); i != nil && i.Resolved == nil && o != AttemptUnchanged {
		ok := o == AttemptPass
		i.Resolved = &ok
	}
}

// red handles a red verdict.
func (s *step) red(f Judged) {
	if s.t.HeadBy != (Actor{}) && s.t.Escalation != nil && !s.t.Escalation.Answered {
		if e := s.t.Escalation; e.URL == "" && !s.pending(DoEscalate) {
			s.open(*e)
			s.because("the checks of %s's push are red; the question that it came before is asked now", s.t.HeadBy.Mention())
			return
		}
		s.enter(Escalated)
		s.because("the checks of %s's push are red; the question stands", s.t.HeadBy.Mention())
		return
	}
	a := s.t.Attempt()
	if s.judgesFollowUp() {
		a.Failures, a.Passing, a.Signals = f.Failures, greenNames(f.Checks), f.Signals
		s.takeBack(AttemptFail, redNames(f.Checks)+" failed")
		return
	}
	if o := s.t.Omission; o.StaysUnmet(s.t.Head) && o.Attempt == s.number() && o.Attempt > 0 {
		s.proceed(fmt.Sprintf("the checks of %s are red now; the next attempt starts there", s.t.Head.Short()))
		return
	}
	why := fmt.Sprintf("the checks of %s's push are red; the next attempt starts there", s.t.HeadBy.Mention())
	if s.number() <= s.t.Earlier || !a.Worked() { // no agent's change of this run is on the branch
		s.proceed(why)
		return
	}
	if s.t.HeadBy != (Actor{}) {
		s.redByOthers(f, why)
		return
	}
	s.t.Gate.Failed = f.Blamed
	a.Failures = f.Failures
	a.Passing = greenNames(f.Checks)
	s.fail(f.Signals)
}

// redByOthers continues from somebody else's push that made checks red. The attempt before it has not failed: its own
// commit was never judged.
func (s *step) redByOthers(f Judged, why string) {
	if s.t.Attempt().Outcome == "" {
		s.closeUnjudged(fmt.Sprintf("%s pushed on top of it, and the checks of that push are red", s.t.HeadBy.Mention()))
		s.t.Attempt().Failures, s.t.Attempt().Passing = f.Failures, greenNames(f.Checks)
	}
	if s.t.consecutive(AttemptError) >= maxConsecutive {
		s.enter(Queued)
		s.hold(PausedByPushes, fmt.Sprintf("%s pushes to the branch whenever an attempt ends, and the checks turn red",
			s.t.HeadBy.Mention()))
		s.begin()
		return
	}
	s.proceed(why)
}

// fail ends the present attempt as failed, and asks the policies what follows.
func (s *step) fail(signals []Signal) {
	s.outcome(AttemptFail)
	s.t.Attempt().Signals = signals
	s.t.Failures++
	s.t.Next, s.t.Rounds, s.t.Refused = nil, 0, nil
	s.enter(Diagnosing)
	s.decide(DecideRecover)
	s.because("attempt %d failed%s; it is decided what follows", s.number(), signalList(signals))
}

// signalList returns the names of signals in parentheses; "" for none.
func signalList(signals []Signal) string {
	if len(signals) == 0 {
		return ""
	}
	all := make([]string, len(signals))
	for i, x := range signals {
		all[i] = string(x.Name)
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// redNames returns the names of the red checks, at most three, for people.
func redNames(checks []Check) string {
	var names []string
	for _, c := range checks {
		if c.Colour == Red {
			names = append(names, "`"+c.Name+"`")
		}
	}
	if len(names) == 0 {
		return "a check"
	}
	return strings.Join(names[:min(len(names), 3)], ", ")
}

func greenNames(checks []Check) []string {
	var names []string
	for _, c := range checks {
		if c.Colour == Green {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}
