package sia

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// end returns a task as if it had ended.
func end(t Task) Task {
	t = t.clone()
	t.Version, t.Visible, t.Synced, t.SyncAt = 17, 0, 0, time.Time{}
	t.Pending, t.Seen, t.AwaitMemory, t.Gate, t.Next, t.Pause = nil, nil, "", GateState{}, nil, nil
	t.Credits.Reserved = 0
	if !t.State.Final() {
		t.State = Stopped
	}
	return t
}

// A restored task equals its record, can be started again like any other, and
// never reuses an effect key from before.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(w.todo) == 0 || rapid.IntRange(0, 4).Draw(t, "person") == 0 {
				w.bother()
			} else {
				w.finish(rapid.IntRange(0, len(w.todo)-1).Draw(t, "effect"))
			}
		}
		was := end(w.task)
		restored := Event{ID: "reindex", At: w.now, Fact: Restored{Task: was}}
		r := Step(Task{}, restored)
		if r.Ignored != "" || len(r.Effects) != 0 {
			t.Fatalf("ignored %q, effects %v", r.Ignored, r.Effects)
		}
		got := r.Task
		if got.Version <= was.Version || got.Synced != got.Visible {
			t.Fatalf("version %d, shown %d of %d", got.Version, got.Synced, got.Visible)
		}
		if d := cmp.Diff(was, end(got)); d != "" {
			t.Fatal(d)
		}
		if again := Step(got, restored); again.Ignored == "" || again.Task.Version != got.Version {
			t.Fatal("restored over what is known")
		}
		w.task, w.todo = got, nil
		w.apply(Event{ID: "start-again", By: person,
			Fact: Start{Installation: 1, Repo: Repo{ID: 9, Owner: "o", Name: "r"}, Issue: 3, Title: "Do it",
				Text: "and that", DefaultBranch: "main"}})
		if w.task.State != Queued {
			t.Fatalf("started again, it is %s", w.task.State)
		}
		for range 20 {
			if len(w.todo) > 0 {
				w.finish(0) // fails if a key is reused
			}
		}
	})
}

// Only ended tasks are restored, and no record of another task.
func TestRestoreRefuses(t *testing.T) {
	good := Task{ID: "9-3", Repo: Repo{ID: 9}, Issue: 3, State: Passed}
	for name, change := range map[string]func(*Task){
		"unfinished":   func(t *Task) { t.State = Working },
		"another task": func(t *Task) { t.Issue = 4 },
		"reserved":     func(t *Task) { t.Credits.Reserved = 1 },
		"in diagnosis": func(t *Task) { t.Next = &Intervention{} },
		"no task":      func(t *Task) { *t = Task{} },
	} {
		bad := good
		change(&bad)
		if r := Step(Task{}, Event{ID: "x", Fact: Restored{Task: bad}}); r.Ignored == "" || r.Task.ID != "" {
			t.Errorf("%s: restored as %+v", name, r.Task)
		}
	}
	if r := Step(Task{}, Event{ID: "x", Fact: Restored{Task: good, Show: true}}); len(r.Effects) != 1 ||
		r.Effects[0].Kind != DoSync {
		t.Errorf("what GitHub shows is not brought up to date: %v", r.Effects)
	}
}

// A restored task has made no decision of another task, or of an effect that it may yet get.
func TestMayHaveDecided(t *testing.T) {
	task := Task{ID: "9-3", Version: 17}
	for id, want := range map[string]bool{
		"9-3/1/decide-assign-v3":                    true,
		"9-3/1/decide-assign-v1017":                 true,
		"9-3/2/rerun-0a":                            true,
		"9-3/1/decide-assign-v1018":                 false,
		"9-3/1/decide-assign-v99999999999999999999": false,
		"9-33/1/decide-assign-v3":                   false,
		"10-3/1/decide-assign-v3":                   false,
		"":                                          false,
	} {
		if got := task.MayHaveDecided(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
