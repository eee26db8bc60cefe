package sia

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/plan"
)

// newParts returns a task with a first attempt of the given structure.
func newParts(t *testing.T, structure plan.Structure, parts ...plan.Part) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet"})
	p.done(DoDecide, Decided{Type: DecideDecompose, Choice: string(structure), AtOnce: 2, MaxParts: 5})
	p.works()
	if structure != plan.Reproduce {
		p.run(1, AttemptEnded{End: EndAsked, Cost: 100, Ask: &Ask{Plan: &Plan{Summary: "so", Steps: parts}}})
	}
	return p
}

// run ends the attempt's n-th run.
func (p *taskDriver) run(n int, f AttemptEnded) {
	p.t.Helper()
	key := runKey(p.task.ID, len(p.task.Attempts), n)
	if r := p.step(Event{ID: key, Effect: key, Fact: f}); r.Ignored != "" {
		p.t.Fatalf("run %d: %s; pending: %v", n, r.Ignored, p.task.Pending)
	}
}

// decides answers a decision about a part.
func (p *taskDriver) decides(choice string) {
	p.t.Helper()
	p.done(DoDecide, Decided{Type: DecideRecover, Choice: choice, Reason: "so it is"})
}

func did(sha SHA) AttemptEnded {
	return AttemptEnded{End: EndFinished, Commit: sha, Cost: 100, Check: &CheckRun{Command: "true", Holds: true}}
}

func didNot(sha SHA) AttemptEnded {
	return AttemptEnded{End: EndFinished, Commit: sha, Cost: 100,
		Check: &CheckRun{Command: "true", Excerpt: "it does not hold"}}
}

// waits reports whether an effect of a kind is pending.
func (p *taskDriver) waits(kind EffectKind) bool { return (&step{t: p.task}).pending(kind) }

// parts returns the states of the parts.
func (p *taskDriver) parts() (words []string) {
	for _, x := range p.task.Attempt().Parts {
		words = append(words, string(x.State))
	}
	return words
}

func (p *taskDriver) wantParts(words ...string) {
	p.t.Helper()
	if d := cmp.Diff(words, p.parts()); d != "" {
		p.t.Fatalf("parts (-want +got):\n%s%s", d, p.why)
	}
}

func part(do string, needs ...int) plan.Part {
	return plan.Part{Do: do, DoneWhen: "it is there", Check: "true", Needs: needs}
}

// Each part of a linear plan begins when the one before is done, regardless of its needs.
func TestLinear(t *testing.T) {
	p := newParts(t, plan.Linear, part("a"), part("b"), part("c", 1))
	p.wantParts("running", "waiting", "waiting")
	p.run(2, did("a1"))
	p.wantParts("done", "running", "waiting")
	p.run(3, did(""))
	p.run(4, did("c1"))
	p.wantParts("done", "done", "done")
	p.done(DoAggregate, Aggregated{Commit: "c1", Diff: DiffStat{Files: 2}})
	p.done(DoPush, Pushed{SHA: "c1"})
	a := p.task.Attempt()
	if p.task.State != PushedOut || p.task.Head != "c1" || a.Cost != 400 || a.Reserved != 0 ||
		p.task.Credits.Reserved != 0 || a.Diff.Files != 2 {
		t.Errorf("%s, head %s, %+v", p.task.State, p.task.Head, a)
	}
}

