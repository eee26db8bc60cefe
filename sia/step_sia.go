package sia

import (
	"fmt"
	"slices"
	"strings"
)

// diagnose asks SIA why the present attempt failed.
func (s *step) diagnose(signals []Signal) {
	s.t.Next = &Intervention{Number: len(s.t.Interventions) + 1, After: s.number(), Signals: signals}
	s.t.Rounds, s.t.Refused = 0, nil
	s.enter(Diagnosing)
	s.emit(DoDiagnose, s.number(), s.v())
	s.because("attempt %d failed%s; SIA works out why", s.number(), names(signals))
}

// diagnosed checks the diagnosis against the hard rules and has it reviewed.
func (s *step) diagnosed() {
	f := s.e.Fact.(Diagnosed)
	d := f.Diagnosis
	d.Brief = s.keeping(d.Brief)
	s.t.Credits.spend(f.Cost)
	s.t.Next.Diagnosis, s.t.Next.Review = d, Review{}
	s.t.Next.Warning = f.Warning
	s.warn(f.Warning)
	if reason := s.unusable(d); reason != "" {
		s.escalate(d)
		s.because("a person is needed: %s", reason)
		return
	}
	if s.t.Wanted != "" { // a person has said how to go on
		s.review()
		return
	}
	s.decide(DecideEscalate)
	s.because("pattern %s, technique %s, confidence %.2f; it is decided whether a person is asked first", d.Pattern,
		d.Technique, d.Confidence)
}

// review has the diagnosis reviewed.
func (s *step) review() {
	d := s.t.Next.Diagnosis
	s.enter(Reviewing)
	if !s.t.Settings.SIA.Reviewer {
		s.t.Next.Review = Review{Verdict: ReviewOff}
		s.memory()
	} else {
		s.emit(DoReview, s.number(), s.v())
	}
	s.because("pattern %s, technique %s, confidence %.2f", d.Pattern, d.Technique, d.Confidence)
}

// unusable says why a diagnosis can't lead to another attempt; the hard rules
// (docs/rules.md#hard-rules) live here and in Begun.
func (s *step) unusable(d Diagnosis) string {
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

// reviewed goes on to memory, or back to diagnosis when the review refuses.
//
// A major verdict has the instructions amended by its points and reviewed once
// more by a fresh call. A second major one refuses them, as rejected does: the
// next candidate is diagnosed, at most maxRounds times. After that SIA goes
// ahead with what it has, because somebody has to be shown something, and the
// verdict stands in the comment.
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
	s.memory()
	s.because("the reviewer's verdict: %s", f.Review.Verdict)
}

