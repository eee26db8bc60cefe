package abuse

import (
	"errors"
	"os"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sim/stage"
)

// TestMain lets this program be the inside of the way out of a sandbox too, as sia forward is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forward" {
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// A successful attack is a figure that did not hold. Here the untrusted user has write access; without it, the user's
// commands don't count.
//
//test:thorough
func TestAbuseFindsAFault(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	forward := []string{self, "forward"}
	box := sandboxtest.New(t, sandbox.Options{Self: forward})
	for name, c := range map[string]struct {
		plant func(*stage.Stage) error
		held  bool
	}{
		"as it is":             {nil, true},
		"the stranger may":     {func(s *stage.Stage) error { return s.Sim.SetPermission(repo, stranger, "write") }, false},
		"the stage can't play": {func(*stage.Stage) error { return errors.New("a planted fault") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			played := 0
			all, err := run(t.Context(), Config{Only: []string{"10 "}, Box: box, Forward: forward,
				Progress: func(string) { played++ }}, c.plant)
			if err != nil || played != 1 || len(all) != 1 || all[0].Held != c.held || (all[0].Why == "") != c.held {
				t.Errorf("%d played: %+v, %v", played, all, err)
			}
		})
	}
}