// Independent parts run concurrently, up to the limit; a conflict becomes a separate part, and
// a failure of the merged parts is fixed once.
func TestParallel(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"), part("c"))
	p.wantParts("running", "running", "waiting")
	p.run(3, did("b1"))
	p.wantParts("running", "done", "running")
	p.run(2, did("a1"))
	p.run(4, did("c1"))
	p.done(DoAggregate, Aggregated{Conflicts: []Conflict{{Path: "x", What: "both"}}, Over: []int{1, 2}})
	p.wantParts("done", "done", "done", "running")
	merge := p.task.Attempt().Parts[3]
	if merge.Kind != PartMerge || !slices.Equal(merge.Needs, []int{1, 2}) ||
		!strings.Contains(merge.Do, "part 1 (a) and part 2 (b)") {
		t.Errorf("%+v", merge)
	}
	p.run(5, did("m1"))
	if got := p.task.Attempt().Tops(); !slices.Equal(got, []int{3, 4}) {
		t.Errorf("%v are to be put together", got)
	}
	red := Aggregated{Commit: "x",
		Checks: []CheckRun{{Command: "true", Holds: true}, {Command: "make test", Excerpt: "boom"}}}
	p.done(DoAggregate, red)
	p.wantParts("done", "done", "done", "done", "running")
	p.run(6, didNot("n1")) // the checks decide about the rest
	p.done(DoAggregate, red)
	if !p.waits(DoPush) {
		t.Errorf("%s: %s", p.task.State, p.why)
	}
}

// A stop does not wait for the tests of the merged parts.
func TestStopWhilePutTogether(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"))
	p.run(2, did("a1"))
	p.run(3, did("b1"))
	key := p.effectOf(DoAggregate).Key
	p.says(Stop{Reason: "said so"})
	if f := p.effectOf(DoCancel); f.TargetKey != key {
		t.Errorf("%+v is cancelled, not %s", f, key)
	}
	p.done(DoAggregate, Aggregated{Commit: "ab"})
	p.done(DoPush, Pushed{SHA: "ab"})
	p.wantState(Stopped)
	if p.task.Head != "ab" || !p.waits(DoMemory) {
		t.Errorf("head %s, under way are %v", p.task.Head, p.task.Pending)
	}
}

// A failed part is decided about separately: the other part continues and is kept.
func TestPartRecovered(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"))
	p.run(2, didNot("a1"))
	p.wantParts("failed", "running")
	p.run(3, did("b1"))
	p.wantParts("failed", "done")
	p.decides(ChooseRetry)
	p.wantParts("running", "done")
	if x := p.task.Attempt().Parts[0]; x.Kept != "a1" || x.Tries != 1 || !slices.Equal(x.Failed, []string{"coder"}) {
		t.Errorf("%+v", x)
	}
	p.run(4, didNot("a2"))
	p.decides(ChooseOtherCoder)
	p.done(DoDecide, Decided{Type: DecideAssign, Choice: "strong", Agent: "strong/1", Reason: "it is another"})
	if x := p.task.Attempt().Parts[0]; x.State != PartRunning || x.Coder != "strong" || x.Kept != "a2" {
		t.Errorf("%+v", x)
	}
	p.run(5, did("a3"))
	p.done(DoAggregate, Aggregated{Commit: "ab"})
	p.done(DoPush, Pushed{SHA: "ab"})
	if p.task.State != PushedOut || p.task.Attempt().Agent != "strong/1" {
		t.Errorf("%s, %+v", p.task.State, p.task.Attempt())
	}
}

// An attempt with a part that is given up fails, with that part's failure; the work of the other
// parts is pushed and never judged.
func TestPartGivenUp(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"), part("c", 1))
	p.run(2, didNot(""))
	p.decides(ChooseSIA)
	p.wantParts("given up", "running", "waiting")
	p.run(3, did("b1"))
	p.done(DoAggregate, Aggregated{Commit: "b1"})
	p.done(DoPush, Pushed{SHA: "b1"})
	a := p.task.Attempt()
	if p.task.State != Diagnosing || p.task.Head != "b1" || a.Outcome != AttemptFail || len(a.Failures) != 1 ||
		a.Failures[0].Excerpt != "it does not hold" || !strings.Contains(a.Reason, "part 1 of 3 was not done: a") {
		t.Errorf("%s, head %s, %+v", p.task.State, p.task.Head, a)
	}
}

