package sia

import (
	"fmt"
	"slices"
	"strings"
)

// diagnose starts the diagnosis of the present attempt's failure.
func (s *step) diagnose(signals []Signal) {
	s.t.Next = &Intervention{Number: len(s.t.Interventions) + 1, After: s.number(), Signals: signals}
	s.t.Rounds, s.t.Refused = 0, nil
	s.enter(Diagnosing)
	s.emit(DoDiagnose, s.number(), s.v())
	s.because("attempt %d failed%s; SIA works out why", s.number(), signalList(signals))
}

// diagnosed checks the diagnosis against the hard rules. Then it asks a person, starts the
// review, or asks the policies which of the two.
func (s *step) diagnosed() {
	f := s.e.Fact.(Diagnosed)
	d := f.Diagnosis
	d.Brief = s.keeping(d.Brief)
	s.t.Credits.spend(f.Cost)
	s.t.Next.Diagnosis, s.t.Next.Review = d, Review{}
	s.t.Next.Warning = f.Warning
	s.warn(f.Warning)
	if reason := s.unusableReason(d); reason != "" {
		s.escalate(d)
		s.because("a person is needed: %s", reason)
		return
	}
	if s.t.Wanted != "" { // a person has chosen the technique
		s.review()
		return
	}
	s.decide(DecideEscalate)
	s.because("pattern %s, technique %s, confidence %.2f; it is decided whether a person is asked first", d.Pattern,
		d.Technique, d.Confidence)
}

// review starts the review of the diagnosis, if a reviewer is configured.
func (s *step) review() {
	d := s.t.Next.Diagnosis
	s.enter(Reviewing)
	if !s.t.Settings.SIA.Reviewer {
		s.t.Next.Review = Review{Verdict: ReviewOff}
		s.commitMemory()
	} else {
		s.emit(DoReview, s.number(), s.v())
	}
	s.because("pattern %s, technique %s, confidence %.2f", d.Pattern, d.Technique, d.Confidence)
}

// unusableReason returns why a diagnosis can't lead to another attempt; empty if it can. The hard
// rules (docs/rules.md#hard-rules) are enforced here and in begun.
func (s *step) unusableReason(d Diagnosis) string {
	hash := d.Brief.Hash(s.t.Title, s.t.Body)
	switch {
	case s.t.ApproachesLeft() == 0:
		return fmt.Sprintf("all %d approaches are used", len(s.t.Prompts))
	case d.NeedsPerson():
		return "the diagnosis says that only a person can give what is missing: " + d.Blocker
	case d.Technique == "":
		return "no technique is left for this pattern"
	case s.t.Used(d.Technique):
		return fmt.Sprintf("technique %s was used already", d.Technique)
	case slices.ContainsFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == hash }):
		return "the new prompt is not distinct from an earlier one"
	}
	return ""
}

// reviewed continues with memory, or with another diagnosis if the review rejects it.
//
// After a major verdict its points are added to the instructions, and a fresh call
// reviews them once more. A second major verdict rejects them, as rejected does: the
// next candidate is diagnosed, at most maxRounds times. After that SIA continues with
// the last diagnosis, so that the task does not stop here, and the comment shows the
// verdict.
func (s *step) reviewed() {
	f := s.e.Fact.(Reviewed)
	s.t.Credits.spend(f.Cost)
	next := s.t.Next
	first := next.Review.Amended
	next.Review = f.Review
	next.Review.Amended = first
	refused := f.Review.Verdict == Rejected || f.Review.Verdict == Major && len(first) > 0
	if refused && s.t.Rounds < maxRounds {
		s.t.Rounds++
		s.t.Refused = append(s.t.Refused, next.Diagnosis.Technique)
		s.enter(Diagnosing)
		s.emit(DoDiagnose, s.number(), s.v())
		s.because("the reviewer refused %s (%s, round %d): the next candidate is tried", next.Diagnosis.Technique,
			f.Review.Verdict, s.t.Rounds)
		return
	}
	if f.Prompt != "" {
		next.Diagnosis.Prompt = f.Prompt
		next.Diagnosis.Brief.Prompt = f.Prompt
	}
	if f.Review.Verdict == Major && len(first) == 0 && f.Prompt != "" {
		next.Review = Review{Verdict: Major, Amended: f.Review.Points}
		s.emit(DoReview, s.number(), s.v())
		s.because("the reviewer's verdict: major; the instructions are amended by its points and reviewed again")
		return
	}
	s.commitMemory()
	s.because("the reviewer's verdict: %s", f.Review.Verdict)
}

