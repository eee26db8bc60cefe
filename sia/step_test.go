package sia

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia/plan"
)

// The invariants of docs/architecture.md#invariants that concern only the core, over
// random histories with duplicates, late outcomes and contradictory people.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		calm := evenly(t, "how calm", 4, 30)
		for range evenly(t, "steps", 1, 500) {
			var e Event
			var before Task
			if len(w.todo) > 0 && evenly(t, "who", 0, calm) > 0 {
				e, before = w.finish(evenly(t, "which", 0, len(w.todo)-1))
			} else {
				e, before = w.bother()
			}
			holds(t, before, w.task, e)
			w.holdsTests(before)
			if is := w.task.Credits.Cost(); is != w.paid {
				t.Fatalf("%s are booked after %s while %s, and %s were paid", is, e.Fact.Kind(), before.State, w.paid)
			}
			again := Step(w.task, Event{ID: e.ID, At: w.now, By: e.By, Effect: e.Effect, Fact: e.Fact})
			again.Effects = slices.DeleteFunc(again.Effects, func(f Effect) bool { return f.Aside && w.all[f.Key] })
			if e.Fact.Kind() != KCheckSeen && (again.Ignored == "" || len(again.Effects) > 0) {
				t.Fatalf("%s counted twice: %s", e.Fact.Kind(), again.Why)
			}
		}
		replay(t, w)
	})
}

func holds(t *rapid.T, before, after Task, e Event) {
	if !slices.Contains(States, after.State) {
		t.Fatalf("state %q", after.State)
	}
	if after.State == Passed && before.State != Passed {
		j, ok := e.Fact.(Judged)
		if !ok || j.Verdict != VerdictGreen || j.SHA != after.Head {
			t.Fatalf("passed by %#v on head %s", e.Fact, after.Head)
		}
		if r := before.Final; before.Settings.Review.Final && before.HeadBy == (Actor{}) && before.Credits.Left() > 0 &&
			!(r.Of(before.Head) && r.Done) {
			t.Fatalf("passed before a fresh reviewer was asked: %+v", r)
		}
		if p := before.Pull; p.Draft && p.Number != 0 && !p.StaysDraft() {
			t.Fatalf("passed while the pull request was a draft: %+v", p)
		}
	}
	if c := after.Credits; c.Spent+c.Reserved > c.Budget || c.Spent < 0 || c.Reserved < 0 {
		t.Fatalf("credits %+v after %s", c, e.Fact.Kind())
	}
	// What the settings of the base branch say counts once, as the first attempt begins; from then on a person does, also
	// one with a wish that is taken up when what is under way is green.
	if more := after.Credits.Budget - before.Credits.Budget; more > 0 && e.By == (Actor{}) && !before.hasOpenWishes() {
		begun, ok := e.Fact.(Begun)
		if !ok || len(before.Attempts) > 0 || more > Credits(begun.Settings.Budget.Task)*Credit {
			t.Fatalf("%s raised the budget by %s", e.Fact.Kind(), more)
		}
	}
	if _, answers := e.Fact.(AnswerGiven); answers && after.Approaches < before.Approaches {
		t.Fatalf("an answer leaves %d approaches of %d", after.Approaches, before.Approaches)
	}
	if n := len(after.Prompts); n > after.Approaches {
		t.Fatalf("%d distinct prompts of %d", n, after.Approaches)
	}
	used := after.UsedTechniques()
	slices.Sort(used)
	if len(slices.Compact(slices.Clone(used))) != len(used) {
		t.Fatalf("a technique was used twice: %v", used)
	}
	holdsPlan(t, before, after, e)
	if f, ok := e.Fact.(Begun); ok && f.Already != nil && !before.Anyway && len(after.Attempts) > len(before.Attempts) {
		t.Fatalf("attempt %d began, and %s", len(after.Attempts), f.Already.What)
	}
	holdsParts(t, before, after)
	holdsWishes(t, before, after)
	holdsOmission(t, before, after, e)
	switch q, p := after.Escalation, after.Pause; {
	case after.State == Escalated && (q == nil || q.Answered || q.Question == ""):
		t.Fatalf("it waits for an answer to %+v", q)
	case after.State == Escalated && q.URL == "" && after.AwaitMemory == "" && after.pendingOf(DoEscalate) == "",
		after.State == Escalated && q.Closed:
		t.Fatalf("nobody is shown the question %+v", q)
	case after.State == Checking && after.Pull.Number == 0:
		t.Fatalf("checks are watched, and there is no pull request, after %s while %s", e.Fact.Kind(), before.State)
	case after.State == Checking && after.HeadBy != (Actor{}) && after.Attempt() != nil && after.Attempt().Outcome == "" &&
		after.Attempt().Head == after.Head:
		t.Fatalf("attempt %d made the head %s, which is taken for %+v's", len(after.Attempts), after.Head, after.HeadBy)
	case (after.State == OnHold) != (p != nil), p != nil && (p.Kind == "" || p.Reason == ""):
		t.Fatalf("%s with the pause %+v", after.State, p)
	case p != nil && (p.Scope != "") != (p.Kind == PausedByHalt):
		t.Fatalf("paused by %s with the scope %q", p.Kind, p.Scope)
	case (after.State == Stopped) != (after.Ended != ""):
		t.Fatalf("%s, ended because %q", after.State, after.Ended)
	}
	if len(after.Attempts) > len(before.Attempts) && after.Brief.Technique != "" {
		iv := after.Interventions[len(after.Interventions)-1]
		if iv.CommentURL == "" || iv.MemorySHA == "" || iv.Review.Verdict == "" {
			t.Fatalf("attempt %d began before its intervention was reviewed, remembered and announced: %+v", len(after.Attempts),
				iv)
		}
	}
	if len(after.Attempts) > len(before.Attempts) && after.Kept != "" && after.Brief.FromBase {
		t.Fatalf("attempt %d drops %s, which passed or is a person's", len(after.Attempts), after.Kept)
	}
	if f, ok := e.Fact.(Begun); ok && len(after.Attempts) > len(before.Attempts) {
		var cases []string
		for _, l := range f.Lessons {
			if l.Test != "" && !slices.Contains(cases, l.Test) {
				cases = append(cases, l.Test)
			}
		}
		if d := cmp.Diff(cases[:min(len(cases), 3)], after.Brief.TestHints, cmpopts.EquateEmpty()); d != "" ||
			len(after.Brief.Lessons) != len(f.Lessons) {
			t.Fatalf("told %+v, and the brief has %d lessons and other cases for tests: %s", f.Lessons, len(after.Brief.Lessons),
				d)
		}
	}
	if !after.State.Final() && !after.Waits() && len(after.Pending) == 0 {
		t.Fatalf("nothing is under way while %s after %s", after.State, e.Fact.Kind())
	}
}