// memoryCommitted posts the intervention's comment next, or asks the person.
func (s *step) memoryCommitted() {
	f := s.e.Fact.(MemoryCommitted)
	s.warnOfMemory(f)
	is := f.is()
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

// memoryNoted books a memory commit that nothing waits for.
func (s *step) memoryNoted() {
	f := s.e.Fact.(MemoryCommitted)
	s.warnOfMemory(f)
	s.because("memory %s", f.is())
}

// warnOfMemory shows people what memory lacks, and no longer what it lacked before.
func (s *step) warnOfMemory(f MemoryCommitted) {
	if s.t.Warning == s.t.MemoryWarning {
		s.t.Warning = ""
	}
	s.t.MemoryWarning = f.Warning
	s.warn(f.Warning)
}

// is says what became of memory.
func (f MemoryCommitted) is() string {
	if f.SHA == "" {
		return "could not be committed"
	}
	return "is committed as " + f.SHA.Short()
}

// warn shows people something they should know.
func (s *step) warn(text string) {
	if text != "" {
		s.t.Warning, s.t.WarningOf = text, ""
	}
}

// doneAfterAll drops the warning that an effect could not be done when one of its kind reports that it was.
func (s *step) doneAfterAll(kind EffectKind) {
	if kind == "" || kind != s.t.WarningOf || s.e.Fact.Kind() == KEffectFailed {
		return
	}
	s.t.Warning, s.t.WarningOf = "", ""
	s.t.Visible = s.t.Version
}

// announced lets the next attempt begin: its comment stands.
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

// escalate asks a person: an issue of its own, with options.
func (s *step) escalate(d Diagnosis) {
	e := howToGoOn(d, s.lastFailure())
	s.t.Next = nil
	s.open(e)
	s.because("a person is needed: %s", e.Blocker)
}

// lastFailure quotes what failed last.
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

// open puts a question to a person; memory is committed first.
func (s *step) open(e Escalation) {
	e.Number, e.AskedAt = 1, s.e.At
	if old := s.t.Escalation; old != nil {
		e.Number = old.Number + 1
		s.closeEscalation()
	}
	s.t.Escalation = &e
	s.enter(Escalated)
	s.memory()
}

func (s *step) escalationOpened() {
	f := s.e.Fact.(EscalationOpened)
	if s.overtaken(f) {
		return
	}
	s.t.Escalation.Issue, s.t.Escalation.URL = f.Issue, f.URL
	s.because("the question stands in #%d", f.Issue)
}

// overtaken has the issue closed of a question that was put after a newer one had been opened.
func (s *step) overtaken(f EscalationOpened) bool {
	if f.Question == 0 || f.Question == s.t.Escalation.Number {
		return false
	}
	if f.Issue != s.t.Issue {
		s.emitEffect(DoClose, s.number(), fmt.Sprintf("q%d-%s", f.Question, s.v()), Effect{OnIssue: f.Issue})
	}
	s.because("#%d was opened after another question had been asked; it is closed again", f.Issue)
	return true
}

// escalationLate notes a question that was put after the task had moved on, and
// has its issue closed; but while the checks of a person's push are read it stands.
func (s *step) escalationLate() {
	f := s.e.Fact.(EscalationOpened)
	if s.overtaken(f) {
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

// effectFailed pauses the task when something it depends on can't be done.
func (s *step) effectFailed() {
	f := s.e.Fact.(EffectFailed)
	again := f.Effect == DoAttempt && s.t.State == Working && s.runLost(f) // and the attempt goes on
	if f.Effect == DoAttempt && !again {
		s.attemptLost(f)
	}
	wait := f.Effect.traits().waitsIn
	if wait != nil && !slices.Contains(wait, s.t.State) {
		s.because("%s could not be done, but the task has moved on since: %s", f.Effect, f.Reason)
		s.ended()
		return
	}
	if wait == nil {
		s.failedAside(f)
		if s.e.Effect != s.t.AwaitMemory {
			return
		}
	}
	if again {
		s.hold(PausedByTrouble, f.Reason)
		return
	}
	if s.followsUp() && (f.Effect == DoBegin || f.Effect == DoDecide || f.Effect == DoAttempt) {
		s.leaveOmission("no follow-up: " + f.Reason)
		return
	}
	if f.Effect == DoAttempt {
		s.enter(Queued)
	}
	state := s.t.State
	s.hold(PausedByTrouble, f.Reason)
	s.redo(f, state)
}

// failedAside tells people what could not be done, where no state depends on it.
func (s *step) failedAside(f EffectFailed) {
	if f.Effect == DoFinalReview { // people miss nothing that they count on
		s.finalReviewLost(f.Reason)
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

// attemptLost books an attempt that could not be run.
func (s *step) attemptLost(f EffectFailed) {
	a := s.t.Attempt()
	a.Outcome, a.Reason, a.EndedAt = AttemptError, f.Reason, s.e.At
	a.Cost += f.Cost
	s.settle(f.Cost)
	for i := range a.Parts {
		a.Parts[i].Reserved = 0
	}
}

// redo writes the failed effect down again; it is held until the resume.
func (s *step) redo(failed EffectFailed, state State) {
	kind := failed.Effect
	switch kind {
	case DoAttempt, DoBegin:
		s.begin()
	case DoWeigh, DoUpdate: // the head is watched again on resume, and what follows from that is done again
	case DoGate:
		if state != Checking {
			s.watch()
		}
	default:
		f := Effect{Key: Effect{Key: s.e.Effect}.First() + again + s.v(), Task: s.t.ID, Kind: kind, Attempt: s.number(),
			SHA: failed.SHA, Part: failed.Part}
		if kind == DoDecide {
			f.Question = s.asking(state)
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

// outcomeLost notes an effect that failed after its task ended.
func (s *step) outcomeLost() {
	f := s.e.Fact.(EffectFailed)
	s.failedAside(f)
	switch f.Effect {
	case DoAttempt:
		s.attemptLost(f)
		s.remember()
	case DoPush, DoAggregate:
		s.remember()
	case DoStudy:
		s.emit(DoMemory, s.number(), s.v())
	}
}

func (s *step) syncDone() {
	s.t.Synced = max(s.t.Synced, s.e.Fact.(SyncDone).Version)
	s.because("what GitHub shows of the task was brought up to date")
}

func (s *step) done() { s.because("done") }