// memoryCommitted posts the intervention's comment or the question that waited for memory.
func (s *step) memoryCommitted() {
	f := s.e.Fact.(MemoryCommitted)
	s.warnOfMemory(f)
	is := f.result()
	if s.e.Effect != s.t.AwaitMemory {
		s.because("memory %s", is)
		return
	}
	s.t.AwaitMemory = ""
	if s.t.State == Reviewing {
		s.t.Next.MemorySHA = f.SHA
		s.emit(DoAnnounce, s.number(), s.v())
		s.because("what was learned %s; the comment comes next, then the attempt", is)
		return
	}
	n := s.t.Escalation.Number
	s.emitEffect(DoEscalate, s.number(), fmt.Sprintf("q%d", n), Effect{Seq: n})
	s.because("memory %s; the question is put to a person", is)
}

// memoryNoted records a memory commit for which nothing waits.
func (s *step) memoryNoted() {
	f := s.e.Fact.(MemoryCommitted)
	s.warnOfMemory(f)
	s.because("memory %s", f.result())
}

// warnOfMemory replaces the last warning about memory.
func (s *step) warnOfMemory(f MemoryCommitted) {
	if s.t.Warning == s.t.MemoryWarning {
		s.t.Warning = ""
	}
	s.t.MemoryWarning = f.Warning
	s.warn(f.Warning)
}

// result describes the result for people.
func (f MemoryCommitted) result() string {
	if f.SHA == "" {
		return "could not be committed"
	}
	return "is committed as " + f.SHA.Short()
}

// warn sets the task's warning, unless text is empty.
func (s *step) warn(text string) {
	if text != "" {
		s.t.Warning, s.t.WarningOf = text, ""
	}
}

// clearWarning drops the warning about a failed effect when an effect of that kind succeeds.
func (s *step) clearWarning(kind EffectKind) {
	if kind == "" || kind != s.t.WarningOf || s.e.Fact.Kind() == KEffectFailed {
		return
	}
	s.t.Warning, s.t.WarningOf = "", ""
	s.t.Visible = s.t.Version
}

// announced begins the next attempt after its comment was posted.
func (s *step) announced() {
	f := s.e.Fact.(CommentPosted)
	next := *s.t.Next
	next.CommentURL = f.URL
	s.t.Interventions = append(s.t.Interventions, next)
	s.t.Brief = next.Diagnosis.Brief
	s.t.Next = nil
	if s.t.Wanted == next.Diagnosis.Technique {
		s.t.Wanted = ""
	}
	s.enter(Announced)
	s.begin()
	s.because("the comment stands; the next attempt begins unless somebody stops it")
}

// escalate asks a person in a separate issue, with options.
func (s *step) escalate(d Diagnosis) {
	e := diagnosisQuestion(d, s.lastFailure())
	s.t.Next = nil
	s.open(e)
	s.because("a person is needed: %s", e.Blocker)
}

// lastFailure describes the last failure.
func (s *step) lastFailure() string {
	a := s.t.Attempt()
	if a == nil {
		return "nothing has been tried yet"
	}
	if len(a.Failures) > 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(a.Failures[0].Excerpt), "\n")
		return a.Failures[0].Check + ": " + line
	}
	if a.Reason != "" {
		return a.Reason
	}
	return fmt.Sprintf("attempt %d did not pass", a.Number)
}

// open asks a person a question, after committing memory.
func (s *step) open(e Escalation) {
	e.Number, e.AskedAt = 1, s.e.At
	if old := s.t.Escalation; old != nil {
		e.Number = old.Number + 1
		s.closeEscalation()
	}
	s.t.Escalation = &e
	s.enter(Escalated)
	s.commitMemory()
}

func (s *step) escalationOpened() {
	f := s.e.Fact.(EscalationOpened)
	if s.closeSuperseded(f) {
		return
	}
	s.t.Escalation.Issue, s.t.Escalation.URL = f.Issue, f.URL
	s.because("the question stands in #%d", f.Issue)
}

// closeSuperseded closes the issue of a question that was posted after a newer question was opened, and reports whether
// it did.
func (s *step) closeSuperseded(f EscalationOpened) bool {
	if f.Question == 0 || f.Question == s.t.Escalation.Number {
		return false
	}
	if f.Issue != s.t.Issue {
		s.emitEffect(DoClose, s.number(), fmt.Sprintf("q%d-%s", f.Question, s.v()), Effect{OnIssue: f.Issue})
	}
	s.because("#%d was opened after another question had been asked; it is closed again", f.Issue)
	return true
}

// escalationLate records a question that was posted after the task had moved on, and
// closes its issue, unless the checks of a person's push are still awaited.
func (s *step) escalationLate() {
	f := s.e.Fact.(EscalationOpened)
	if s.closeSuperseded(f) {
		return
	}
	s.t.Escalation.Issue, s.t.Escalation.URL = f.Issue, f.URL
	if s.t.State == Checking && !s.t.Escalation.Answered {
		s.because("the question stands in #%d; the checks of %s's push come first", f.Issue, s.t.HeadBy.Mention())
		return
	}
	s.closeEscalation()
	s.because("#%d was opened after the question had been settled; it is closed again", f.Issue)
}

