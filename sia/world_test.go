package sia

import (
	"fmt"
	"math/bits"
	"time"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia/plan"
)

// world simulates the environment of a task: it carries out effects with random
// outcomes, and people and GitHub cause random events, early, late and twice.
type world struct {
	t      *rapid.T
	now    time.Time
	task   Task
	todo   []Effect
	all    map[string]bool // every effect key ever emitted
	log    []Event         // every applied event, in order
	serial int

	untested map[SHA]bool // heads whose tests could not be run
	paid     Credits      // what the reported outcomes have cost
}

var person = Actor{Login: "ada", ID: 7}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), all: map[string]bool{},
		untested: map[SHA]bool{}}
	w.apply(Event{ID: "start", By: person, Fact: Start{
		Installation: 1, Repo: Repo{ID: 9, Owner: "o", Name: "r"}, Issue: 3, Title: "Do it", DefaultBranch: "main",
	}})
	return w
}

// evenly draws a number from least to most with equal probabilities. rapid's own generators prefer the ends of a range
// and the beginning of a list: with them a history hardly gets beyond its first attempt, and none to a green check.
func evenly(t *rapid.T, what string, least, most int) int {
	n := 0
	for range bits.Len(uint(most-least)) + 4 {
		n *= 2
		if rapid.Bool().Draw(t, what) {
			n++
		}
	}
	return least + n%(most-least+1)
}

// oneOf draws one of several values with equal probabilities.
func oneOf[T any](t *rapid.T, what string, all []T) T { return all[evenly(t, what, 0, len(all)-1)] }

// apply steps and returns the task before it.
func (w *world) apply(e Event) Task {
	e.At, e.Rules = w.now, Rules
	before := w.task
	r := Step(before, e)
	w.task = r.Task
	if before.ID == "" || r.Task.Version != before.Version { // an event that changes nothing is not logged
		w.log = append(w.log, e)
	} else if !storedEqual(before, r.Task) {
		w.t.Fatalf("%s changed the task and not its version", e.Fact.Kind())
	}
	for _, f := range r.Effects {
		if w.all[f.Key] {
			w.t.Fatalf("effect key %s was emitted twice", f.Key)
		}
		w.all[f.Key] = true
		w.todo = append(w.todo, f)
	}
	return before
}

func (w *world) sha() SHA { w.serial++; return SHA(fmt.Sprintf("%040x", w.serial)) }

