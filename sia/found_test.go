package sia

import "testing"

// After a push, some of GitHub's servers still report the previous head, which is not
// another push.
func TestAFormerHeadIsNoPushForAWhile(t *testing.T) {
	task := Task{Head: "c2", State: Checking, Attempts: []Attempt{{Number: 1, Head: "c1"}, {Number: 2, Head: "c2"}}}
	updating := task
	updating.Pending = map[string]EffectKind{"k": DoUpdate}
	for _, c := range []struct {
		name   string
		task   Task
		head   SHA
		lagged bool
		want   bool
	}{
		{"the present head", task, "c2", true, false},
		{"the head of before, just now", task, "c1", true, false},
		{"the head of before, still", task, "c1", false, true},
		{"somebody else's", task, "c3", true, true},
		{"none", task, "", false, false},
		{"while SIA merges the base itself", updating, "c3", false, false},
	} {
		if got := c.task.MovedTo(c.head, c.lagged); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// A push to a branch without a pull request, such as one that the task knew before its database was lost, is where the
// next attempt starts. No checks are watched, and the question stays open.
func TestPushWithoutAPull(t *testing.T) {
	for _, paused := range []bool{false, true} {
		p := &taskDriver{t: t}
		p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
		p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet",
			Already: &Already{URL: "u", What: "pull request #7, which is open, closes this issue"}})
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		p.done(DoEscalate, EscalationOpened{Issue: 3, URL: "e"})
		if paused {
			p.says(PauseAsked{})
		}
		push := Event{ID: "push", By: person, Fact: BranchMoved{SHA: "c0ffee"}}
		old := Replay(p.task, push).Task
		if !paused && old.State != Checking || paused && old.Pause.From != Checking {
			t.Errorf("by older rules it is %s", old.State)
		}
		p.step(push)
		if paused {
			p.says(Resume{})
		}
		p.wantState(Escalated)
		if p.waitsFor(DoGate) || p.task.Escalation.Answered || p.task.StartsAt() != "c0ffee" {
			t.Errorf("paused: %v; under way are %v, the next starts at %s", paused, p.task.Pending, p.task.StartsAt())
		}
		p.says(AnswerGiven{Letter: "A"})
		p.wantState(Queued)
	}
}

// An attempt's own commit counts as SIA's, whoever moved the branch back to it, such as a delivery that came too late:
// its tests are run, and its checks judge the attempt.
func TestAnAttemptsOwnCommitIsFoundAgain(t *testing.T) {
	for _, c := range []struct {
		asks    bool
		verdict GateVerdict
		want    State
	}{{false, VerdictGreen, Passed}, {false, VerdictRed, Diagnosing}, {true, VerdictGreen, Passed},
		{true, VerdictRed, Diagnosing}} {
		p := checked(t, false)
		if c.asks {
			p = awaitsApproval(t)
		}
		p.step(Event{ID: "late", By: person, Fact: BranchMoved{SHA: "c0ffee"}})
		p.wantState(Checking)
		key, before := p.task.pendingOf(DoGate), p.task
		found := Judged{SHA: "c0ffee", Found: &Found{Head: "f00d", By: Actor{Login: "sia[bot]", ID: 8}}}
		if old := Replay(before, Event{ID: key, Effect: key, Fact: found}).Task; old.HeadBy.Login != "sia[bot]" {
			t.Errorf("by older rules the head is %+v's", old.HeadBy)
		}
		p.done(DoGate, found)
		if p.task.Head != "f00d" || p.task.HeadBy != (Actor{}) || !p.task.RunsTests() {
			t.Fatalf("the head %s is %+v's; under way are %v", p.task.Head, p.task.HeadBy, p.task.Pending)
		}
		p.judges(Judged{Verdict: c.verdict})
		p.wantState(c.want)
		if e := p.task.Escalation; c.asks && !(e.Answered && e.Closed) {
			t.Errorf("the question is %+v", e)
		}
	}
}