// holdsTests: tests that run are the present head's, and nothing passes by a commit of SIA's whose tests were not run,
// or at least begun. The gate waits for them only for a while.
func (w *world) holdsTests(before Task) {
	after := w.task
	for _, f := range w.todo {
		if f.Kind == DoEvidence && after.Pending[f.Key] != "" && f.SHA != after.Head {
			w.t.Fatalf("the tests of %s are run, and the head is %s", f.SHA, after.Head)
		}
	}
	if after.State == Passed && before.State != Passed && before.HeadBy == (Actor{}) && !before.hasEvidence() &&
		!before.RunsTests() && !w.untested[after.Head] {
		w.t.Fatalf("passed without the tests of %s: %+v", after.Head, before.Gate.Evidence)
	}
}

// holdsOmission: a run makes one follow-up attempt for what a green head lacks; whatever its result, it blames nobody
// and asks nobody, and the green head is what the task stands for in the end.
func holdsOmission(t *rapid.T, before, after Task, e Event) {
	o, was := after.Omission, before.Omission
	if o == nil {
		return
	}
	if o.Attempt > 0 && (after.Attempts[o.Attempt-1].Demands == 0 || o.Attempt <= after.Earlier) {
		t.Fatalf("attempt %d is no follow-up", o.Attempt)
	}
	if was != nil && was.Attempt > 0 && o.Attempt > was.Attempt && before.Attempts[was.Attempt-1].Outcome != AttemptError {
		t.Fatalf("the follow-ups %d and %d", was.Attempt, o.Attempt)
	}
	if o.Open && o.Why != "" || after.State == Passed && o.Review.Of(after.Head) && o.Why == "" {
		t.Fatalf("nobody knows what came of %+v", o)
	}
	if after.State == Passed && (o.Open || o.Back == after.Head) {
		t.Fatalf("passed before it was known what comes of %+v", o)
	}
	judged, ok := e.Fact.(Judged)
	if was == nil || !was.Open || was.Attempt == 0 || was.Review.Of(before.Head) || before.HeadBy != (Actor{}) || !ok ||
		before.State != Checking || judged.SHA != before.Head {
		return
	}
	if after.Failures != before.Failures || after.State != Checking && after.State != Passed && !before.hasOpenWishes() &&
		after.State != OnHold {
		t.Fatalf("%s led to %s", judged.Verdict, after.State)
	}
	if judged.Verdict == VerdictRed && !o.Open && (after.Pending == nil || o.Back != before.Head) {
		t.Fatalf("the branch stays at %s: %+v", before.Head, o)
	}
}