// outcome draws an outcome of f.
func (w *world) outcome(f Effect) Fact {
	t := w.t
	if evenly(t, "effect fails", 0, 59) == 0 {
		if f.Kind == DoEvidence {
			w.untested[f.SHA] = true
		}
		return EffectFailed{Effect: f.Kind, SHA: f.SHA, Part: f.Part, Reason: "it could not be reached"}
	}
	switch f.Kind {
	case DoBegin:
		set := DefaultSettings()
		set.SIA.TriggerAfter = evenly(t, "trigger after", 1, 2)
		set.SIA.Reviewer = rapid.Bool().Draw(t, "reviewer")
		set.Review.Final = evenly(t, "final review", 0, 3) > 0
		set.Budget.Task = 20
		set.Agent.Plan = oneOf(t, "plan", []string{"", "", PlanApprove})
		var told []LessonRef
		for i := range evenly(t, "lessons", 0, 5) {
			told = append(told, LessonRef{ID: fmt.Sprint(i), Text: fmt.Sprint("lesson ", i),
				Test: oneOf(t, "case", []string{"", "case a", "case b", "case c", "case d"})})
		}
		var done *Already
		if w.task.ChecksIfResolved() && evenly(t, "already", 0, 7) == 0 {
			done = &Already{URL: "u", What: "pull request #7, which is open, closes this issue"}
		}
		var asked *Asked
		for _, wish := range w.task.Wishes {
			if asked == nil {
				asked = &Asked{}
			}
			if len(asked.Threads) > 0 && evenly(t, "it does not fit", 0, 3) == 0 {
				if asked.Rest = append(asked.Rest, wish.ID); rapid.Bool().Draw(t, "none of it") {
					continue
				}
			}
			asked.Wishes = append(asked.Wishes, wish.ID)
			if evenly(t, "resolved since", 0, 4) > 0 {
				asked.Threads = append(asked.Threads, Thread{ID: 1, Path: "a", Said: []Said{{By: "ada", Text: wish.ID}}})
			}
		}
		return Begun{Settings: set, BaseBranch: "main", BaseSHA: "base", Already: done, Asked: asked,
			Title: oneOf(t, "title", []string{"Do it", "Do it", "Do it", "Do it", "Do it", "Do that"}), Lessons: told}
	case DoDecide:
		return w.decided(f)
	case DoAttempt:
		if f.Run > 0 {
			return w.runEnded(f)
		}
		end := oneOf(t, "end", []AttemptEnd{EndFinished, EndFinished, EndFinished, EndTime, EndCredits, EndStuck, EndAsked,
			EndCancelled, EndError})
		out := AttemptEnded{End: end, Reason: string(end), Cost: Credits(evenly(t, "cost", 0, 4000))}
		if evenly(t, "no change", 0, 3) > 0 && end != EndAsked && end != EndStuck {
			out.Commit = w.sha()
		}
		if end == EndAsked {
			out.Ask = &Ask{Question: "which?", Why: "it does not say", Options: []string{"one", "two"}}
			if w.task.Attempt().Planning && evenly(t, "asks", 0, 3) > 0 {
				out.Ask = &Ask{Plan: &Plan{Summary: "do it", Steps: []plan.Part{{Do: "this", DoneWhen: "that"}}}}
			}
		}
		return out
	case DoAggregate:
		return w.aggregated()
	case DoPush:
		if evenly(t, "push refused", 0, 7) == 0 {
			return PushRefused{Head: w.sha(), Reason: "the branch moved"}
		}
		if evenly(t, "change refused", 0, 7) == 0 {
			return PushRefused{Reason: "GitHub does not take it", Change: true}
		}
		return Pushed{SHA: f.SHA}
	case DoPull:
		return PullOpened{Number: 12, NodeID: "n", URL: "u", Draft: rapid.Bool().Draw(t, "draft")}
	case DoRerun:
		if evenly(t, "rerun refused", 0, 3) == 0 {
			return RerunRefused{SHA: f.SHA, Runs: []int64{1}, Reason: "may not"}
		}
		return Done{}
	case DoReady:
		return Readied{Refused: oneOf(t, "not ready", []string{"", "", "may not"})}
	case DoDraft:
		return Drafted{Refused: oneOf(t, "no draft", []string{"", "", "may not"})}
	case DoGate:
		v := oneOf(t, "verdict", []GateVerdict{VerdictGreen, VerdictGreen, VerdictGreen, VerdictRed, VerdictRed, VerdictRed,
			VerdictPending, VerdictNone, VerdictRerun, VerdictTampered, VerdictBlocked})
		j := Judged{SHA: f.SHA, Looked: w.now, Verdict: v, Signals: []Signal{{SameTask, "again"}}}
		if v == VerdictBlocked {
			j.Blocked = []Obstacle{{Check: "e2e", Reason: "did not appear", Absent: rapid.Bool().Draw(t, "absent")}}
		}
		if v == VerdictTampered && rapid.Bool().Draw(t, "expectations") {
			j.Weigh = []string{"a_test.go:3: " + oneOf(t, "changed", []string{"this", "that"})}
		}
		j.Guarded = (v == VerdictBlocked || v == VerdictNone) && rapid.Bool().Draw(t, "guarded")
		j.Conflicts, j.Behind = evenly(t, "conflicts", 0, 7) == 0, evenly(t, "behind", 0, 3) == 0
		return j
	case DoUpdate:
		out := Updated{From: f.SHA, Onto: w.sha()}
		switch evenly(t, "update", 0, 4) {
		case 0:
			out.Conflicts = []Conflict{{Path: "a", What: "both sides changed the same lines"}}
		case 1:
			out.Refused = "may not"
		case 2: // the branch has moved
		default:
			out.SHA = w.sha()
		}
		return out
	case DoDiagnose:
		d := Diagnosis{Summary: "s", Pattern: Environment, Prompt: string(w.sha())}
		d.Technique = oneOf(t, "technique", []TechniqueID{Decomposition, FreshStart, ToolChange, ErrorPattern, ""})
		d.Brief = Brief{Technique: d.Technique, Prompt: d.Prompt}
		return Diagnosed{Diagnosis: d, Cost: 100}
	case DoReview:
		out := Reviewed{Review: Review{Verdict: oneOf(t, "review", []Verdict{Approved, Minor, Rejected, Major})}, Cost: 100}
		if out.Review.Verdict == Minor || out.Review.Verdict == Major {
			out.Review.Points, out.Prompt = []string{"name the file"}, "amended "+string(w.sha())
		}
		return out
	case DoEvidence:
		e := TestEvidence{Head: f.SHA, Base: w.task.BaseSHA, Tests: 1}
		switch evenly(t, "tests", 0, 3) {
		case 0:
			e.NotRun = "no sandbox"
		case 1:
			e.Early = []string{"."}
		}
		return Evidenced{Evidence: e}
	case DoWeigh:
		return Weighed{SHA: f.SHA, Cost: 100, Quotes: oneOf(t, "quotes", [][]string{nil, {""}, {"it should be that"}})}
	case DoFinalReview:
		out := FinalReview{SHA: f.SHA}
		switch evenly(t, "final review says", 0, 2) {
		case 0:
			out.Why = "the model could not be asked"
		case 1:
			out.Demands, out.URL = []Demand{{Quote: "Do it", State: DemandUnmet, Why: "it does not"}}, "r"
		}
		return FinalReviewed{Review: out, Cost: 100}
	case DoTakeBack:
		switch evenly(t, "somebody was faster, or no push is forced", 0, 3) {
		case 0:
			return TakenBack{SHA: oneOf(t, "where", []SHA{"", w.sha(), w.task.Head})}
		case 1:
			return TakenBack{SHA: w.sha(), Made: f.SHA}
		}
		return TakenBack{SHA: f.SHA}
	case DoMemory:
		return MemoryCommitted{SHA: w.sha()}
	case DoAnnounce:
		return CommentPosted{URL: "c"}
	case DoEscalate:
		return EscalationOpened{Issue: 40 + f.Attempt, URL: "e"}
	case DoStudy:
		return FixStudied{Fix: Fix{By: w.task.HeadBy, Head: f.SHA, Summary: "it was done otherwise"}, Cost: 100}
	case DoSync:
		return SyncDone{Version: w.task.Version}
	default:
		return Done{}
	}
}