// effectFailed pauses the task if its state depends on the failed effect.
func (s *step) effectFailed() {
	f := s.e.Fact.(EffectFailed)
	again := f.Effect == DoAttempt && s.t.State == Working && s.runFailed(f) // the attempt continues
	if f.Effect == DoAttempt && !again {
		s.attemptFailed(f)
	}
	wait := f.Effect.traits().waitsIn
	if wait != nil && !slices.Contains(wait, s.t.State) {
		s.because("%s could not be done, but the task has moved on since: %s", f.Effect, f.Reason)
		s.beginIfIdle()
		return
	}
	if wait == nil {
		s.warnFailed(f)
		if s.e.Effect != s.t.AwaitMemory {
			return
		}
	}
	if again {
		s.hold(PausedByTrouble, f.Reason)
		return
	}
	if s.followsUp() && (f.Effect == DoBegin || f.Effect == DoDecide || f.Effect == DoAttempt) {
		s.abandonFollowUp("no follow-up: " + f.Reason)
		return
	}
	if f.Effect == DoAttempt {
		s.enter(Queued)
	}
	state := s.t.State
	s.hold(PausedByTrouble, f.Reason)
	s.redo(f, state)
}

// effectDelayed warns people that the task waits for the end of an outage.
func (s *step) effectDelayed() {
	f := s.e.Fact.(EffectDelayed)
	if s.t.Pending[f.Key] == "" || f.Effect.traits().waitsIn == nil {
		s.ignore(late)
		return
	}
	s.t.Warning, s.t.WarningOf = strings.TrimRight(f.Reason, ".")+". SIA tries again until that is over", f.Effect
	s.because("%s waits: %s", f.Effect, f.Reason)
}

// warnFailed warns people of a failed effect on which no state depends.
func (s *step) warnFailed(f EffectFailed) {
	if f.Effect == DoFinalReview { // it needs no warning
		s.finalReviewFailed(f.Reason)
		return
	}
	s.t.Warning, s.t.WarningOf = f.Reason, f.Effect
	s.because("%s could not be done: %s", f.Effect, f.Reason)
	switch f.Effect {
	case DoSync:
		s.t.Synced = s.t.Visible // the periodic repair tries again
	case DoReady:
		s.notReadied(f.Reason)
	case DoDraft:
		s.t.Pull.Readied = false
		s.lookOnceMore()
	}
}

// attemptFailed records an attempt that could not be run.
func (s *step) attemptFailed(f EffectFailed) {
	a := s.t.Attempt()
	a.Outcome, a.Reason, a.EndedAt = AttemptError, f.Reason, s.e.At
	a.Cost += f.Cost
	s.settle(f.Cost)
	for i := range a.Parts {
		a.Parts[i].Reserved = 0
	}
}

// redo records the failed effect again; it is held until the resume.
func (s *step) redo(failed EffectFailed, state State) {
	kind := failed.Effect
	switch kind {
	case DoAttempt, DoBegin:
		s.begin()
	case DoWeigh, DoUpdate: // resuming watches the head again, which repeats them if they are still needed
	case DoGate:
		if state != Checking {
			s.watch()
		}
	default:
		f := Effect{Key: Effect{Key: s.e.Effect}.First() + repeatInfix + s.v(), Task: s.t.ID, Kind: kind, Attempt: s.number(),
			SHA: failed.SHA, Part: failed.Part}
		if kind == DoDecide {
			f.Question = s.openDecision(state)
			if state == Working {
				f.Part = s.t.Attempt().Asking
			}
		}
		if kind == DoEscalate {
			f.Seq = s.t.Escalation.Number
		}
		s.t.Pause.Held = append(s.t.Pause.Held, f)
		if kind == DoMemory {
			s.t.AwaitMemory = f.Key
		}
	}
}

// effectFailedLate records an effect that failed after its task had ended.
func (s *step) effectFailedLate() {
	f := s.e.Fact.(EffectFailed)
	s.warnFailed(f)
	switch f.Effect {
	case DoAttempt:
		s.attemptFailed(f)
		s.commitFinalMemory()
	case DoPush, DoAggregate:
		s.commitFinalMemory()
	case DoStudy:
		s.emit(DoMemory, s.number(), s.v())
	}
}

func (s *step) syncDone() {
	s.t.Synced = max(s.t.Synced, s.e.Fact.(SyncDone).Version)
	s.because("what GitHub shows of the task was brought up to date")
}

func (s *step) done() { s.because("done") }