// holdsWishes: nothing that people asked for is lost before an attempt was given it or the task has
// ended, no task passes over it, and who was given an attempt is told its result.
func holdsWishes(t *rapid.T, before, after Task) {
	if after.State == Passed && after.hasOpenWishes() {
		t.Fatalf("passed, and nobody was given %+v", after.Wishes)
	}
	for _, o := range after.Owed {
		if after.Pending[o.Key] != DoRespond {
			t.Fatalf("nobody is telling %+v", o)
		}
	}
	kept := map[string]bool{}
	for _, w := range after.Wishes {
		kept[w.ID] = true
	}
	for _, w := range before.Wishes {
		if !kept[w.ID] && w.Attempt > 0 && after.State == Passed && before.Brief.Asked != nil &&
			len(after.Owed) == len(before.Owed) {
			t.Fatalf("%+v was dealt with, and nobody is told", w)
		}
	}
}

// holdsPlan: nothing is done while a plan is wanted and nobody has approved one,
// and an attempt that plans is none that could fail.
func holdsPlan(t *rapid.T, before, after Task, e Event) {
	if after.Brief.Plan != nil && before.Brief.Plan == nil {
		_, yes := e.Fact.(Approve)
		a, answer := e.Fact.(AnswerGiven)
		state := before.State
		if state == OnHold { // an answer during a pause is applied to the state that the task resumes in
			state = before.Pause.From
		}
		if open := before.Escalation; state != Escalated || open.Kind != AskPlan || open.URL == "" ||
			!yes && !(answer && a == AnswerGiven{Letter: "A"}) {
			t.Fatalf("a plan was approved by %#v while %s", e.Fact, before.State)
		}
	}
	if len(after.Attempts) > len(before.Attempts) {
		a, run := after.Attempts[len(after.Attempts)-1], after.Attempts[after.Earlier:len(after.Attempts)-1]
		planned := after.Settings.Agent.Plan != PlanApprove || after.Brief.Plan != nil ||
			slices.ContainsFunc(run, Attempt.Worked)
		if a.Planning == planned {
			t.Fatalf("attempt %d plans: %v, with the plan %+v", a.Number, a.Planning, after.Brief.Plan)
		}
	}
	for i, a := range after.Attempts {
		if !a.Planning {
			continue
		}
		judged := a.Outcome == AttemptPass || a.Outcome == AttemptFail || a.Outcome == AttemptCheckpoint
		if judged || a.Head != "" || len(a.Failures)+len(a.Passing) > 0 || after.Next != nil && after.Next.After == a.Number {
			t.Fatalf("a plan was judged: %+v", a)
		}
		if i == len(after.Attempts)-1 && slices.Contains(slices.Collect(maps.Values(after.Pending)), DoPush) {
			t.Fatalf("what attempt %d changed is pushed, and it was to make a plan", a.Number)
		}
		if slices.ContainsFunc(after.Interventions, func(iv Intervention) bool { return iv.After == a.Number }) {
			t.Fatalf("SIA stepped in after attempt %d, which made a plan", a.Number)
		}
	}
	if x := after.Escalation; x != nil && (x.Kind == AskPlan) != (x.Plan != nil) {
		t.Fatalf("a question of kind %s with the plan %+v", x.Kind, x.Plan)
	}
}

