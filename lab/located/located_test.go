package located_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/lab/located"
)

// commit writes files and commits them.
func commit(t *testing.T, dir, message string, files map[string]string) {
	t.Helper()
	for p, text := range files {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", message}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// A commit that changed a test and code is a task: the changed tests, the parent's code, and a history without
// the commit itself. A commit with only new code is none.
func TestMineAndMeasure(t *testing.T) {
	dir := t.TempDir()
	head := "package a\n\nimport \"testing\"\n\n"
	commit(t, dir, "begin", map[string]string{"go.mod": "module x\n",
		"a/a.go": "package a\n\nfunc Add() int { return 0 }\n", "a/b.go": "package a\n\nfunc Both() {}\n",
		"a/a_test.go": head + "func TestA(t *testing.T) { Add() }\n\nfunc TestC(t *testing.T) {}\n"})
	commit(t, dir, "b with its test", map[string]string{"a/b.go": "package a\n\nfunc Both() int { return 1 }\n",
		"a/a_test.go": head + "func TestA(t *testing.T) { Add() }\n\nfunc TestC(t *testing.T) { Both() }\n"})
	commit(t, dir, "new code alone", map[string]string{"a/c.go": "package a\n",
		"a/a_test.go": head + "func TestA(t *testing.T) { Add(); Add() }\n\nfunc TestC(t *testing.T) { Both() }\n"})
	commit(t, dir, "A counts", map[string]string{"a/a.go": "package a\n\nfunc Add() int { return 1 }\n", "README.md": "x",
		"a/a_test.go": head + "func TestA(t *testing.T) { Add() }\n\nfunc TestC(t *testing.T) { Both() }\n",
		"s/t.test.ts": "describe('g', () => {\n  it('t', () => {})\n})\n"})
	r, err := located.OpenRepository(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tasks, err := r.Mine(t.Context(), 10)
	if err != nil || len(tasks) != 2 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	if d := cmp.Diff([]locate.Test{{File: "a/a_test.go", Name: "TestA"}}, tasks[0].Tests); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a/b.go"}, tasks[1].Want); d != "" {
		t.Error(d)
	}
	var cases []located.Case
	if err := r.Gather(t.Context(), tasks, nil, func(c located.Case) { cases = append(cases, c) }); err != nil {
		t.Fatal(err)
	}
	if past := cases[1].Blind.Votes[locate.FromPast]; len(past) > 0 {
		t.Errorf("the commit itself is known: %v", past)
	}
	if past := cases[0].Blind.Votes[locate.FromPast]; len(past) != 2 || past[1].Path != "a/b.go" {
		t.Errorf("%v, want a/c.go and a/b.go, which changed with the test before", past)
	}
	for _, ranker := range located.Rankers() {
		s := located.Measure(ranker, cases)
		if s.Tasks != 2 || s.Hits[0] > s.Hits[1] || s.Hits[3] > 1 {
			t.Errorf("%+v", s)
		}
	}
	// Coverage is stored: nothing runs, since there is no sandbox here.
	kept := t.TempDir()
	for i, task := range tasks {
		text := fmt.Sprintf(`{"Took":%d000000000,"Runs":[{"Failed":true,"Blocks":[{"Path":"x/a/a.go","From":3,"To":3}]}]}`,
			i+1)
		file := filepath.Join(kept, r.Name, task.Commit+".json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var covered []located.Case
	err = r.Gather(t.Context(), tasks, &located.Coverage{Dir: kept}, func(c located.Case) { covered = append(covered, c) })
	if err != nil {
		t.Fatal(err)
	}
	if ran := covered[0].Blind.Votes[locate.FromRuns]; len(ran) != 1 || ran[0].Path != "a/a.go" {
		t.Errorf("%v, want a/a.go, which the failing test ran", ran)
	}
	if got, none := located.CoverWords(covered), located.CoverWords(cases); none != "" ||
		got != ", 2 with coverage, 2.0 s in the median and 2.0 s at most" {
		t.Errorf("%q and %q", got, none)
	}
	if held, err := located.LeaveOneOut(t.Context(), cases); err != nil || held != nil {
		t.Errorf("%v, %v: of one repository nothing can be left out", held, err)
	}
}

// Weights are measured on a held-out repository.
func TestLeaveOneOut(t *testing.T) {
	vote := func(s locate.Source, p string) locate.Evidence {
		return locate.Evidence{Votes: map[locate.Source][]locate.Vote{s: {{Path: p, Score: 1}}}}
	}
	var cases []located.Case
	for _, repo := range []string{"x", "y"} {
		e := vote(locate.FromTests, "right.go")
		e.Votes[locate.FromSibling] = []locate.Vote{{Path: "wrong.go", Score: 1}}
		cases = append(cases, located.Case{Task: located.Task{Repo: repo, Want: []string{"right.go"}}, Blind: e,
			WithMessage: e})
	}
	held, err := located.LeaveOneOut(t.Context(), cases)
	if err != nil || len(held) != 2 || held[0].Hits[0] != 1 || len(held[0].Chosen) != 2 {
		t.Fatalf("%+v, %v", held, err)
	}
	if w := held[0].Chosen["x"].Of; w[locate.FromTests] <= w[locate.FromSibling] {
		t.Errorf("%v", w)
	}
}
