package sia

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia/plan"
)

// world plays everything outside a task: it carries out effects with random
// outcomes, and people and GitHub do random things, early, late and twice.
type world struct {
	t      *rapid.T
	now    time.Time
	task   Task
	todo   []Effect
	all    map[string]bool // every effect key ever emitted
	log    []Event         // every event applied, in order
	serial int
}

var person = Actor{Login: "ada", ID: 7}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), all: map[string]bool{}}
	w.apply(Event{ID: "start", By: person, Fact: Start{
		Installation: 1, Repo: Repo{ID: 9, Owner: "o", Name: "r"}, Issue: 3, Title: "Do it", DefaultBranch: "main",
	}})
	return w
}

// apply steps and returns the task before it.
func (w *world) apply(e Event) Task {
	e.At = w.now
	before := w.task
	r := Step(before, e)
	w.task = r.Task
	w.log = append(w.log, e)
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

// outcome makes up what carrying out f led to.
func (w *world) outcome(f Effect) Fact {
	t := w.t
	if rapid.IntRange(0, 19).Draw(t, "effect fails") == 0 {
		return EffectFailed{Effect: f.Kind, Reason: "it could not be reached"}
	}
	switch f.Kind {
	case DoBegin:
		set := DefaultSettings()
		set.SIA.TriggerAfter = rapid.IntRange(1, 2).Draw(t, "trigger after")
		set.SIA.Reviewer = rapid.Bool().Draw(t, "reviewer")
		set.Review.Final = rapid.IntRange(0, 3).Draw(t, "final review") > 0
		set.Budget.Task = 20
		set.Agent.Plan = rapid.SampledFrom([]string{"", PlanApprove, PlanApprove}).Draw(t, "plan")
		var told []LessonRef
		for i := range rapid.IntRange(0, 5).Draw(t, "lessons") {
			told = append(told, LessonRef{ID: fmt.Sprint(i), Text: fmt.Sprint("lesson ", i),
				Test: rapid.SampledFrom([]string{"", "case a", "case b", "case c", "case d"}).Draw(t, "case")})
		}
		var done *Already
		if w.task.LooksForDone() && rapid.IntRange(0, 3).Draw(t, "already") == 0 {
			done = &Already{URL: "u", What: "pull request #7, which is open, closes this issue"}
		}
		var asked *Asked
		for _, wish := range w.task.Wishes {
			if asked == nil {
				asked = &Asked{}
			}
			asked.Wishes = append(asked.Wishes, wish.ID)
			if rapid.IntRange(0, 4).Draw(t, "resolved since") > 0 {
				asked.Threads = append(asked.Threads, Thread{ID: 1, Path: "a", Said: []Said{{By: "ada", Text: wish.ID}}})
			}
		}
		return Begun{Settings: set, BaseBranch: "main", BaseSHA: "base", Already: done, Asked: asked,
			Title: rapid.SampledFrom([]string{"Do it", "Do that"}).Draw(t, "title"), Lessons: told}
	case DoDecide:
		return w.decided(f)
	case DoAttempt:
		if f.Run > 0 {
			return w.runEnded(f)
		}
		end := rapid.SampledFrom([]AttemptEnd{EndFinished, EndFinished, EndFinished, EndTime, EndCredits, EndStuck, EndAsked,
			EndCancelled, EndError}).Draw(t, "end")
		out := AttemptEnded{End: end, Reason: string(end), Cost: Credits(rapid.IntRange(0, 4000).Draw(t, "cost"))}
		if rapid.IntRange(0, 3).Draw(t, "no change") > 0 && end != EndAsked && end != EndStuck {
			out.Commit = w.sha()
		}
		if end == EndAsked {
			out.Ask = &Ask{Question: "which?", Why: "it does not say", Options: []string{"one", "two"}}
			if w.task.Attempt().Planning && rapid.IntRange(0, 3).Draw(t, "asks") > 0 {
				out.Ask = &Ask{Plan: &Plan{Summary: "do it", Steps: []plan.Part{{Do: "this", DoneWhen: "that"}}}}
			}
		}
		return out
	case DoAggregate:
		return w.aggregated()
	case DoPush:
		if rapid.IntRange(0, 7).Draw(t, "push refused") == 0 {
			return PushRefused{Head: w.sha(), Reason: "the branch moved"}
		}
		if rapid.IntRange(0, 7).Draw(t, "change refused") == 0 {
			return PushRefused{Reason: "GitHub does not take it", Change: true}
		}
		return Pushed{SHA: f.SHA}
	case DoPull:
		return PullOpened{Number: 12, NodeID: "n", URL: "u", Draft: rapid.Bool().Draw(t, "draft")}
	case DoReady:
		return Readied{Refused: rapid.SampledFrom([]string{"", "", "may not"}).Draw(t, "not ready")}
	case DoDraft:
		return Drafted{Refused: rapid.SampledFrom([]string{"", "", "may not"}).Draw(t, "no draft")}
	case DoGate:
		v := rapid.SampledFrom([]GateVerdict{VerdictGreen, VerdictRed, VerdictRed, VerdictRed, VerdictPending, VerdictNone,
			VerdictRerun, VerdictTampered, VerdictBlocked}).Draw(t, "verdict")
		j := Judged{SHA: f.SHA, Looked: w.now, Verdict: v, Signals: []Signal{{SameTask, "again"}}}
		if v == VerdictBlocked {
			j.Blocked = []Obstacle{{Check: "e2e", Reason: "did not appear", Absent: rapid.Bool().Draw(t, "absent")}}
		}
		if v == VerdictTampered && rapid.Bool().Draw(t, "expectations") {
			j.Weigh = []string{"a_test.go:3: " + rapid.SampledFrom([]string{"this", "that"}).Draw(t, "changed")}
		}
		j.Guarded = (v == VerdictBlocked || v == VerdictNone) && rapid.Bool().Draw(t, "guarded")
		j.Conflicts, j.Behind = rapid.IntRange(0, 7).Draw(t, "conflicts") == 0, rapid.IntRange(0, 3).Draw(t, "behind") == 0
		return j
	case DoUpdate:
		out := Updated{From: f.SHA, Onto: w.sha()}
		switch rapid.IntRange(0, 4).Draw(t, "update") {
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
		d.Technique = rapid.SampledFrom([]TechniqueID{Decomposition, FreshStart, ToolChange, ErrorPattern, ""}).Draw(t,
			"technique")
		d.Brief = Brief{Technique: d.Technique, Prompt: d.Prompt}
		return Diagnosed{Diagnosis: d, Cost: 100}
	case DoReview:
		out := Reviewed{Review: Review{Verdict: rapid.SampledFrom([]Verdict{Approved, Minor, Rejected, Major}).Draw(t,
			"review")}, Cost: 100}
		if out.Review.Verdict == Minor || out.Review.Verdict == Major {
			out.Review.Points, out.Prompt = []string{"name the file"}, "amended "+string(w.sha())
		}
		return out
	case DoWeigh:
		return Weighed{SHA: f.SHA, Cost: 100, Quotes: rapid.SampledFrom([][]string{nil, {""}, {"it should be that"}}).Draw(t,
			"quotes")}
	case DoFinalReview:
		out := FinalReview{SHA: f.SHA}
		switch rapid.IntRange(0, 2).Draw(t, "final review says") {
		case 0:
			out.Why = "the model could not be asked"
		case 1:
			out.Demands, out.URL = []Demand{{Quote: "Do it", State: DemandUnmet, Why: "it does not"}}, "r"
		}
		return FinalReviewed{Review: out, Cost: 100}
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

// runEnded makes up how one of an attempt's runs ends.
func (w *world) runEnded(f Effect) Fact {
	t := w.t
	a := w.task.Attempts[f.Attempt-1]
	end := rapid.SampledFrom([]AttemptEnd{EndFinished, EndFinished, EndFinished, EndFinished, EndTime, EndCredits,
		EndStuck, EndCancelled, EndError}).Draw(t, "end of run")
	out := AttemptEnded{End: end, Reason: "", Cost: Credits(rapid.IntRange(0, 4000).Draw(t, "cost"))}
	if end != EndFinished {
		out.Reason = string(end)
	}
	p, _ := a.PartOf(f.Run)
	if p == nil && len(a.Parts) == 0 { // it makes the plan
		if end == EndFinished && rapid.IntRange(0, 3).Draw(t, "plan of parts") > 0 {
			out.End, out.Ask = EndAsked, &Ask{Plan: &Plan{Summary: "in parts"}}
			for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
				part := plan.Part{Do: fmt.Sprint("do ", i), DoneWhen: "done", Check: "true"}
				if i > 0 && rapid.Bool().Draw(t, "rests on another") {
					part.Needs = []int{rapid.IntRange(1, i).Draw(t, "need")}
				}
				out.Ask.Plan.Steps = append(out.Ask.Plan.Steps, part)
			}
		}
		return out
	}
	if end != EndStuck && rapid.IntRange(0, 3).Draw(t, "no change") > 0 {
		out.Commit = w.sha()
	}
	if rapid.IntRange(0, 3).Draw(t, "checked") > 0 {
		out.Check = &CheckRun{Command: "true", Holds: rapid.IntRange(0, 2).Draw(t, "holds") > 0}
	}
	return out
}

// aggregated makes up what the parts come to together.
func (w *world) aggregated() Fact {
	t := w.t
	tops := w.task.Attempt().Tops()
	if len(tops) > 1 && rapid.IntRange(0, 2).Draw(t, "conflict") == 0 {
		return Aggregated{Conflicts: []Conflict{{Path: "a", What: "both"}}, Over: tops[:2]}
	}
	out := Aggregated{}
	if rapid.IntRange(0, 5).Draw(t, "no change") > 0 {
		out.Commit = w.sha()
	}
	if rapid.IntRange(0, 7).Draw(t, "may not leave") == 0 {
		out.Reason, out.Commit = "a secret", ""
	}
	if rapid.IntRange(0, 3).Draw(t, "whole does not hold") == 0 {
		out.Checks = []CheckRun{{Command: "true"}}
	}
	return out
}

// decided makes up an answer to a question.
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
	d := Decided{Type: q, Choice: rapid.SampledFrom(choices[q]).Draw(w.t, string(q)), Reason: "so it is",
		Agent: "scripted"}
	if d.Choice == ChooseRerun && w.task.Head == "" {
		d.Choice = ChooseRetry
	}
	if q == DecideDecompose {
		d.AtOnce, d.MaxParts = rapid.IntRange(1, 3).Draw(w.t, "at once"), 4
	}
	if q == DecideAssign && f.Part == 0 && rapid.IntRange(0, 4).Draw(w.t, "race") == 0 {
		d.Racers = []Racer{{Coder: "fast"}, {Coder: "strong"}}
	}
	if d.Choice == ChooseRetry || d.Choice == ChooseRerun {
		d.Wait = Duration(rapid.IntRange(0, 2).Draw(w.t, "wait")) * Duration(time.Minute)
	}
	return d
}

// finish carries out the i-th effect that waits.
func (w *world) finish(i int) (Event, Task) {
	f := w.todo[i]
	w.todo = append(w.todo[:i:i], w.todo[i+1:]...)
	if f.At.After(w.now) {
		w.now = f.At
	}
	e := Event{ID: f.Key, Effect: f.Key, Fact: w.outcome(f)}
	return e, w.apply(e)
}

// bother makes a person or GitHub do something.
func (w *world) bother() (Event, Task) {
	w.serial++
	e := Event{ID: fmt.Sprintf("p%d", w.serial), By: person,
		Origin: Origin{OnIssue: 3, Comment: int64(w.serial), Command: true}}
	e.Fact = rapid.SampledFrom([]Fact{
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
		CheckSeen{SHA: "other"}, BranchMoved{SHA: SHA("f00d" + fmt.Sprint(w.serial))}, PullClosed{}, PullClosed{Merged: true},
		PullReopened{Number: 12, NodeID: "n", URL: "u"}, ChangesAsked{Review: int64(w.serial)},
		ChangesAsked{Thread: int64(w.serial)}, ChangesAsked{Text: "do it so " + fmt.Sprint(w.serial)}, ChangesWithdrawn{},
		ThreadSettled{Thread: 1}, ThreadSettled{Thread: 1, Again: true},
	}).Draw(w.t, "fact")
	return e, w.apply(e)
}
