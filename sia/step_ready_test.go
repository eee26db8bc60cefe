package sia

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// checked returns a task with a pushed attempt in a pull request.
func checked(t *testing.T, draft bool) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.begins("")
	p.commits("f00d", draft)
	return p
}

// commits ends the running attempt with a commit, pushes it and opens the pull request.
func (p *taskDriver) commits(sha SHA, draft bool) {
	p.t.Helper()
	p.ends(AttemptEnded{End: EndFinished, Commit: sha, Cost: 100})
	p.done(DoPush, Pushed{SHA: sha})
	p.done(DoPull, PullOpened{Number: 12, NodeID: "n", URL: "u", Draft: draft})
}

// judges reports a verdict of the gate on the head, long after the last change.
func (p *taskDriver) judges(j Judged) {
	p.t.Helper()
	j.SHA, j.Looked = p.task.Head, p.task.Gate.Since.Add(24*time.Hour)
	p.done(DoGate, j)
}

func (p *taskDriver) wantState(state State) {
	p.t.Helper()
	if p.task.State != state {
		p.t.Fatalf("the task is %s, want %s: %s", p.task.State, state, p.why)
	}
}

func (p *taskDriver) waitsFor(kind EffectKind) bool { return p.task.pendingOf(kind) != "" }

// A green draft is marked ready, and passes after one more green look.
func TestGreenDraft(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Checking)
	p.done(DoReady, Readied{})
	p.wantState(Checking)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	if p.task.Pull.Draft || p.task.Warning != "" {
		t.Errorf("%+v, warned of %q", p.task.Pull, p.task.Warning)
	}
}

// A pull request that somebody made a draft stays one, and passes without another look, until somebody marks it ready.
// One that somebody marked ready is not made a draft for more work.
func TestSomebodysDraft(t *testing.T) {
	p := checked(t, true)
	p.says(DraftChanged{Draft: true})
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	if p.waitsFor(DoReady) || !p.task.Pull.StaysDraft() {
		t.Errorf("it is marked ready, or thought to be: %+v", p.task.Pull)
	}
	p.says(DraftChanged{})
	if p.task.Pull.Draft || p.task.Pull.StaysDraft() {
		t.Errorf("it is ready, and thought a draft: %+v", p.task.Pull)
	}

	p = checked(t, true)
	p.says(DraftChanged{})
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main", Text: "and more"})
	p.begins("")
	if p.waitsFor(DoReady) || p.waitsFor(DoDraft) {
		t.Errorf("what somebody marked ready is changed: %+v", p.task.Pending)
	}
}

// Checks that run only when it is ready may be red; it is a draft again while work continues.
func TestRedWhenReady(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictNone, Guarded: true})
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictRed})
	p.wantState(Diagnosing)
	p.says(Stop{Reason: "enough"})
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet"})
	p.begins("")
	p.done(DoDraft, Drafted{})
	if !p.task.Pull.Draft {
		t.Errorf("it is no draft: %+v", p.task.Pull)
	}
	p.commits("f00d2", false) // what is known counts
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Checking)
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}

// A pull request that was never a draft is neither marked ready nor made one.
func TestNoDrafts(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", Text: "And wave."})
	p.begins("")
	if p.waitsFor(DoReady) || p.waitsFor(DoDraft) {
		t.Errorf("pending %v", p.task.Pending)
	}
}

// If SIA may not mark it ready, the task passes, and a person is asked to.
func TestReadyRefused(t *testing.T) {
	for name, outcome := range map[string]Fact{
		"refused":     Readied{Refused: "the app may not"},
		"unreachable": EffectFailed{Effect: DoReady, Reason: "the app may not"},
	} {
		t.Run(name, func(t *testing.T) {
			p := checked(t, true)
			p.judges(Judged{Verdict: VerdictGreen})
			p.done(DoReady, outcome)
			p.wantState(Checking)
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
			if !p.task.Pull.Draft || !strings.Contains(p.task.Warning, "the app may not") {
				t.Errorf("%+v, warned of %q", p.task.Pull, p.task.Warning)
			}
		})
	}
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictNone, Guarded: true})
	p.done(DoReady, Readied{Refused: "the app may not"})
	for p.task.State == Checking {
		p.judges(Judged{Verdict: VerdictNone, Guarded: true})
	}
	p.wantState(Escalated)
}

// A verdict that comes while the pull request is being made a draft does not pass
// the task; the look after it does.
func TestGreenWhileDrafting(t *testing.T) {
	p := checked(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictRed})
	p.says(Stop{Reason: "enough"})
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet"})
	p.begins("")
	p.commits("f00d2", true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Checking)
	p.done(DoDraft, Drafted{})
	p.judges(Judged{Verdict: VerdictGreen})
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}

