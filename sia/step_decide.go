package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// What follows an attempt that failed, whether a person is asked, and who works are
// decided by the policies in force (docs/decisions.md). Step asks with one effect and moves
// on the one fact that answers; it knows the choices, not why they are made.

// The choices that Step knows.
const (
	ChooseSIA        = "sia"         // recover: SIA works out why and changes the approach
	ChooseRetry      = "retry"       // recover: the same once more
	ChooseRerun      = "rerun"       // recover: the checks are run again after a while
	ChooseOtherCoder = "other-coder" // recover: the same by another coder
	ChoosePerson     = "person"      // recover: a person is asked
	ChooseAbandon    = "abandon"     // recover: the task ends
	ChooseGoOn       = "go on"       // escalate: with the next approach
	ChooseAsk        = "ask now"     // escalate: a person, before it begins
	ChooseNextRacer  = "next-racer"  // recover: the change of the next best racer is checked
	ChooseNobody     = ""            // assign: for nobody left does the chance justify the cost
)

// Opening is what the next attempt begins with, while it is decided who works.
type Opening struct {
	Hash            string   `json:"hash" mask:"-"` // of its prompt
	LessonsShown    []string `json:"lessons_shown,omitempty" mask:"-"`
	LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`
	// how the attempt's work hangs together; empty: that is being decided
	Structure plan.Structure `json:"structure,omitempty"`
	Shape     string         `json:"shape,omitempty"`     // why so, for people
	Parallel  int            `json:"parallel,omitempty"`  // runs at once, at most
	MaxParts  int            `json:"max_parts,omitempty"` // of a plan
}

// Decided: the answer to the question that a decide effect put.
type Decided struct {
	Type     DecisionType `json:"type"`
	Choice   string       `json:"choice" mask:"-"`
	Decision string       `json:"decision" mask:"-"` // id in the log
	Reason   string       `json:"reason,omitempty"`  // for people; empty where there was no choice
	Wait     Duration     `json:"wait,omitempty"`
	Agent    string       `json:"agent,omitempty"` // assign: the chosen coder's agent and model

	Hold  string `json:"hold,omitempty"`  // assign: as [Begun.Hold], of what others took since
	Aside bool   `json:"aside,omitempty"` // assign: as [Begun.Aside]

	Racers   []Racer `json:"racers,omitempty"`    // assign: all who work on the attempt at once, where several do
	AtOnce   int     `json:"at_once,omitempty"`   // decompose: runs at once, at most
	MaxParts int     `json:"max_parts,omitempty"` // decompose: parts of a plan, at most
}

// Racer is one of several who work on the same attempt.
type Racer struct {
	Coder string `json:"coder" mask:"-"`  // its name in the server's configuration
	Agent string `json:"agent,omitempty"` // agent and model
}

// Kind names the fact.
func (Decided) Kind() Kind { return KDecided }

// decide puts a question to the policies in force.
func (s *step) decide(question DecisionType) {
	s.soon = true
	s.emitEffect(DoDecide, s.number(), string(question)+"-"+s.v(), Effect{Question: question})
}

// asking is the question that the state waits for an answer to.
func (s *step) asking(state State) DecisionType {
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
	early := f.Type == DecideAssign && s.t.Opening != nil // it was asked by a version that knew no structures
	if f.Type != s.asking(s.t.State) && !early {
		s.ignore(late)
		return
	}
	if s.t.State == Working {
		s.partDecided(f)
		return
	}
	switch f.Type {
	case DecideDecompose:
		s.shaped(f)
	case DecideRecover:
		s.recovered(f)
	case DecideEscalate:
		s.approached(f)
	case DecideAssign:
		s.assigned(f)
	}
}

// recovered goes on after an attempt that failed.
func (s *step) recovered(f Decided) {
	a := s.t.Attempt()
	switch f.Choice {
	case ChooseNextRacer:
		if a.RacersLeft() == 0 {
			s.ignore(late)
			return
		}
		s.takeBackFailure()
		s.pushRacer()
	case ChooseRetry:
		s.proceedAfter(f.Wait.D(), fmt.Sprintf("failed attempt %d: the same again, because %s", a.Number, f.Reason))
	case ChooseRerun:
		if a.Lost() > 0 { // the checks can't say that what is missing is there
			s.diagnose(a.Signals)
			return
		}
		s.waitOut(f)
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

// waitOut takes back that the attempt failed, and has its red checks run again after a
// while.
func (s *step) waitOut(f Decided) {
	s.takeBackFailure()
	g, at := s.t.Gate, s.e.At.Add(f.Wait.D())
	s.enter(Checking)
	s.t.Gate = GateState{Seq: g.Seq, Since: at, Weighing: g.Weighing, Reruns: g.Reruns, Doubted: g.Doubted,
		Waits: g.Waits + 1}
	s.emitEffect(DoRerun, s.number(), "wait-"+s.v(), Effect{At: at, SHA: s.t.Head, CheckIDs: g.Failed})
	s.look(at.Add(lookGap(s.t.Settings.Checks.Settle.D(), 1)))
	s.because("not the attempt's doing: the checks are run again at %s, because %s",
		at.UTC().Format(time.TimeOnly), f.Reason)
}

// takeBackFailure undoes what outcome and fail noted of the present attempt.
func (s *step) takeBackFailure() {
	a := s.t.Attempt()
	a.Outcome, a.Signals = "", nil
	s.t.Failures--
	before, after := AttemptOutcome(""), 0 // of earlier attempts on the same prompt; the first after the last diagnosis
	if n := len(s.t.Interventions); n > 0 {
		after = s.t.Interventions[n-1].After
	}
	judged := false
	for _, earlier := range s.t.Attempts[:s.number()-1] {
		done := earlier.Outcome == AttemptPass || earlier.Outcome == AttemptFail
		if earlier.PromptHash == a.PromptHash && done {
			before = earlier.Outcome
		}
		judged = judged || done && earlier.Number > after
	}
	for i := range s.t.Prompts {
		if s.t.Prompts[i].Hash == a.PromptHash {
			s.t.Prompts[i].Outcome = before
		}
	}
	if n := len(s.t.Interventions); n > 0 && after < a.Number && !judged {
		s.t.Interventions[n-1].Resolved = nil
	}
}

// approached goes on with a diagnosis, or asks a person before its approach begins.
func (s *step) approached(f Decided) {
	if f.Choice != ChooseAsk {
		s.review()
		return
	}
	d := s.t.Next.Diagnosis
	e := howToGoOn(d, s.lastFailure())
	e.Early = f.Reason
	s.t.Next = nil
	s.open(e)
	s.because("a person is asked before another approach: %s", f.Reason)
}

// assigned begins the attempt with the coder that was chosen.
func (s *step) assigned(f Decided) {
	o := s.t.Opening
	if o == nil {
		s.ignore(late)
		return
	}
	s.t.Opening = nil
	if f.Choice == ChooseNobody && s.followsUp() {
		s.leaveOmission("no follow-up: " + f.Reason)
		return
	}
	if f.Choice == ChooseNobody {
		s.hold(PausedByWorth, f.Reason)
		s.begin()
		return
	}
	if f.Hold != "" && s.followsUp() {
		s.leaveOmission("no follow-up: " + f.Hold)
		return
	}
	if f.Hold != "" {
		s.noRoom(f.Hold, f.Aside)
		return
	}
	plans, left := s.plans(), s.t.Credits.Left()
	known := slices.ContainsFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == o.Hash })
	if !plans && !known {
		s.t.Prompts = append(s.t.Prompts, Prompt{Version: len(s.t.Prompts) + 1, Hash: o.Hash, Technique: s.t.Brief.Technique})
	}
	a := Attempt{
		Number: s.number() + 1, StartedAt: s.e.At, Coder: f.Choice, Agent: f.Agent, Assigned: f.Reason, PromptHash: o.Hash,
		Technique: s.t.Brief.Technique, Planning: plans,
		LessonsShown: o.LessonsShown, LessonsWithheld: o.LessonsWithheld,
		Answers: len(s.t.Brief.Answers), Asked: s.t.Brief.Asked != nil, Demands: len(s.t.Brief.Demands),
		Reserved: s.t.Credits.reserve(max(Credit, left-left/siaShare)),
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

// FailedCoders are the coders of this run that failed, in order, each as often as it did.
func (t *Task) FailedCoders() (names []string) {
	for _, a := range t.Attempts[min(t.Earlier, len(t.Attempts)):] {
		names = append(names, a.FailedCoders()...)
	}
	return names
}

// InARow is how many of the last attempts failed on the same instructions.
func (t *Task) InARow() int { return t.inARow(AttemptFail) }