// holdsParts: no more runs than were decided, each of a part that has its needs met; what is
// done stays done; one push at a time, and none while a part is worked on; nothing passes
// without all of its parts.
func holdsParts(t *rapid.T, before, after Task) {
	running, pushes := 0, 0
	for _, k := range after.Pending {
		switch k {
		case DoAttempt:
			running++
		case DoPush:
			pushes++
		}
	}
	most := 1
	a := after.Attempt()
	if a != nil {
		most = max(most, a.Parallel)
	}
	if running > most || pushes > 1 || pushes > 0 && running > 0 {
		t.Fatalf("%d runs and %d pushes at once, of at most %d runs", running, pushes, most)
	}
	if a == nil {
		return
	}
	reserved := Credits(0)
	for i, p := range a.Parts {
		reserved += p.Reserved
		if p.State == PartRunning && (p.Run == 0 || !a.isReady(p)) {
			t.Fatalf("part %d is worked on, and what it needs is not there: %+v", i+1, a.Parts)
		}
		if b := before.Attempt(); b != nil && b.Number == a.Number && i < len(b.Parts) && b.Parts[i].State == PartDone &&
			(p.State != PartDone || p.Commit != b.Parts[i].Commit) {
			t.Fatalf("part %d was done, and is not any more: %+v", i+1, p)
		}
		if p.Pushed && p.Kind != PartRacer || p.State == PartDone && p.Reserved > 0 {
			t.Fatalf("part %d: %+v", i+1, p)
		}
	}
	if reserved > a.Reserved || a.Outcome != "" && a.Reserved > 0 && running == 0 && !after.held(DoAttempt) {
		t.Fatalf("%s credits are set aside for attempt %d, and %s for its parts", a.Reserved, a.Number, reserved)
	}
	if a.Divided() && a.Structure != plan.Race && a.Outcome == AttemptPass && a.Lost() > 0 {
		t.Fatalf("it passed without part %d: %+v", a.Lost(), a.Parts)
	}
}

// held reports whether an effect of a kind waits for the resume.
func (t *Task) held(kind EffectKind) bool {
	return t.Pause != nil && slices.ContainsFunc(t.Pause.Held, func(f Effect) bool { return f.Kind == kind })
}

// replay applies the log again, through JSON, and compares.
func replay(t *rapid.T, w *world) {
	var task Task
	for _, e := range w.log {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		task = Replay(task, back).Task
	}
	want, _ := json.Marshal(w.task)
	got, _ := json.Marshal(task)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatalf("replay differs: -stored +replayed\n%s", diff)
	}
}

// Step never modifies its argument.
func TestStepIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			before, _ := json.Marshal(w.task)
			var old Task
			if len(w.todo) > 0 && rapid.IntRange(0, 3).Draw(t, "who") > 0 {
				_, old = w.finish(0)
			} else {
				_, old = w.bother()
			}
			after, _ := json.Marshal(old)
			if string(before) != string(after) {
				t.Fatalf("Step changed its argument:\n%s\n%s", before, after)
			}
		}
	})
}

// A fact that is not an outcome of the effect that it names changes nothing.
func TestOutcomeOfAnotherEffect(t *testing.T) {
	start := Step(Task{}, Event{ID: "start", By: person, Fact: Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it"}})
	for key, kind := range start.Task.Pending {
		if kind == DoReact {
			got := Step(start.Task, Event{ID: key, Effect: key, Fact: AttemptEnded{End: EndFinished}})
			if got.Ignored == "" || got.Task.Version != start.Task.Version {
				t.Errorf("an attempt's end by %s counted: %s", key, got.Why)
			}
		}
	}
	waits := checked(t, false).task // for its checks
	got := Step(waits, Event{ID: "x", Fact: Judged{SHA: waits.Head, Looked: waits.Gate.Since.Add(24 * time.Hour),
		Verdict: VerdictGreen}})
	if got.Ignored == "" || got.Task.Version != waits.Version {
		t.Errorf("a verdict from nowhere counted: %s", got.Why)
	}
}
