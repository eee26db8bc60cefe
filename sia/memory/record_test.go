package memory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
)

// now is when tasks are rebuilt.
var now = time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)

// rebuilt writes a task's file and rebuilds the task from it.
func rebuilt(t *testing.T, task sia.Task) (sia.Task, bool) {
	t.Helper()
	b, err := memory.JSON(task, links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := memory.ParseJSON("f.json", b)
	if err != nil {
		t.Fatal(err)
	}
	got, unfinished, err := f.Task(4, sia.Repo{ID: 99, Owner: "acme", Name: "bookings"}, now)
	if err != nil {
		t.Fatal(err)
	}
	return got, unfinished
}

// Everything that influences the next choice is restored: attempts, prompts, interventions, users' answers.
func TestRebuild(t *testing.T) {
	task := story()
	task.Branch, task.BaseBranch, task.AskedBy, task.Label, task.Approaches = "sia/issue-1-x", "main",
		sia.Actor{Login: "ada", ID: 7}, "sia", 5
	task.Settings, task.Version, task.Pending, task.Seen = sia.DefaultSettings(), 17,
		map[string]sia.EffectKind{"k": sia.DoMemory}, []string{"e"}
	task.Attempts[1].Hunks = []uint64{1<<63 + 1}
	task.Attempts[1].LessonsShown, task.Attempts[1].LessonsWithheld = []string{"0a0000000001"}, []string{"0a0000000002"}
	task.Answers = []sia.Answer{{Escalation: 1, By: sia.Actor{Login: "ada"}, Text: "yes"}}
	task.Brief = sia.Brief{Prompt: "done", Plan: &sia.Plan{Attempt: 1, Summary: "mail it", By: sia.Actor{Login: "ada"}},
		Answers: []string{"yes"}}
	got, unfinished := rebuilt(t, task)
	want := task
	want.Installation, want.Pending, want.Seen, want.Brief = 4, nil, nil,
		sia.Brief{Plan: task.Brief.Plan, Answers: []string{"yes"}}
	if d := cmp.Diff(want, got); d != "" || unfinished {
		t.Errorf("unfinished %v: %s", unfinished, d)
	}
}

// Parts are restored, except for work in progress.
func TestRebuildParts(t *testing.T) {
	task := inParts()
	task.State, task.Attempts[1].Outcome = sia.Working, ""
	task.Opening = &sia.Opening{Hash: "h"}
	a := &task.Attempts[1]
	a.Asking, a.Aggregating = 1, true
	a.Parts[1].State, a.Parts[1].Reserved, a.Parts[0].Elsewhere = sia.PartRunning, 9, true
	got, unfinished := rebuilt(t, task)
	want := inParts().Attempts
	want[1].Outcome, want[1].Reason = sia.AttemptCancelled, "SIA's database was lost before it was judged"
	want[1].Parts[1].State = sia.PartWaiting
	if d := cmp.Diff(want, got.Attempts); d != "" || !unfinished || got.Opening != nil {
		t.Errorf("unfinished %v, opening %v: %s", unfinished, got.Opening, d)
	}
}

func TestRebuildEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*sia.Task)
		state  sia.State
	}{
		{"passed", func(*sia.Task) {}, sia.Passed},
		{"stopped", func(t *sia.Task) { t.State = sia.Stopped }, sia.Stopped},
		{"working", func(t *sia.Task) { t.State, t.Attempts[1].Outcome = sia.Working, "" }, ""},
		{"escalated", func(t *sia.Task) { t.State = sia.Escalated }, ""},
		{"passed by word alone", func(t *sia.Task) { t.Attempts[1].Outcome = sia.AttemptFail }, ""},
		{"passed on another commit", func(t *sia.Task) { t.Head = sia.SHA(strings.Repeat("3", 40)) }, ""},
		{"passed by a person's push", func(t *sia.Task) {
			t.Attempts[1].Outcome, t.HeadBy = sia.AttemptFail,
				sia.Actor{Login: "ana"}
		}, sia.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			task := story()
			tt.change(&task)
			got, unfinished := rebuilt(t, task)
			if unfinished != (tt.state == "") {
				t.Errorf("unfinished: %v", unfinished)
			}
			if unfinished && (got.State != sia.Stopped || got.Ended != memory.Rebuilt || got.Attempts[1].Outcome == "") {
				t.Errorf("got %s: %s, attempt %q", got.State, got.Ended, got.Attempts[1].Outcome)
			}
			if !unfinished && got.State != tt.state {
				t.Errorf("got %s, want %s", got.State, tt.state)
			}
		})
	}
}

