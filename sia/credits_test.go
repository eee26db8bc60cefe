package sia

import (
	"testing"
	"time"
)

func TestCreditsOfRoundsUp(t *testing.T) {
	for usd, want := range map[float64]Credits{
		0: 0, 0.01: Credit, 0.000001: 1, 0.000011: 2, 0.1 + 0.2: 30 * Credit, 123.45: 12345 * Credit,
	} {
		if got := CreditsOf(usd); got != want {
			t.Errorf("%v USD = %d, want %d", usd, got, want)
		}
	}
}

// A spent daily budget pauses a task. Reserved credits make it wait, also if they are spent meanwhile, and whether this
// is found before or after the coder is chosen.
func TestRoom(t *testing.T) {
	start := func() *taskDriver {
		p := &taskDriver{t: t}
		p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
		return p
	}
	begun := Begun{Settings: DefaultSettings(), Title: "Greet", BaseBranch: "main", BaseSHA: "base"}
	spent, aside := begun, begun
	spent.Hold, aside.Hold, aside.Aside = "spent", "set aside", true
	p := start()
	p.done(DoBegin, spent)
	p.wantState(OnHold)

	for _, after := range []bool{false, true} {
		p = start()
		if after {
			p.done(DoBegin, begun)
			p.done(DoDecide, Decided{Type: DecideAssign, Choice: "coder", Hold: aside.Hold, Aside: true})
		} else {
			p.done(DoBegin, aside)
		}
		for _, next := range []Begun{aside, spent, spent} {
			p.wantState(Queued)
			if wait := p.task.BeginsAt.Sub(p.task.Since); !p.task.NoRoom || wait < budgetCheckInterval ||
				len(p.task.Attempts) > 0 {
				t.Errorf("it waits %s for room: %v, with %d attempts", wait, p.task.NoRoom, len(p.task.Attempts))
			}
			if at := p.effectOf(DoBegin).At; !at.Equal(p.task.BeginsAt) {
				t.Errorf("it is looked at %s, not at %s", at, p.task.BeginsAt)
			}
			p.done(DoBegin, next)
		}
		p.says(Stop{})
		p.says(Start{})
		p.done(DoBegin, spent)
		p.wantState(OnHold)
		p.says(Resume{})
		p.begins("")
		if p.wantState(Working); p.task.NoRoom || !p.task.BeginsAt.IsZero() {
			t.Errorf("it waits for room: %v, until %s", p.task.NoRoom, p.task.BeginsAt.Format(time.TimeOnly))
		}
	}
}

// What a model costs is booked once, also if the task is stopped before the model has answered. By older rules it is
// not.
func TestCostOfAnAnswerThatCameTooLate(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictRed})
	p.done(DoDecide, Decided{Type: DecideRecover, Choice: ChooseSIA})
	before, key := p.task, p.task.pendingOf(DoDiagnose)
	stop, answer := Event{ID: "stop", By: person, Fact: Stop{Reason: "said so"}}, Event{ID: key, Effect: key,
		Fact: Diagnosed{Cost: Credit}}
	p.step(stop)
	for range 2 {
		p.step(answer)
		if got := p.task.Credits.Spent - before.Credits.Spent; got != Credit || p.task.State != Stopped {
			t.Errorf("%s, %s are booked", p.task.State, got)
		}
	}
	old := Replay(before, stop).Task
	if r := Step(old, answer); r.Task.Version != old.Version || len(old.Dropped) > 0 {
		t.Errorf("by older rules %s are spent, of %s", r.Task.Credits.Spent, before.Credits.Spent)
	}
}
