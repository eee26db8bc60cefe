package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// weighedModel fails once, is reviewed, and changes a test's expectation when it succeeds.
func weighedModel() scripted.Script {
	s := crashModel()
	usage := s.Rules[0].Turns[0].Usage
	first := &s.Rules[0].Turns[0]
	first.Calls = append(first.Calls, scripted.Call{Name: "edit", Args: map[string]any{"path": "test_greeting.py",
		"old": `"Hello"`, "new": `"Hello, world!"`}})
	weigh := scripted.Rule{Name: "weigh", Model: "reviewer", System: "You say whether the issue",
		Turns: []scripted.Answer{{Usage: usage, JSON: map[string]any{"asked": []any{
			map[string]any{"finding": 1, "quote": "Put a greeting into hello.txt."}}}}}}
	s.Rules = append([]scripted.Rule{weigh}, s.Rules...)
	return s
}

// If a process is killed after a model has answered and before the answer is stored, the model is not asked again:
// neither for a diagnosis nor its review, nor about changed expectations, nor for the final review.
func TestAnswersArePaidOnce(t *testing.T) {
	t.Parallel()
	sim, model, v := crashWorld(t, nil, weighedModel(), map[string]string{
		".sia/config.yml": "checks: {settle: 0s, wait: 1m, evidence: 0s}\n",
		"test_greeting.py": "import unittest\n\n\nclass TestGreeting(unittest.TestCase):\n" +
			"    def test_it(self):\n        self.assertEqual(\"Hello\", greeting())\n",
	})
	start := func() *process { return begin(t, sim, v) }
	for _, at := range []string{"diagnose", "review", "weigh", "final-review"} {
		v.Kills.At = "after 1005-1/*/" + at + "*"
		if !start().wait(t) {
			t.Fatalf("the process was not killed after %s", at)
		}
		start = func() *process { return launch(t, v) }
	}
	v.Kills.At = ""
	if start().wait(t) {
		t.Fatal("it died again")
	}
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	check(t, sim.WaitIdle(ctx))
	asked := map[string]int{}
	for _, r := range model.Requests() {
		if r.Model == "coder" {
			continue
		}
		asked[r.Model+": "+strings.Join(strings.Fields(r.Messages[0].Content)[:8], " ")]++
	}
	for what, n := range asked {
		if n != 1 {
			t.Errorf("asked %d times: %s", n, what)
		}
	}
	world := describe(t, sim, v)
	if len(asked) != 4 || !strings.Contains(world, "task "+string(sia.Passed)) {
		t.Errorf("asked %v:\n%s", asked, world)
	}
}
