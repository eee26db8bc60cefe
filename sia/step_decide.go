package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// The policies in force (docs/decisions.md) decide what follows a failed attempt, whether a
// person is asked, and who works. Step asks with one effect and moves on the fact that answers;
// it handles the choices and does not contain the reasons for them.

// The choices that Step handles.
const (
	ChooseSIA        = "sia"         // recover: SIA diagnoses the failure and changes the approach
	ChooseRetry      = "retry"       // recover: the same again
	ChooseRerun      = "rerun"       // recover: the checks are run again after a while
	ChooseOtherCoder = "other-coder" // recover: the same by another coder
	ChoosePerson     = "person"      // recover: a person is asked
	ChooseAbandon    = "abandon"     // recover: the task ends
	ChooseGoOn       = "go on"       // escalate: continue with the next approach
	ChooseAsk        = "ask now"     // escalate: ask a person before the next approach begins
	ChooseNextRacer  = "next-racer"  // recover: the change of the next best racer is checked
	ChooseNobody     = ""            // assign: no remaining coder's chance justifies its cost
)

// Opening contains the inputs of the next attempt while its structure and coder are being chosen.
type Opening struct {
	Hash            string   `json:"hash" mask:"-"` // of the attempt's prompt
	LessonsShown    []string `json:"lessons_shown,omitempty" mask:"-"`
	LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`
	// structure of the attempt's work; empty: being decided
	Structure plan.Structure `json:"structure,omitempty"`
	Shape     string         `json:"shape,omitempty"`     // reason for Structure, for people
	Parallel  int            `json:"parallel,omitempty"`  // maximum number of concurrent runs
	MaxParts  int            `json:"max_parts,omitempty"` // maximum number of parts of a plan
}

// Decided: the answer to the question of a decide effect.
type Decided struct {
	Type     DecisionType `json:"type"`
	Choice   string       `json:"choice" mask:"-"`
	Decision string       `json:"decision" mask:"-"` // id in the log
	Reason   string       `json:"reason,omitempty"`  // for people; empty if there was no choice
	Wait     Duration     `json:"wait,omitempty"`
	Agent    string       `json:"agent,omitempty"` // assign: the chosen coder's agent and model

	Hold  string `json:"hold,omitempty"`  // assign: as Begun.Hold, because other tasks have used the budget since
	Aside bool   `json:"aside,omitempty"` // assign: as Begun.Aside

	Racers   []Racer `json:"racers,omitempty"`    // assign: all coders of the attempt, if there are several
	AtOnce   int     `json:"at_once,omitempty"`   // decompose: maximum number of concurrent runs
	MaxParts int     `json:"max_parts,omitempty"` // decompose: maximum number of parts of a plan
}

// Racer is one of several coders that work on the same attempt.
type Racer struct {
	Coder string `json:"coder" mask:"-"`  // the coder's name in the server's configuration
	Agent string `json:"agent,omitempty"` // agent and model
}

// Kind returns the kind of the fact.
func (Decided) Kind() Kind { return KDecided }

// decide asks the policies in force a question.
func (s *step) decide(question DecisionType) {
	s.deferSync = true
	s.emitEffect(DoDecide, s.number(), string(question)+"-"+s.v(), Effect{Question: question})
}

// openDecision returns the question to which a state waits for an answer.
func (s *step) openDecision(state State) DecisionType {
	a := s.t.Attempt()
	switch {
	case state == Working && a.Asking > 0 && a.Parts[a.Asking-1].Elsewhere:
		return DecideAssign
	case state == Working:
		return DecideRecover
	case state != Diagnosing && s.t.Opening != nil && s.t.Opening.Structure == "":
		return DecideDecompose
	case state != Diagnosing:
		return DecideAssign
	case s.t.Next == nil:
		return DecideRecover
	}
	return DecideEscalate
}

// decided moves on an answer.
func (s *step) decided() {
	f := s.e.Fact.(Decided)
	early := f.Type == DecideAssign && s.t.Opening != nil // asked by a version without structures
	if f.Type != s.openDecision(s.t.State) && !early {
		s.ignore(late)
		return
	}
	if s.t.State == Working {
		s.partDecided(f)
		return
	}
	switch f.Type {
	case DecideDecompose:
		s.decomposeDecided(f)
	case DecideRecover:
		s.recoverDecided(f)
	case DecideEscalate:
		s.escalateDecided(f)
	case DecideAssign:
		s.assignDecided(f)
	}
}

// recoverDecided continues after a failed attempt.
func (s *step) recoverDecided(f Decided) {
	a := s.t.Attempt()
	switch f.Choice {
	case ChooseNextRacer:
		if a.RacersLeft() == 0 {
			s.ignore(late)
			return
		}
		s.t.undoFailure()
		s.pushRacer()
	case ChooseRetry:
		s.proceedAfter(f.Wait.D(), fmt.Sprintf("failed attempt %d: the same again, because %s", a.Number, f.Reason))
	case ChooseRerun:
		if a.Lost() > 0 || !s.hasPull() { // a re-run can't supply the missing part, or there are no checks
			s.diagnose(a.Signals)
			return
		}
		s.rerunLater(f)
	case ChooseOtherCoder:
		s.t.Elsewhere = true
		s.proceed(fmt.Sprintf("failed attempt %d: another coder tries the same, because %s", a.Number, f.Reason))
	case ChoosePerson:
		s.escalate(Diagnosis{})
		s.because("a person is asked: %s", f.Reason)
	case ChooseAbandon:
		s.end("SIA gave the task up: "+f.Reason, false)
	default:
		s.diagnose(a.Signals)
	}
}

// rerunWait is the prefix of the key's suffix of a delayed re-run, which [GateState.Reruns] does not count.
const rerunWait = "wait-"

// rerunLater undoes the attempt's failure, and requests a re-run of its red checks after a
// delay.
func (s *step) rerunLater(f Decided) {
	s.t.undoFailure()
	g, at := s.t.Gate, s.e.At.Add(f.Wait.D())
	s.enter(Checking)
	s.t.Gate = GateState{Seq: g.Seq, Since: at, Weighing: g.Weighing, Reruns: g.Reruns, Doubted: g.Doubted,
		Unrepeatable: g.Unrepeatable, Waits: g.Waits + 1}
	if s.e.Rules >= 1 {
		s.t.Gate.Evidence = g.Evidence
	}
	if s.missesTests() {
		s.runTests()
	}
	s.emitEffect(DoRerun, s.number(), rerunWait+s.v(), Effect{At: at, SHA: s.t.Head, CheckIDs: g.Failed})
	s.look(at.Add(lookInterval(s.t.Settings.Checks.Settle.D(), 1)))
	s.because("not the attempt's doing: the checks are run again at %s, because %s",
		at.UTC().Format(time.TimeOnly), f.Reason)
}

// undoFailure undoes what outcome and fail recorded about the present attempt.
func (t *Task) undoFailure() {
	a := t.Attempt()
	a.Outcome, a.Signals = "", nil
	t.Failures--
	var before AttemptOutcome // last earlier outcome on the prompt
	intervention, judged := t.InterventionOf(*a), false
	for _, earlier := range t.Attempts[:len(t.Attempts)-1] {
		if earlier.Outcome != AttemptPass && earlier.Outcome != AttemptFail {
			continue
		}
		if earlier.PromptHash == a.PromptHash {
			before = earlier.Outcome
		}
		judged = judged || t.InterventionOf(earlier) == intervention
	}
	for i := range t.Prompts {
		if t.Prompts[i].Hash == a.PromptHash {
			t.Prompts[i].Outcome = before
		}
	}
	if intervention != nil && !judged {
		intervention.Resolved = nil
	}
}

// Judged returns the task as far as its outcomes are certain: the failure of its last attempt may be taken back while
// it is not decided what follows.
func (t Task) Judged() Task {
	a := t.Attempt()
	if a == nil || a.Outcome != AttemptFail || !t.awaitsRecovery() {
		return t
	}
	t = t.clone()
	t.undoFailure()
	return t
}

// awaitsRecovery reports whether a policy is being asked, or will be, what follows the last attempt.
func (t *Task) awaitsRecovery() bool {
	for key, kind := range t.Pending {
		if kind == DoDecide && strings.HasPrefix(key, effectKey(t.ID, len(t.Attempts), DoDecide, string(DecideRecover))) {
			return true
		}
	}
	return t.Pause != nil && slices.ContainsFunc(t.Pause.Held, func(f Effect) bool {
		return f.Kind == DoDecide && f.Question == DecideRecover
	})
}

// escalateDecided continues with a diagnosis, or asks a person before its approach begins.
func (s *step) escalateDecided(f Decided) {
	if f.Choice != ChooseAsk {
		s.review()
		return
	}
	d := s.t.Next.Diagnosis
	e := diagnosisQuestion(d, s.lastFailure())
	e.Early = f.Reason
	s.t.Next = nil
	s.open(e)
	s.because("a person is asked before another approach: %s", f.Reason)
}

// assignDecided begins the attempt with the chosen coder.
func (s *step) assignDecided(f Decided) {
	o := s.t.Opening
	if o == nil {
		s.ignore(late)
		return
	}
	s.t.Opening = nil
	if f.Choice == ChooseNobody && s.followsUp() {
		s.abandonFollowUp("no follow-up: " + f.Reason)
		return
	}
	if f.Choice == ChooseNobody {
		s.hold(PausedByWorth, f.Reason)
		s.begin()
		return
	}
	if f.Hold != "" && s.followsUp() {
		s.abandonFollowUp("no follow-up: " + f.Hold)
		return
	}
	if f.Hold != "" {
		s.waitForBudget(f.Hold, f.Aside)
		return
	}
	plans, left := s.mustPlan(), s.t.Credits.Left()
	known := slices.ContainsFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == o.Hash })
	if !plans && !known {
		s.t.Prompts = append(s.t.Prompts, Prompt{Version: len(s.t.Prompts) + 1, Hash: o.Hash, Technique: s.t.Brief.Technique})
	}
	a := Attempt{
		Number: s.number() + 1, StartedAt: s.e.At, Coder: f.Choice, Agent: f.Agent, Assigned: f.Reason, PromptHash: o.Hash,
		Technique: s.t.Brief.Technique, Planning: plans,
		LessonsShown: o.LessonsShown, LessonsWithheld: o.LessonsWithheld,
		Answers: len(s.t.Brief.Answers), Asked: s.t.Brief.Asked != nil, Demands: len(s.t.Brief.Demands),
		Reserved: s.t.Credits.reserve(max(Credit, left-left/overheadDivisor)),
	}
	if from := s.t.StartsAt(); from != s.t.BaseSHA {
		a.From = from
	}
	s.t.Attempts = append(s.t.Attempts, a)
	s.t.WantedCoder, s.t.Elsewhere = "", false
	s.enter(Working)
	if s.followsUp() {
		s.t.Omission.Attempt, f.Racers = a.Number, nil
	}
	s.divide(*o, f.Racers)
	s.t.Pull.Refused = ""
	if s.t.Pull.Readied && !s.t.Pull.Merged {
		s.emit(DoDraft, a.Number, "")
	}
	why := fmt.Sprintf("attempt %d begins at %s with %s credits set aside", a.Number, s.t.BaseSHA.Short(), a.Reserved)
	if plans {
		why = fmt.Sprintf("attempt %d makes a plan for %s, with %s credits set aside",
			a.Number, s.t.BaseSHA.Short(), a.Reserved)
	}
	if f.Reason != "" {
		why += fmt.Sprintf("; %s works: %s", f.Choice, strings.TrimSuffix(f.Reason, "."))
	}
	s.because("%s", why)
}

// FailedCoders returns the coders that failed in this run, in order, one entry for each failure.
func (t *Task) FailedCoders() (names []string) {
	for _, a := range t.Attempts[min(t.Earlier, len(t.Attempts)):] {
		names = append(names, a.FailedCoders()...)
	}
	return names
}

// ConsecutiveFailures returns how many of the last attempts in a row failed on the same instructions.
func (t *Task) ConsecutiveFailures() int { return t.consecutive(AttemptFail) }