// If a part was given up, conflicts of the others are not resolved: the attempt has failed.
func TestConflictBesideAPartGivenUp(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"), part("c"))
	p.run(3, did("b1"))
	p.run(4, did("c1"))
	p.run(2, didNot(""))
	p.decides(ChooseSIA)
	p.wantParts("given up", "done", "done")
	p.done(DoAggregate, Aggregated{Conflicts: []Conflict{{Path: "x", What: "both"}}, Over: []int{2, 3}})
	if a := p.task.Attempt(); p.task.State != Diagnosing || a.Outcome != AttemptFail || p.waits(DoAggregate) {
		t.Errorf("%s, %+v; under way are %v", p.task.State, a, p.task.Pending)
	}
}

// The ledger of an attempt without parts is kept if the task ends before its checks have decided.
func TestLedgerOfATaskThatEnds(t *testing.T) {
	p := newPlanning(t)
	p.task.Attempt().Planning = false
	ledger := &AttemptLedger{Version: LedgerVersion, Entries: []LedgerEntry{{Kind: LedgerDeadEnd, Says: "a cache"}}}
	p.ends(AttemptEnded{End: EndFinished, Commit: "f00d", Cost: 100, Ledger: ledger})
	p.says(Stop{Reason: "enough"})
	if a := p.task.Attempt(); p.task.State != Stopped || a.Outcome != AttemptCancelled || a.Ledger == nil {
		t.Errorf("%s, %+v", p.task.State, a)
	}
}