// runEnded draws the end of one of an attempt's runs.
func (w *world) runEnded(f Effect) Fact {
	t := w.t
	a := w.task.Attempts[f.Attempt-1]
	end := oneOf(t, "end of run", []AttemptEnd{EndFinished, EndFinished, EndFinished, EndFinished, EndTime, EndCredits,
		EndStuck, EndCancelled, EndError})
	out := AttemptEnded{End: end, Reason: "", Cost: Credits(evenly(t, "cost", 0, 4000))}
	if end != EndFinished {
		out.Reason = string(end)
	}
	p, _ := a.PartOf(f.Run)
	if p == nil && len(a.Parts) == 0 { // it makes the plan
		if end == EndFinished && evenly(t, "plan of parts", 0, 3) > 0 {
			out.End, out.Ask = EndAsked, &Ask{Plan: &Plan{Summary: "in parts"}}
			for i := range evenly(t, "parts", 1, 4) {
				part := plan.Part{Do: fmt.Sprint("do ", i), DoneWhen: "done", Check: "true"}
				if i > 0 && rapid.Bool().Draw(t, "rests on another") {
					part.Needs = []int{evenly(t, "need", 1, i)}
				}
				out.Ask.Plan.Steps = append(out.Ask.Plan.Steps, part)
			}
		}
		return out
	}
	if end != EndStuck && evenly(t, "no change", 0, 3) > 0 {
		out.Commit = w.sha()
	}
	if evenly(t, "checked", 0, 3) > 0 {
		out.Check = &CheckRun{Command: "true", Holds: evenly(t, "holds", 0, 2) > 0}
	}
	return out
}

// aggregated draws the result of merging the parts.
func (w *world) aggregated() Fact {
	t := w.t
	tops := w.task.Attempt().Tops()
	if len(tops) > 1 && evenly(t, "conflict", 0, 2) == 0 {
		return Aggregated{Conflicts: []Conflict{{Path: "a", What: "both"}}, Over: tops[:2]}
	}
	out := Aggregated{}
	if evenly(t, "no change", 0, 5) > 0 {
		out.Commit = w.sha()
	}
	if evenly(t, "may not leave", 0, 7) == 0 {
		out.Reason, out.Commit = "a secret", ""
	}
	if evenly(t, "whole does not hold", 0, 3) == 0 {
		out.Checks = []CheckRun{{Command: "true"}}
	}
	return out
}

