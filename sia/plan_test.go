package sia

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/plan"
)

// taskDriver drives a task by events, and keeps its pending effects.
type taskDriver struct {
	t    *testing.T
	task Task
	why  string
	todo []Effect
	n    int

	reads bool // a fresh reviewer reads green heads
}

var wanted = Plan{Summary: "greet the world", Steps: []plan.Part{{Do: "write hello.txt", DoneWhen: "check.sh passes"}}}

// newPlanning returns a task with a first attempt that makes a plan.
func newPlanning(t *testing.T) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.begins(PlanApprove)
	return p
}

func (p *taskDriver) step(e Event) Result {
	p.n++
	e.At = time.Date(2026, 1, 2, 3, p.n, 0, 0, time.UTC)
	r := Step(p.task, e)
	p.task, p.why = r.Task, r.Why+r.Ignored
	p.todo = append(p.todo, r.Effects...)
	return r
}

// says applies a fact of a person, by a command.
func (p *taskDriver) says(f Fact) Result {
	return p.step(Event{ID: "person" + strconv.Itoa(p.n), By: person,
		Origin: Origin{OnIssue: 3, Comment: int64(p.n), Command: true}, Fact: f})
}

// done reports the outcome f of the newest pending effect of a kind.
func (p *taskDriver) done(kind EffectKind, f Fact) {
	p.t.Helper()
	key := ""
	for _, f := range p.todo {
		if f.Kind == kind && p.task.Pending[f.Key] != "" {
			key = f.Key
		}
	}
	if key == "" {
		p.t.Fatalf("nothing to %s: %s, %s", kind, p.task.State, p.why)
	}
	if r := p.step(Event{ID: key, Effect: key, Fact: f}); r.Ignored != "" {
		p.t.Fatalf("%s: %s", kind, r.Ignored)
	}
}

// begins begins the next attempt.
func (p *taskDriver) begins(plan string) {
	p.t.Helper()
	set := DefaultSettings()
	set.Agent.Plan, set.Review.Final = plan, p.reads
	p.done(DoBegin, Begun{Settings: set, BaseBranch: "main", BaseSHA: "base", Title: p.task.Title, Body: p.task.Body})
	p.works()
}

// works assigns the attempt to a coder, if it can begin.
func (p *taskDriver) works() {
	p.t.Helper()
	if p.task.Opening != nil {
		p.done(DoDecide, Decided{Type: DecideAssign, Choice: "coder", Agent: "coder", Reason: "it is the only one"})
	}
}

func (p *taskDriver) ends(f AttemptEnded) { p.t.Helper(); p.done(DoAttempt, f) }

// proposes ends the attempt with a plan and posts it.
func (p *taskDriver) proposes() {
	p.t.Helper()
	p.ends(AttemptEnded{End: EndAsked, Cost: 100, Ask: &Ask{Plan: &wanted}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 3, URL: "u"})
}

func (p *taskDriver) is(state State, attempts int, plans bool, why string) {
	p.t.Helper()
	a := p.task.Attempt()
	if p.task.State != state || len(p.task.Attempts) != attempts || a.Planning != plans || !strings.Contains(p.why, why) {
		p.t.Errorf("%s with %d attempts, the last a plan: %v; %s; want %s, %d, %v, %s", p.task.State, len(p.task.Attempts),
			a.Planning, p.why, state, attempts, plans, why)
	}
}

func TestPlanApproved(t *testing.T) {
	for name, yes := range map[string]Fact{"go": Approve{}, "the right plan": Approve{Question: 1},
		"a letter": AnswerGiven{Letter: "A"}} {
		t.Run(name, func(t *testing.T) {
			p := newPlanning(t)
			p.is(Working, 1, true, "makes a plan")
			p.proposes()
			p.is(Escalated, 1, true, "the question stands")
			if len(p.task.Prompts) != 0 || p.task.Credits.Spent != 100 {
				t.Errorf("it costs no approach and 0.1 credits: %+v, %+v", p.task.Prompts, p.task.Credits)
			}
			p.says(yes)
			p.is(Queued, 1, true, "@ada approved the plan of attempt 1")
			p.begins(PlanApprove)
			p.is(Working, 2, false, "attempt 2 begins")
			want := wanted
			want.Attempt, want.By, want.At = 1, person, p.task.Brief.Plan.At
			if d := cmp.Diff(&want, p.task.Brief.Plan); d != "" || want.At.IsZero() || len(p.task.Prompts) != 1 ||
				len(p.task.Brief.Answers) != 0 {
				t.Errorf("%s; prompts %+v, answers %v", d, p.task.Prompts, p.task.Brief.Answers)
			}
		})
	}
}

// A 👍 is acknowledged by a 🚀 on the comment, as a command is.
func TestPlanApprovedByAReaction(t *testing.T) {
	p := newPlanning(t)
	p.proposes()
	r := p.step(Event{ID: "reaction/1", By: person, Origin: Origin{OnIssue: 3, Comment: 77}, Fact: Approve{Question: 1}})
	react := func(f Effect) bool { return f.Kind == DoReact && f.Comment == 77 && f.Content == "rocket" }
	if p.task.State != Queued || !slices.ContainsFunc(r.Effects, react) {
		t.Errorf("%s, %+v", p.task.State, r.Effects)
	}
}

