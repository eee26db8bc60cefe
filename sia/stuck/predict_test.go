package stuck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func act(tool, args, result string) Action { return Action{Tool: tool, Args: args, Result: result} }

func failing(tool, args, result string) Action {
	return Action{Tool: tool, Args: args, Result: result, Error: true}
}

// edits gives each action a larger diff than the one before.
func edits(as []Action) []Action {
	out := slices.Clone(as)
	for i := range out {
		out[i].DiffSize = i + 1
	}
	return out
}

// different returns n actions that have nothing in common.
func different(n int) []Action {
	var out []Action
	for i := range n {
		out = append(out, act("read", fmt.Sprintf("file%c.go", 'a'+i), strings.Repeat("x", i)))
	}
	return out
}

func TestPredict(t *testing.T) {
	test := act("run", "go test ./...", "ok 0.12s, pid 48213")
	again := act("run", "go  test ./...", "ok 3.4 ms, pid 51177")
	broken := failing("run", "go test ./...", "1 test failed")
	edit := act("edit", "cart.go", "done")
	undo := act("edit", "cart.go back", "done")
	wait := act("run", "sleep 10 && curl -s localhost/health", "starting")
	repeat := slices.Repeat[[]Action]
	for _, c := range []struct {
		name    string
		actions []Action
		says    string // in the evidence; empty: not stuck
	}{
		{"nothing yet", nil, ""},
		{"at work", edits(different(20)), ""},
		{"the same call three times", []Action{test, test, again}, ""},
		{"the same call four times", []Action{test, again, test, again}, "go test ./... gave the same result 4 times"},
		{"the same call, with something else between", []Action{test, test, edit, test, test}, ""},
		{"the same call, with another result",
			[]Action{act("run", "t", "3 tests failed"), act("run", "t", "2 tests failed"), act("run", "t", "1 test failed"),
				act("run", "t", "0 tests failed")}, ""},
		{"the same call and result, but the diff grows", edits([]Action{edit, edit, edit, edit}), ""},
		{"the same error twice", []Action{broken, broken}, ""},
		{"the same error three times", []Action{edit, broken, broken, broken},
			"ended in an error 3 times in a row: 1 test failed"},
		{"errors of different calls", []Action{broken, failing("run", "make", "no rule"), broken}, ""},
		{"an error that was overcome", []Action{broken, broken, broken, edit}, ""},
		{"taking turns twice", []Action{edit, undo, edit, undo}, ""},
		{"taking turns three times", []Action{edit, undo, edit, undo, edit, undo}, "took turns 3 times"},
		{"taking turns, with progress", edits([]Action{edit, test, edit, test, edit, test}), ""},
		{"waiting", repeat([]Action{wait}, 12), ""},
		{"waiting for ever", repeat([]Action{wait}, pollLimit), "same result 30 times"},
		{"waiting for something broken", repeat([]Action{failing("run", "sleep 10 && curl localhost", "refused")}, 3),
			"ended in an error"},
		{"git status is not waiting", repeat([]Action{act("run", "git status", "clean")}, 4), "git status"},
		{"waiting as the agent's own tool does",
			repeat([]Action{act("run", `{"command":"until curl -s localhost; do sleep 1; done","timeout":60}`, "no")}, 12), ""},
		{"asking a service", repeat([]Action{act("run", "kubectl rollout status deploy/web", "waiting")}, 12), ""},
		{"following a log", repeat([]Action{act("run", "timeout 60 tail -f server.log", "")}, 12), ""},
		{"a tool that waits", repeat([]Action{act("wait_for", `{"port":80}`, "not yet")}, 12), ""},
		{"the end of what a command prints",
			repeat([]Action{act("run", `{"command":"go test ./... 2>&1 | tail -20"}`, "FAIL")}, 4), "4 times"},
		{"a filter of words", repeat([]Action{act("run", "grep -rn 'wait' . || cat logs", "no")}, 4), "4 times"},
		{"a file called so", repeat([]Action{act("read", `{"path":"internal/status.go"}`, "package internal")}, 4),
			"4 times"},
		{"going in a large circle", repeat(different(5), 6), "no new change in 24 calls"},
		{"a large circle with progress", edits(repeat(different(5), 6)), ""},
		{"reading a lot", different(26), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			stuck, why := Predict(c.actions)
			if stuck != (c.says != "") || !strings.Contains(why, c.says) {
				t.Errorf("stuck %t: %q", stuck, why)
			}
		})
	}
}

// The result depends only on the end of the transcript.
func TestPredictIsBounded(t *testing.T) {
	tail := slices.Repeat([]Action{failing("run", "make", strings.Repeat("no rule ", 1<<16))}, 3)
	short, why := Predict(tail)
	long, whyLong := Predict(append(edits(slices.Repeat(different(20), 500)), tail...))
	if !short || !long || why != whyLong {
		t.Errorf("%t %q, %t %q", short, why, long, whyLong)
	}
	if len(why) > 300 {
		t.Errorf("evidence of %d bytes", len(why))
	}
}

func BenchmarkPredict(b *testing.B) {
	actions := slices.Repeat([]Action{act("run", "go test ./...", strings.Repeat("--- FAIL: TestA (0.00s)\n", 200))}, 60)
	for i := range actions {
		actions[i].DiffSize = i
	}
	for b.Loop() {
		if stuck, _ := Predict(actions); stuck {
			b.Fatal("stuck")
		}
	}
}