// decided draws an answer to a decision.
func (w *world) decided(f Effect) Fact {
	q := f.Question
	choices := map[DecisionType][]string{
		DecideRecover: {ChooseSIA, ChooseSIA, ChooseSIA, ChooseSIA, ChooseRetry, ChooseRerun, ChooseOtherCoder, ChoosePerson,
			ChooseAbandon},
		DecideEscalate: {ChooseGoOn, ChooseGoOn, ChooseGoOn, ChooseAsk},
		DecideAssign:   {"fast", "fast", "strong", "strong", ChooseNobody},
		DecideDecompose: {string(plan.Whole), string(plan.Linear), string(plan.Parallel), string(plan.Hierarchical),
			string(plan.Reproduce)},
	}
	if f.Part > 0 {
		choices[DecideRecover] = []string{ChooseRetry, ChooseOtherCoder, ChooseSIA}
	} else if q == DecideRecover && w.task.Attempt().RacersLeft() > 0 {
		choices[q] = append(choices[q], ChooseNextRacer, ChooseNextRacer, ChooseNextRacer)
	}
	d := Decided{Type: q, Choice: oneOf(w.t, string(q), choices[q]), Reason: "so it is", Agent: "scripted"}
	if d.Choice == ChooseRerun && w.task.Head == "" {
		d.Choice = ChooseRetry
	}
	if q == DecideDecompose {
		d.AtOnce, d.MaxParts = evenly(w.t, "at once", 1, 3), 4
	}
	if q == DecideAssign && f.Part == 0 && evenly(w.t, "race", 0, 4) == 0 {
		d.Racers = []Racer{{Coder: "fast"}, {Coder: "strong"}}
	}
	if d.Choice == ChooseRetry || d.Choice == ChooseRerun {
		d.Wait = Duration(evenly(w.t, "wait", 0, 2)) * Duration(time.Minute)
	}
	return d
}

// finish carries out the i-th pending effect.
func (w *world) finish(i int) (Event, Task) {
	f := w.todo[i]
	w.todo = append(w.todo[:i:i], w.todo[i+1:]...)
	if f.At.After(w.now) {
		w.now = f.At
	}
	e := Event{ID: f.Key, Effect: f.Key, Fact: w.outcome(f)}
	w.paid += costOf(e.Fact)
	return e, w.apply(e)
}

// made returns the commit that the present attempt has pushed; else a new one.
func (w *world) made() SHA {
	if a := w.task.Attempt(); a != nil && a.Head != "" {
		return a.Head
	}
	return w.sha()
}

// costOf returns what an outcome has cost.
func costOf(f Fact) Credits {
	switch f := f.(type) {
	case AttemptEnded:
		return f.Cost
	case FixStudied:
		return f.Cost
	}
	return modelCost(f)
}

// helps contains facts of people that let a task continue.
var helps = map[State][]Fact{
	OnHold:    {Resume{}, Resume{Credits: 5 * Credit}, Resume{Scope: ServerHalt}, Resume{Scope: RepositoryHalt(9)}},
	Escalated: {AnswerGiven{Letter: "A"}, Approve{}}, Checking: {AcceptTests{}}, Stopped: {Retry{}},
}

// bother applies a random event of a person or GitHub.
func (w *world) bother() (Event, Task) {
	w.serial++
	e := Event{ID: fmt.Sprintf("p%d", w.serial), By: person,
		Origin: Origin{OnIssue: 3, Comment: int64(w.serial), Command: true}}
	e.Fact = oneOf(w.t, "fact", []Fact{
		Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}, Stop{Reason: "said so"},
		Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", Anyway: true},
		Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", Text: "and that " + fmt.Sprint(w.serial)},
		PauseAsked{Reason: "said so"}, PauseAsked{Reason: "all of it", Scope: ServerHalt},
		PauseAsked{Reason: "all of the repository", Scope: RepositoryHalt(9)}, Resume{Scope: ServerHalt},
		Resume{Scope: RepositoryHalt(9)},
		Resume{}, Resume{Credits: 5 * Credit}, Retry{}, Use{Technique: FreshStart}, Use{Coder: "strong"},
		AnswerGiven{Letter: "A"},
		AnswerGiven{Text: "do the other"},
		AnswerGiven{Letter: "B"}, Approve{}, Approve{Question: 1}, AcceptTests{}, Edited{Title: "Do that"},
		Query{Topic: "status"}, Rated{Good: true}, Rated{Intervention: 1}, CheckSeen{SHA: w.task.Head},
		CheckSeen{SHA: "other"}, BranchMoved{SHA: SHA("f00d" + fmt.Sprint(w.serial))},
		BranchMoved{SHA: w.made()}, PullClosed{}, PullClosed{Merged: true},
		Retargeted{Base: oneOf(w.t, "base", []string{"main", "dev"}), SHA: w.sha()},
		PullReopened{Number: 12, NodeID: "n", URL: "u"}, DraftChanged{Draft: true}, DraftChanged{},
		ChangesAsked{Review: int64(w.serial)},
		ChangesAsked{Thread: int64(w.serial)}, ChangesAsked{Text: "do it so " + fmt.Sprint(w.serial)}, ChangesWithdrawn{},
		ThreadSettled{Thread: 1}, ThreadSettled{Thread: 1, Again: true}, NotAnswered{}, NotAnswered{Closed: true},
	})
	if f := helps[w.task.State]; f != nil && rapid.Bool().Draw(w.t, "helps") {
		e.Fact = oneOf(w.t, "help", f)
	}
	return e, w.apply(e)
}