func TestPlanNotApproved(t *testing.T) {
	p := newPlanning(t)
	p.says(Approve{})
	p.is(Working, 1, true, noPlan)
	p.ends(AttemptEnded{End: EndAsked, Ask: &Ask{Plan: &wanted}})
	p.says(Approve{})
	p.is(Escalated, 1, true, "read it first")
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 3, URL: "u"})
	p.says(Approve{Question: 2})
	p.is(Escalated, 1, true, "taken that one's place")
	p.says(AnswerGiven{})
	p.is(Escalated, 1, true, "says what should be different")
	p.says(PauseAsked{Reason: "said so"})
	p.says(Approve{})
	p.is(OnHold, 1, true, "`/sia resume`")
	p.says(Resume{})
	p.is(Escalated, 1, true, "resumed")
	p.says(AnswerGiven{Letter: "B", Text: "no"})
	p.is(Stopped, 1, true, "did not want the plan")
	p.says(Approve{})
	p.is(Stopped, 1, true, hasEnded)
}

// An answer is accepted while the task is paused, and a push is judged after the resume.
func TestAnsweredWhilePaused(t *testing.T) {
	p := newPlanning(t)
	p.proposes()
	p.says(PauseAsked{Reason: "lunch"})
	p.says(AcceptTests{})
	p.is(OnHold, 1, true, "`/sia resume`")
	p.says(AnswerGiven{Text: "but in capitals"})
	p.is(OnHold, 1, true, "wants the plan of attempt 1 changed: but in capitals")
	p.says(Resume{})
	p.is(Queued, 1, true, "resumed")

	p = checked(t, false)
	p.task.State, p.task.Escalation = Escalated, &Escalation{Kind: AskIssue, Issue: 9, Question: "How?",
		Options: []Option{{Letter: "A", Text: "so"}, {Letter: "B", Text: "so not"}}}
	p.says(PauseAsked{Reason: "lunch"})
	p.says(BranchMoved{SHA: "c0ffee"})
	p.says(Resume{})
	if p.task.State != Checking || p.task.Head != "c0ffee" {
		t.Errorf("%s at %s", p.task.State, p.task.Head)
	}
	p.says(AnswerGiven{Text: "by hand"}) // the push comes first
	p.judges(Judged{Verdict: VerdictRed})
	if got := p.task.Brief.Answers; p.task.State != Queued || !slices.Equal(got, []string{"How? — by hand"}) {
		t.Errorf("%s: %s; answers %q", p.task.State, p.why, got)
	}
}

// An answer with text, with any letter, leads to another plan, and so does an
// edited issue if somebody asks for it.
func TestPlanChanged(t *testing.T) {
	p := newPlanning(t)
	p.proposes()
	p.says(AnswerGiven{Letter: "A", Text: "but in capitals"})
	p.is(Queued, 1, true, "wants the plan of attempt 1 changed: but in capitals")
	p.begins(PlanApprove)
	p.proposes()
	if d := cmp.Diff([]string{"About the plan of attempt 1: but in capitals"}, p.task.Brief.Answers); d != "" ||
		p.task.Answers[0].Kind != AskPlan || p.task.Escalation.Plan.Attempt != 2 {
		t.Error(d, p.task.Escalation)
	}
	p.says(Edited{Title: "Greet all"})
	if p.is(Escalated, 2, true, "edited"); !p.task.Escalation.Stale {
		t.Error("the plan is not known to be of another text")
	}
	p.says(Retry{})
	p.is(Queued, 2, true, "another plan")
	p.begins(PlanApprove)
	p.proposes()
	if p.task.Escalation.Stale || len(p.task.Prompts) != 0 {
		t.Errorf("%+v, %+v", p.task.Escalation, p.task.Prompts)
	}
}

// A plan is for the text that people read: if an unauthorised user edited the issue after
// the approval, a person is asked, and another plan is made.
func TestPlanForAnotherText(t *testing.T) {
	p := newPlanning(t)
	p.proposes()
	p.says(Approve{})
	set := DefaultSettings()
	set.Agent.Plan = PlanApprove
	p.done(DoBegin, Begun{Settings: set, BaseBranch: "main", BaseSHA: "base", Title: "Something else"})
	p.is(Escalated, 1, true, "reads otherwise")
	p.says(AnswerGiven{Letter: "A"})
	p.begins(PlanApprove)
	p.is(Working, 2, true, "makes a plan")
	if p.task.Title != "Something else" {
		t.Errorf("the task is %q", p.task.Title)
	}
}