func TestRebuildRefuses(t *testing.T) {
	b, err := memory.JSON(story(), links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := memory.ParseJSON("f.json", b)
	if err != nil {
		t.Fatal(err)
	}
	other := f
	other.Issue = 2
	if _, _, err := other.Task(4, sia.Repo{ID: 99}, now); err == nil || !strings.Contains(err.Error(), "issue 2") {
		t.Errorf("a record of another issue: %v", err)
	}
	f.Record = nil
	if _, _, err := f.Task(4, sia.Repo{ID: 99}, now); !errors.Is(err, memory.ErrNoRecord) {
		t.Errorf("no record: %v", err)
	}
}

// People can edit a record: its amounts can't free a budget, or break the sum of all, and its times can't count in
// budgets to come.
func TestRebuildRestrains(t *testing.T) {
	for name, change := range map[string]func(*sia.Task){
		"spent":   func(t *sia.Task) { t.Credits.Spent = -90 },
		"budget":  func(t *sia.Task) { t.Credits.Budget = -1 },
		"overrun": func(t *sia.Task) { t.Credits.Overrun = math.MaxInt64 },
		"attempt": func(t *sia.Task) { t.Attempts[0].Cost = -1 },
		"part":    func(t *sia.Task) { t.Attempts[0].Parts = []sia.Part{{Cost: -1}} },
	} {
		f := memory.File{Issue: 1, Record: &memory.Record{Task: story()}}
		change(&f.Record.Task)
		if _, _, err := f.Task(4, sia.Repo{ID: 99}, now); err == nil || !strings.Contains(err.Error(), "amount") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := memory.File{Issue: 1, Record: &memory.Record{Task: story()}}
	f.Record.Task.Interventions = make([]sia.Intervention, 1001)
	if _, _, err := f.Task(4, sia.Repo{ID: 99}, now); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("1001 interventions: %v", err)
	}
	task := story()
	task.CreatedAt, task.Attempts[0].EndedAt = now.Add(time.Hour), now.AddDate(100, 0, 0)
	if got, _ := rebuilt(t, task); !got.CreatedAt.Equal(now) || !got.Attempts[0].EndedAt.Equal(now) {
		t.Errorf("from the future: %v, %v", got.CreatedAt, got.Attempts[0].EndedAt)
	}
}

// The model that interrupts attempts of all repositories learns nothing from a record.
func TestRebuildWithoutRisk(t *testing.T) {
	task := story()
	task.Attempts[0].Risk = &sia.Risk{Idle: 1}
	if got, _ := rebuilt(t, task); got.Attempts[0].Risk != nil || task.Attempts[0].Risk == nil {
		t.Errorf("%+v, of %+v", got.Attempts[0].Risk, task.Attempts[0].Risk)
	}
}

// Unknown fields are kept in any place.
func TestUnknownSurvivesEverywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := tasks(t)
		for i := range task.Prompts {
			task.Prompts[i].Hash = fmt.Sprintf("h%d", i) // a task's prompts are distinct
		}
		first, err := memory.JSON(task, links(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(first, &tree); err != nil {
			t.Fatal(err)
		}
		added := 0
		addUnknown(t, tree, "", &added)
		edited, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		second, err := memory.JSON(task, links(), edited)
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Count(string(second), `"x-mine"`); has != added {
			t.Fatalf("of %d added fields %d are left:\n%s", added, has, second)
		}
		third, err := memory.JSON(task, links(), second)
		if err != nil || string(third) != string(second) {
			t.Fatalf("writing again changed the file (%v): %s", err, cmp.Diff(string(second), string(third)))
		}
	})
}

// addUnknown adds a field to some objects, except inside the record's parts, which belong to the record.
func addUnknown(t *rapid.T, v any, key string, added *int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			addUnknown(t, e, key, added)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if key != "record" {
				addUnknown(t, v[k], k, added)
			}
		}
		if rapid.Bool().Draw(t, "add to "+key) {
			*added++
			v["x-mine"] = map[string]any{"note": rapid.String().Draw(t, "note")}
		}
	}
}