// Without a usable plan, one run does the whole attempt.
func TestPlanOfPartsFails(t *testing.T) {
	for name, f := range map[string]AttemptEnded{
		"one part":  {End: EndAsked, Cost: 100, Ask: &Ask{Plan: &Plan{Summary: "so", Steps: []plan.Part{part("a")}}}},
		"no plan":   {End: EndFinished, Cost: 100},
		"no turns":  {End: EndTurns, Cost: 100, Reason: "the limit of turns"},
		"got stuck": {End: EndStuck, Cost: 100, Reason: "it turns in circles"},
		"no command": {End: EndAsked, Cost: 100,
			Ask: &Ask{Plan: &Plan{Steps: []plan.Part{{Do: "a", DoneWhen: "x"}, part("b")}}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &taskDriver{t: t}
			p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
			p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet"})
			p.done(DoDecide, Decided{Type: DecideDecompose, Choice: string(plan.Linear), AtOnce: 2, MaxParts: 5})
			p.works()
			p.run(1, f)
			if a := p.task.Attempt(); a.Divided() || a.Shape == "" || a.Cost != 100 {
				t.Fatalf("%+v", a)
			}
			p.run(0, AttemptEnded{End: EndFinished, Commit: "c", Cost: 50, Turns: 3})
			if a := p.task.Attempt(); a.Cost != 150 || !p.waits(DoPush) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// A fault that can't be reproduced is fixed without a test that shows it, and the attempt records that.
func TestReproduce(t *testing.T) {
	p := newParts(t, plan.Reproduce)
	p.wantParts("running", "waiting")
	test := did("t1")
	test.Check.Command = "sh sum_test.sh"
	p.run(1, test)
	p.wantParts("done", "running")
	if got := p.task.Attempt().Parts[1].Check; got != "sh sum_test.sh" {
		t.Errorf("part 2 is checked by %q", got)
	}

	p = newParts(t, plan.Reproduce)
	p.run(1, did("")) // nothing was written
	p.wantParts("failed", "waiting")
	p.decides(ChooseSIA)
	p.wantParts("given up", "running")
	if a := p.task.Attempt(); !strings.Contains(a.Shape, "could not be reproduced") || a.Parts[1].Check != "" {
		t.Errorf("%+v", a)
	}
	p.run(2, did("c1"))
	p.done(DoAggregate, Aggregated{Commit: "c1"})
	if !p.waits(DoPush) {
		t.Errorf("%s: %s", p.task.State, p.why)
	}
}

// If the test that was to show the fault passes on the base, a person is asked; if it is still broken, work continues
// without the test.
func TestReproductionIsGreen(t *testing.T) {
	green := AttemptEnded{End: EndFinished, Commit: "t1", Cost: 50, Turns: 3,
		Check: &CheckRun{Command: "sh sum_test.sh", Ran: true}}
	p := newParts(t, plan.Reproduce)
	p.run(1, green)
	p.decides(ChooseSIA)
	a, e := p.task.Attempt(), p.task.Escalation
	if p.task.State != Escalated || e.Kind != AskAlready || !strings.Contains(e.Already.What, "`sh sum_test.sh`") ||
		a.Outcome != AttemptAsked || len(p.task.Prompts) != 0 || p.task.Credits.Reserved != 0 {
		t.Fatalf("%s: %+v, %+v", p.task.State, e, a)
	}
	p.says(AnswerGiven{Letter: alreadyGo})
	p.wantState(Queued)
	if !p.task.Anyway {
		t.Error("nobody wants it worked on")
	}

	unseen, unwritten := green, green
	unseen.Check = &CheckRun{Command: "true"}
	unwritten.Commit = ""
	for name, f := range map[string]AttemptEnded{"no test is seen to run": unseen, "no test was written": unwritten} {
		p := newParts(t, plan.Reproduce)
		p.run(1, f)
		p.decides(ChooseSIA)
		if p.task.State != Working {
			t.Errorf("%s: it is %s, %s", name, p.task.State, p.why)
		}
	}
	p = newParts(t, plan.Reproduce)
	p.task.Anyway = true
	p.run(1, green)
	p.decides(ChooseSIA)
	p.wantParts("given up", "running")
}

// newRace returns a task with two coders working on the first attempt.
func newRace(t *testing.T) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet"})
	p.done(DoDecide, Decided{Type: DecideDecompose, Choice: string(plan.Whole)})
	p.done(DoDecide, Decided{Type: DecideAssign, Choice: "fast", Racers: []Racer{{Coder: "fast"}, {Coder: "strong"}}})
	p.wantParts("running", "running")
	return p
}

// The best change is checked first, and the next one if that is red, without another
// agent run in between.
func TestRace(t *testing.T) {
	p := newRace(t)
	p.run(1, AttemptEnded{End: EndFinished, Commit: "f1", Cost: 10, Check: &CheckRun{Tests: []string{"TestA"}}})
	p.run(2, AttemptEnded{End: EndFinished, Commit: "s1", Cost: 90, Diff: DiffStat{Added: 50},
		Check: &CheckRun{Holds: true}})
	p.done(DoPush, Pushed{SHA: "s1"})
	p.done(DoPull, PullOpened{Number: 4})
	red := Judged{SHA: "s1", Looked: p.task.Since.AddDate(1, 0, 0), Verdict: VerdictRed,
		Failures: []CheckFailure{{Check: "test"}}}
	p.done(DoGate, red)
	if a := p.task.Attempt(); a.Coder != "strong" || a.RacersLeft() != 1 || a.Cost != 100 {
		t.Fatalf("%+v", a)
	}
	p.decides(ChooseNextRacer)
	p.done(DoPush, Pushed{SHA: "f1"})
	a := p.task.Attempt()
	if p.task.State != PushedOut || p.task.Head != "f1" || a.Coder != "fast" || a.Outcome != "" || p.task.Failures != 0 ||
		a.RacersLeft() != 0 || len(a.Failures) > 0 {
		t.Errorf("%s, head %s, %+v", p.task.State, p.task.Head, a)
	}
}

// If GitHub replaces a racer's commit by a signed one, that becomes the racer's commit, and the warning is
// shown.
func TestRacerSigned(t *testing.T) {
	p := newRace(t)
	p.run(1, AttemptEnded{End: EndFinished, Commit: "f1", Check: &CheckRun{Tests: []string{"TestA"}}})
	p.run(2, AttemptEnded{End: EndFinished, Commit: "s1", Check: &CheckRun{Holds: true}})
	p.done(DoPush, Pushed{SHA: "s2", Made: "s1", Warning: "it is not verified"})
	a := p.task.Attempt()
	if p.task.Head != "s2" || a.Head != "s2" || a.Parts[1].Commit != "s2" || a.Parts[0].Commit != "f1" ||
		p.task.Warning != "it is not verified" {
		t.Errorf("head %s, warning %q, %+v", p.task.Head, p.task.Warning, a)
	}
}

// A racer that was interrupted and then changes nothing more keeps its earlier change.
func TestRacePaused(t *testing.T) {
	p := newRace(t)
	p.says(PauseAsked{Reason: "wait"})
	p.run(1, AttemptEnded{End: EndCancelled, Commit: "f1", Diff: DiffStat{Added: 3}})
	p.run(2, AttemptEnded{End: EndCancelled})
	p.says(Resume{})
	p.run(3, AttemptEnded{End: EndFinished})
	p.run(4, AttemptEnded{End: EndFinished})
	p.wantParts("done", "given up")
	if x := p.task.Attempt().Parts[0]; x.Commit != "f1" || x.Diff.Added != 3 || !x.Pushed {
		t.Errorf("%+v", x)
	}
}

// A race without any change is a failed attempt.
func TestRaceWithoutAChange(t *testing.T) {
	p := newRace(t)
	p.run(1, AttemptEnded{End: EndStuck, Reason: "in circles"})
	p.run(2, AttemptEnded{End: EndFinished})
	a := p.task.Attempt()
	if p.task.State != Diagnosing || !strings.Contains(a.Reason, "came to a change") || a.Reserved != 0 {
		t.Errorf("%s, %+v", p.task.State, a)
	}
}

// Pausing stops every run; resuming continues from their work in progress.
func TestPartsPaused(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"))
	r := p.says(PauseAsked{Reason: "wait"})
	var cancelled []string
	for _, f := range r.Effects {
		if f.Kind == DoCancel {
			cancelled = append(cancelled, f.TargetKey)
		}
	}
	want := []string{runKey(p.task.ID, 1, 2), runKey(p.task.ID, 1, 3)}
	if d := cmp.Diff(want, cancelled); d != "" {
		t.Fatal(d)
	}
	p.run(2, AttemptEnded{End: EndCancelled, Commit: "wip", Cost: 10})
	p.run(3, did("b1"))
	if p.task.State != OnHold || p.task.Attempt().Parts[0].Kept != "wip" {
		t.Fatalf("%s, %+v", p.task.State, p.task.Attempt().Parts)
	}
	p.says(Resume{})
	p.wantParts("running", "done")
	p.run(4, did("a1"))
	p.done(DoAggregate, Aggregated{Commit: "ab"})
	if !p.waits(DoPush) {
		t.Errorf("%s: %s", p.task.State, p.why)
	}
}

// Results that were lost with a machine are made again.
func TestPartsLost(t *testing.T) {
	p := newParts(t, plan.Linear, part("a"), part("b"))
	p.run(2, did("a1"))
	p.run(3, AttemptEnded{End: EndCancelled, Lost: true})
	p.wantParts("running", "waiting")
	p.run(4, did("a2"))
	p.run(5, did("b1"))
	p.done(DoAggregate, Aggregated{Lost: true})
	p.wantParts("running", "waiting")
	if x := p.task.Attempt().Parts[0]; x.Commit != "" || x.Tries != 0 {
		t.Errorf("%+v", x)
	}
}

// Stopping keeps finished work.
func TestPartsStopped(t *testing.T) {
	p := newParts(t, plan.Parallel, part("a"), part("b"))
	p.run(2, did("a1"))
	p.says(Stop{Reason: "enough"})
	p.run(3, AttemptEnded{End: EndCancelled, Commit: "wip"})
	p.done(DoAggregate, Aggregated{Commit: "a1"})
	p.done(DoPush, Pushed{SHA: "a1"})
	if p.task.State != Stopped || p.task.Head != "a1" || p.task.Credits.Reserved != 0 || !p.waits(DoMemory) {
		t.Errorf("%s, head %s, credits %+v, pending %v", p.task.State, p.task.Head, p.task.Credits, p.task.Pending)
	}
}