// If an attempt ends without a plan, for any reason, the task is paused, and tries again.
func TestNoPlan(t *testing.T) {
	for _, end := range []AttemptEnd{EndFinished, EndTime, EndTurns, EndStuck, EndError} {
		p := newPlanning(t)
		p.ends(AttemptEnded{End: end, Reason: "why", Commit: "c0ffee"})
		p.is(OnHold, 1, true, "attempt 1 made no plan: why")
		if p.task.Attempt().Outcome != AttemptError || p.task.Pause.Kind != PausedByTrouble {
			t.Errorf("%s: %+v, %+v", end, p.task.Attempt(), p.task.Pause)
		}
		p.says(Resume{})
		p.begins(PlanApprove)
		p.is(Working, 2, true, "makes a plan")
	}
	p := newPlanning(t)
	p.ends(AttemptEnded{End: EndCredits, Reason: "why", Turns: 3})
	p.is(OnHold, 1, true, "credits")
	p = newPlanning(t)
	p.says(PauseAsked{Reason: "said so"})
	p.ends(AttemptEnded{End: EndCancelled})
	p.says(Resume{})
	p.begins(PlanApprove)
	p.is(Working, 2, true, "makes a plan")
	p.ends(AttemptEnded{End: EndFinished})
	p.is(OnHold, 2, true, "nothing was proposed")
}

// A question before the plan is no plan.
func TestPlanAfterAQuestion(t *testing.T) {
	p := newPlanning(t)
	p.ends(AttemptEnded{End: EndAsked, Ask: &Ask{Question: "Who?", Options: []string{"All", "One"}}})
	p.says(Approve{})
	p.is(Escalated, 1, true, "a question for its answer")
	p.says(AnswerGiven{Letter: "A"})
	p.begins(PlanApprove)
	p.is(Working, 2, true, "makes a plan")
}

// A plan is made once in a run, before any work, and again in the next run.
func TestPlanPerRun(t *testing.T) {
	p := newPlanning(t)
	p.proposes()
	p.says(Approve{})
	p.begins(PlanApprove)
	p.ends(AttemptEnded{End: EndTurns})
	p.begins(PlanApprove)
	p.is(Working, 3, false, "begins")
	p.ends(AttemptEnded{End: EndError, Reason: "down"})
	p.says(Stop{Reason: "said so"})
	p.says(Start{Title: "Greet"})
	p.begins(PlanApprove)
	p.is(Working, 4, true, "makes a plan")
	if p.task.Brief.Plan != nil {
		t.Errorf("the plan of the run before holds: %+v", p.task.Brief.Plan)
	}

	p = newPlanning(t)
	p.ends(AttemptEnded{End: EndCancelled})
	p.begins("")
	p.is(Working, 2, false, "begins")
	p.ends(AttemptEnded{End: EndCancelled})
	p.begins(PlanApprove)
	p.is(Working, 3, false, "begins")
}

// An open plan of a stopped run is not a question of the next run.
func TestPlanOfARunBefore(t *testing.T) {
	p := newPlanning(t)
	p.proposes()
	p.says(Stop{Reason: "said so"})
	p.says(Start{Title: "Greet"})
	p.begins("")
	p.ends(AttemptEnded{End: EndFinished, Commit: "c0ffee"})
	p.done(DoPush, Pushed{SHA: "c0ffee"})
	p.done(DoPull, PullOpened{Number: 4})
	p.says(BranchMoved{SHA: "f00d"})
	p.done(DoGate, Judged{SHA: "f00d", Looked: p.task.Gate.Since.Add(time.Hour), Verdict: VerdictRed})
	p.is(Queued, 2, false, "the next attempt starts there")
}

// While a plan waits, a person's push to the pull request is judged; if it is red, the agent is not blamed.
func TestPushWhileAPlanWaits(t *testing.T) {
	p := newPlanning(t)
	p.task.Pull = Pull{Number: 4}
	p.proposes()
	p.says(BranchMoved{SHA: "f00d"})
	p.done(DoGate, Judged{SHA: "f00d", Looked: p.task.Gate.Since.Add(time.Hour), Verdict: VerdictRed})
	p.is(Escalated, 1, true, "the question stands")
	p.says(BranchMoved{SHA: "f00d2"})
	p.done(DoGate, Judged{SHA: "f00d2", Looked: p.task.Gate.Since.Add(time.Hour), Verdict: VerdictNone})
	for p.task.State == Checking {
		p.n += 60
		p.done(DoGate, Judged{SHA: "f00d2", Looked: p.task.Gate.Since.Add(time.Hour), Verdict: VerdictNone})
	}
	p.says(AnswerGiven{Letter: "A"})
	p.is(Checking, 1, true, "answered")
	p.done(DoGate, Judged{SHA: "f00d2", Looked: p.task.Gate.Since.Add(time.Hour), Verdict: VerdictRed})
	p.is(Queued, 1, true, "the next attempt starts there")
	p.begins(PlanApprove)
	p.is(Working, 2, true, "makes a plan")
	p.proposes()
	p.says(BranchMoved{SHA: "f00d3"})
	p.done(DoGate, Judged{SHA: "f00d3", Looked: p.task.Gate.Since.Add(time.Hour), Verdict: VerdictGreen})
	p.is(Passed, 2, true, "green")
	if a := p.task.Attempt(); a.Outcome != AttemptAsked || a.Passing != nil {
		t.Errorf("%+v", a)
	}
}
