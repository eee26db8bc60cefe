package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// resumeModel changes a file in each of two answers and finishes with the third, unless a fault prevents it.
func resumeModel(fault *scripted.Fault) scripted.Script {
	usage := &scripted.Usage{Input: 1000, Output: 100}
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Usage: usage, Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	finish := call("finish", map[string]any{"summary": "Greeted."})
	finish.Fault = fault
	return scripted.Script{Rules: []scripted.Rule{{Name: "coder", Model: "coder", Turns: []scripted.Answer{
		call("write", map[string]any{"path": "hello.txt", "content": "Hello world\n"}),
		call("edit", map[string]any{"path": "hello.txt", "old": "Hello world", "new": "Hello, world!"}),
		finish,
	}}}}
}

// A process that is killed during an attempt, while the model is in the middle of its third answer, is succeeded by one
// that continues: in the remaining workspace or, on a machine without it, in a new one. Nothing is requested or paid
// twice.
//
//test:race
func TestCrashInAnAttempt(t *testing.T) {
	t.Parallel()
	sim, _, v := crashWorld(t, nil, resumeModel(nil), nil)
	if begin(t, sim, v).wait(t) {
		t.Fatal("the undisturbed process died")
	}
	want := spent(t, v)
	for name, lose := range map[string]bool{"same machine": false, "workspace lost": true} {
		t.Run(name, func(t *testing.T) {
			sim, model, v := crashWorld(t, nil, resumeModel(&scripted.Fault{Stall: true, After: 1}), nil)
			ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
			defer cancel()
			process := begin(t, sim, v)
			check(t, model.Wait(ctx, 3))
			check(t, process.cmd.Process.Kill())
			if !process.wait(t) {
				t.Fatal("the process ended by itself")
			}
			if lose {
				check(t, os.RemoveAll(filepath.Join(v.Config.Dir, "git", "workspaces")))
				check(t, os.RemoveAll(filepath.Join(v.Config.Dir, "git", "states")))
			}
			check(t, model.SetScript(resumeModel(nil)))
			if launch(t, v).wait(t) {
				t.Fatal("the second process died too")
			}
			check(t, sim.WaitIdle(ctx))
			var turns []int
			for _, q := range model.Requests() {
				if q.Model == "coder" { // not the final reviewer
					turns = append(turns, q.Turn())
				}
			}
			if d := cmp.Diff([]int{0, 1, 2, 2}, turns); d != "" {
				t.Errorf("answers asked for, by their place in the conversation (-want +got):\n%s", d)
			}
			if d := cmp.Diff(want, spent(t, v)); d != "" {
				t.Errorf("the account (-undisturbed +killed):\n%s", d)
			}
			transcript, err := sim.File(apptest.Repo, "sia/memory", ".sia/transcripts/1/1.md")
			check(t, err)
			for _, want := range []string{"## Turn 1\n", "## Turn 2\n", "## Turn 3\n", "resumed: "} {
				if strings.Count(transcript, want) != 1 {
					t.Errorf("%q is not once in the transcript:\n%s", want, transcript)
				}
			}
			pull, err := sim.Pull(apptest.Repo, 2)
			check(t, err)
			if text, err := sim.File(apptest.Repo, pull.Head, "hello.txt"); err != nil || text != "Hello, world!\n" {
				t.Errorf("hello.txt: %q, %v", text, err)
			}
		})
	}
}

// An attempt that returns to a machine after another continued it does not continue in the first machine's work tree,
// which lacks the other's edits.
func TestCrashOnTwoMachines(t *testing.T) {
	t.Parallel()
	stalled := func(turn int) scripted.Script {
		s := resumeModel(nil)
		s.Rules[0].Turns[turn].Fault = &scripted.Fault{Stall: true, After: 1}
		return s
	}
	sim, model, v := crashWorld(t, nil, stalled(1), nil)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	mirrors := filepath.Join(v.Config.Dir, "git")
	process := begin(t, sim, v)
	for _, m := range []struct {
		requests  int // when the process is killed
		from, to  string
		afterward scripted.Script
	}{{2, mirrors, mirrors + "-one", stalled(2)}, {4, mirrors + "-one", mirrors, resumeModel(nil)}} {
		check(t, model.Wait(ctx, m.requests))
		check(t, process.cmd.Process.Kill())
		if !process.wait(t) {
			t.Fatal("the process ended by itself")
		}
		if m.to == mirrors {
			check(t, os.RemoveAll(mirrors))
		}
		check(t, os.Rename(m.from, m.to))
		check(t, model.SetScript(m.afterward))
		process = launch(t, v)
	}
	if process.wait(t) {
		t.Fatal("the third process died too")
	}
	check(t, sim.WaitIdle(ctx))
	if world := describe(t, sim, v); !strings.Contains(world, "task passed, 1 attempts") {
		t.Errorf("the first attempt failed:\n%s", world)
	}
}

// spent returns the task's cost and how it ended.
func spent(t *testing.T, v victim) map[string]any {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: v.Config.WithDefaults().DB})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	task, err := s.Task(t.Context(), v.Task)
	check(t, err)
	a := task.Attempt()
	return map[string]any{"state": string(task.State), "credits": task.Credits, "attempts": len(task.Attempts),
		"turns": a.Turns, "cost": a.Cost, "agent": a.Agent}
}
