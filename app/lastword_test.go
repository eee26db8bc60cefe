package app_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// lookWhile looks at the checks while changes happen between the requests.
func (w *world) lookWhile(f sia.Effect) (sia.Fact, error) {
	look, request := w.looks, 0
	w.looks++
	w.meanwhile = func() {
		now := w.meanwhile
		w.meanwhile = nil // users' actions are not SIA's requests
		w.between(look, request)
		request++
		w.meanwhile = now
	}
	defer func() { w.meanwhile = nil }()
	return w.parts.Worker.Effect(w.ctx, w.task, f)
}

// TestNothingChangesUnseen makes one change before each request of each look at a task that would pass: the pass is
// correct at that moment, or there is none.
func TestNothingChangesUnseen(t *testing.T) {
	t.Parallel()
	rule := func(w *world, kind string, of map[string]any) error {
		return w.sim.AddRule(w.repo, "main", ghsim.Rule{Type: kind, Parameters: map[string]any{kind: []any{of}}})
	}
	l := newLane(t)
	seed := uint64(1)
	for name, change := range map[string]func(w *world) error{
		"nothing": func(*world) error { return nil },
		"a person pushes": func(w *world) error {
			_, err := w.sim.PushFiles(w.repo, w.task.Branch, member, "more", map[string]string{"src/b.go": "package src\n"})
			return err
		},
		"a bot pushes": func(w *world) error {
			_, err := w.sim.PushAsBot(w.repo, w.task.Branch, ghsim.BotPush{Login: "fix[bot]", Message: "fix",
				Token: ghsim.SilentToken, Files: map[string]string{"src/b.go": "package src\n"}})
			return err
		},
		"it is closed":      func(w *world) error { return w.sim.ClosePull(w.repo, w.task.Pull.Number, member) },
		"a check is wanted": func(w *world) error { return w.sim.AddRule(w.repo, "main", model.ChecksRule("e2e")) },
		"another app's check is wanted": func(w *world) error {
			return rule(w, model.RuleChecks, map[string]any{"context": "test", "integration_id": w.sim.CreateUser("x").ID})
		},
		"a workflow is wanted": func(w *world) error {
			return rule(w, model.RuleWorkflows, map[string]any{"path": workflowPath(0), "repository_id": w.other})
		},
		"the branch is protected": func(w *world) error { return w.sim.SetBranchProtection(w.repo, "main", "e2e") },
	} {
		passes := 0
		for look, request := 0, 0; ; {
			w, reached := newWorld(l, seed), false
			seed++
			w.between = func(at, n int) {
				if at == look && n == request {
					reached = true
					w.must(change(w))
				}
			}
			w.calm()
			for w.broken == "" && w.task.State != sia.Passed && w.looks < 8 {
				if w.collect(); !w.next() {
					break
				}
			}
			if w.task.State == sia.Passed {
				passes++
			}
			if w.broken != "" {
				t.Errorf("%s before request %d of look %d: %s", name, request, look, w.broken)
			}
			switch {
			case reached:
				request++
			case request > 0:
				look, request = look+1, 0
			}
			if w.looks <= look {
				break
			}
		}
		if name == "nothing" && passes == 0 {
			t.Error("where nothing changes the task does not pass")
		}
	}
}

// calm returns a world with one workflow, without failures.
func (w *world) calm() {
	w.rng = rand.New(rand.NewPCG(1, 1))
	w.set = sia.DefaultSettings()
	w.set.Review.Final = false
	w.create(map[string]string{"src/first.go": "package src\n", workflowPath(0): "name: CI\non: pull_request\njobs:\n" +
		"  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: go test ./...\n"})
	w.open()
}