// A question about blocked checks costs no approach, whatever the answer.
func TestBlocked(t *testing.T) {
	blocked := Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "did not appear", Absent: true}}}
	asked := func(t *testing.T) *taskDriver {
		p := checked(t, false)
		p.judges(blocked)
		p.wantState(Escalated)
		if e := p.task.Escalation; !strings.Contains(e.Blocker, "“e2e” did not appear") || len(e.Options) != 3 {
			t.Errorf("asked %+v", e)
		}
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
		return p
	}
	for answer, want := range map[string]State{"A": Checking, "B": Checking, "C": Stopped} {
		p := asked(t)
		p.says(AnswerGiven{Letter: answer})
		p.wantState(want)
		if len(p.task.Attempts) != 1 || len(p.task.Prompts) != 1 || p.task.Approaches != 5 || p.task.Failures != 0 {
			t.Errorf("%s: %d attempts, %d prompts of %d", answer, len(p.task.Attempts), len(p.task.Prompts), p.task.Approaches)
		}
	}
	p := asked(t)
	p.step(Event{ID: "other", Fact: CheckSeen{SHA: "0ther"}})
	if p.waitsFor(DoGate) {
		t.Error("the checks of another commit are looked at")
	}
	p.step(Event{ID: "seen", Fact: CheckSeen{SHA: p.task.Head}})
	p.judges(blocked)
	p.wantState(Escalated)
	p.step(Event{ID: "seen again", Fact: CheckSeen{SHA: p.task.Head}})
	p.judges(Judged{Verdict: VerdictPending})
	p.wantState(Escalated)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	if !p.task.Escalation.Answered || !p.waitsFor(DoClose) {
		t.Errorf("the question stands: %+v", p.task.Escalation)
	}
}

// An option waives the question's checks, whatever the wording of this or another version.
func TestCheckThatNeedNotReport(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictBlocked,
		Blocked: []Obstacle{{Check: "e2e", Reason: "did not appear", Absent: true, Missed: true}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
	p.task.Escalation.Options[1].Text = "It may stay away"
	p.says(AnswerGiven{Letter: "B"})
	p.wantState(Checking)
	if !slices.Equal(p.task.Waived, []string{"e2e"}) {
		t.Errorf("waived: %q", p.task.Waived)
	}
}

// A person's push while a question is being posted is judged first. If its checks are red, the question is one that
// people can see.
func TestPushWhileAQuestionIsPut(t *testing.T) {
	blocked := Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "asks a person to act"}}}
	t.Run("before it is put", func(t *testing.T) {
		p := checked(t, false)
		p.judges(blocked)
		p.says(BranchMoved{SHA: "beef"})
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		p.judges(Judged{Verdict: VerdictRed})
		p.wantState(Escalated)
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
		if p.waitsFor(DoClose) {
			t.Error("the question is closed")
		}
	})
	t.Run("as it is put", func(t *testing.T) {
		p := checked(t, false)
		p.judges(blocked)
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		p.says(BranchMoved{SHA: "beef"})
		p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
		p.judges(Judged{Verdict: VerdictRed})
		p.wantState(Escalated)
		if e := p.task.Escalation; e.Issue != 40 || e.Closed {
			t.Errorf("the question is %+v", e)
		}
		p.says(BranchMoved{SHA: "beef2"})
		p.judges(Judged{Verdict: VerdictGreen})
		p.wantState(Passed)
		if !p.waitsFor(DoClose) {
			t.Error("the question is left open")
		}
	})
}

// A person's push while a question is open that conflicts with the base leads to an attempt, which
// closes the question.
func TestConflictWhileAQuestionIsOpen(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "asks a person to act"}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
	p.says(BranchMoved{SHA: "beef"})
	p.judges(Judged{Verdict: VerdictRed, Conflicts: true})
	p.done(DoUpdate, Updated{From: "beef", Onto: "ba5e", Conflicts: []Conflict{{Path: "hello.txt"}}})
	p.wantState(Queued)
	if e := p.task.Escalation; !e.Answered || !e.Closed || !p.waitsFor(DoClose) {
		t.Errorf("the question is left open: %+v", e)
	}
}

// A question that was posted after a newer one was opened is closed, and not confused with the newer one.
func TestQuestionPutLate(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "asks a person to act"}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	first := p.task.pendingOf(DoEscalate)
	p.says(AnswerGiven{Letter: "A"})
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "asks a person to act"}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Question: 2, Issue: 41, URL: "e2"})
	if i := slices.IndexFunc(p.todo, func(f Effect) bool { return f.Key == first }); p.todo[i].Seq != 1 {
		t.Errorf("the effect does not say which question it puts: %+v", p.todo[i])
	}
	p.step(Event{ID: first, Effect: first, Fact: EscalationOpened{Question: 1, Issue: 40, URL: "e1"}})
	if e := p.task.Escalation; e.Number != 2 || e.Issue != 41 || e.URL != "e2" || e.Closed {
		t.Errorf("the newer question is %+v", e)
	}
	if !slices.ContainsFunc(p.todo, func(f Effect) bool { return f.Kind == DoClose && f.OnIssue == 40 }) {
		t.Error("#40 is left open")
	}
}

// Check events during a pause of a task that asks about checks cause a look on resume.
func TestChecksReportWhilePaused(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "did not appear", Absent: true}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
	p.says(PauseAsked{Reason: "all of it", Scope: ServerHalt})
	p.step(Event{ID: "seen", Fact: CheckSeen{SHA: p.task.Head}})
	p.says(Resume{Scope: ServerHalt})
	p.wantState(Escalated)
	if !p.waitsFor(DoGate) {
		t.Fatal("nobody looks at what the checks say by now")
	}
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}
