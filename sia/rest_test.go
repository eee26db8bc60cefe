package sia

import (
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// If no effect can succeed any more, for example after the app was uninstalled,
// failures must not cause an endless series of failing effects.
func TestFailuresComeToRest(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, gone := range []bool{false, true} {
		r := Step(Task{}, Event{ID: "start", At: now, By: person,
			Fact: Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", DefaultBranch: "main"}})
		todo := r.Effects
		r = Step(r.Task, Event{ID: "stop", At: now, By: person, Fact: Stop{Reason: "said so", Gone: gone}})
		todo = append(todo, r.Effects...)
		for n := 0; len(todo) > 0; n++ {
			if n == 20 {
				t.Fatalf("gone %v: effects follow failed effects without end: %+v", gone, todo)
			}
			f := todo[0]
			r = Step(r.Task, Event{ID: f.Key, At: now, Effect: f.Key,
				Fact: EffectFailed{Effect: f.Kind, Reason: "it could not be reached"}})
			todo = append(todo[1:], r.Effects...)
		}
	}
}

// People are warned of an outage that delays an effect which the task waits for, and of no other.
func TestOutageWarns(t *testing.T) {
	const down = "the model coder is overloaded. Try later."
	task := Task{ID: "9-3", State: Working, Version: 7, Settings: DefaultSettings(), Attempts: []Attempt{{Number: 1}},
		Pending: map[string]EffectKind{"attempt": DoAttempt, "sync": DoSync}}
	for key, warned := range map[string]bool{"attempt": true, "sync": false, "gone": false} {
		kind := task.Pending[key]
		if kind == "" {
			kind = DoAttempt
		}
		r := Step(task, Event{ID: key + "/delayed", Fact: EffectDelayed{Key: key, Effect: kind, Reason: down}})
		want := ""
		if warned {
			want = "the model coder is overloaded. Try later. SIA tries again until that is over"
		}
		if r.Task.Warning != want || r.Task.State != Working || r.Task.Pending["attempt"] == "" {
			t.Errorf("%s: %s, it warns of %q, want %q", key, r.Task.State, r.Task.Warning, want)
		}
	}
}

// A successful sync clears the warning about a failed one, and GitHub is updated. Another warning stays.
func TestWarningOfTroubleThatIsOver(t *testing.T) {
	for _, other := range []string{"", "the settings can't be read"} {
		task := Task{ID: "9-3", State: Passed, Version: 7, Visible: 7, Settings: DefaultSettings(), MemoryWarning: "before",
			Pending: map[string]EffectKind{"sync": DoSync, "draft": DoDraft, "memory": DoMemory}}
		r := Step(task, Event{ID: "sync", Effect: "sync", Fact: EffectFailed{Effect: DoSync, Reason: "archived"}})
		r = Step(r.Task, Event{ID: "draft", Effect: "draft", Fact: Drafted{}})
		if r.Task.Warning != "archived" {
			t.Errorf("after something else was done it warns of %q", r.Task.Warning)
		}
		if other != "" {
			r = Step(r.Task, Event{ID: "memory", Effect: "memory", Fact: MemoryCommitted{Warning: other}})
		}
		key := r.Task.pendingOf(DoSync)
		r = Step(r.Task, Event{ID: key, Effect: key, Fact: SyncDone{Version: r.Task.Version}})
		if r.Task.Warning != other || (r.Task.pendingOf(DoSync) == "") != (other != "") {
			t.Errorf("once it was done it warns of %q, pending %v", r.Task.Warning, r.Task.Pending)
		}
	}
}

// The memory of a stopped task waits for the result of the interrupted attempt; if
// GitHub can't be written to, no memory is written.
func TestMemoryOfAStoppedAttempt(t *testing.T) {
	for _, c := range []struct {
		name string
		gone bool
		ends []Fact // of attempt and push, in this order
	}{
		{"it had done nothing", false, []Fact{AttemptEnded{End: EndCancelled}}},
		{"it was lost", false, []Fact{EffectFailed{Effect: DoAttempt, Reason: "no machine"}}},
		{"its work is kept", false, []Fact{AttemptEnded{End: EndCancelled, Commit: "c0ffee"}, Pushed{SHA: "c0ffee"}}},
		{"its work could not be kept", false,
			[]Fact{AttemptEnded{End: EndCancelled, Commit: "c0ffee"}, PushRefused{Reason: "moved"}}},
		{"the app is gone", true, []Fact{AttemptEnded{End: EndCancelled}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := Task{ID: "9-3", State: Working, Settings: DefaultSettings(), Attempts: []Attempt{{Number: 1}},
				Pending: map[string]EffectKind{"attempt": DoAttempt}}
			r := Step(task, Event{ID: "stop", By: person, Fact: Stop{Reason: "said so", Gone: c.gone}})
			for _, f := range c.ends {
				key := r.Task.pendingOf(DoAttempt, DoPush)
				if r.Task.pendingOf(DoMemory) != "" || key == "" {
					t.Fatalf("before %s: %v", f.Kind(), r.Task.Pending)
				}
				r = Step(r.Task, Event{ID: key, Effect: key, Fact: f})
			}
			if remembers := r.Task.pendingOf(DoMemory) != ""; remembers == c.gone {
				t.Errorf("memory is written: %v", remembers)
			}
		})
	}
}

// The cost of an attempt, or of a run, that failed to run to its end is booked.
func TestLostAttemptIsPaid(t *testing.T) {
	for key, a := range map[string]Attempt{
		"9-3/1/attempt":       {},
		"9-3/1/attempt-run-1": {Structure: plan.Linear, Runs: 1, Parts: []Part{{State: PartRunning, Run: 1, Reserved: 40}}},
	} {
		a.Number, a.Reserved = 1, 80
		r := Step(Task{ID: "9-3", State: Working, Settings: DefaultSettings(), Attempts: []Attempt{a},
			Credits: Ledger{Budget: 100, Reserved: 80}, Pending: map[string]EffectKind{key: DoAttempt}},
			Event{ID: key, Effect: key, Fact: EffectFailed{Effect: DoAttempt, Reason: "no machine", Cost: 50}})
		left := Ledger{Budget: 100, Spent: 50, Reserved: r.Task.Attempts[0].Reserved}
		if r.Task.Credits != left || r.Task.Attempts[0].Cost != 50 || left.Reserved > 30 {
			t.Errorf("%s: %+v, the attempt %+v", key, r.Task.Credits, r.Task.Attempts[0])
		}
	}
}

// pendingOf returns the key of a pending effect of one of the kinds.
func (t *Task) pendingOf(kinds ...EffectKind) string {
	for key, kind := range t.Pending {
		if slices.Contains(kinds, kind) {
			return key
		}
	}
	return ""
}

// If only the issue was deleted, the pull request still shows the end of the task, the memory is written, and the open
// question is closed.
func TestIssueGone(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "did not appear", Absent: true}}})
	p.done(DoMemory, MemoryCommitted{SHA: "m"})
	p.done(DoEscalate, EscalationOpened{Issue: 40, URL: "e"})
	p.done(DoSync, SyncDone{Version: p.task.Version})
	p.step(Event{ID: "deleted", By: person, Fact: Stop{Reason: "@ada deleted the issue", IssueGone: true}})
	p.wantState(Stopped)
	for _, kind := range []EffectKind{DoSync, DoClose, DoMemory} {
		if !p.waitsFor(kind) {
			t.Errorf("no %s follows: %v", kind, p.task.Pending)
		}
	}
}
