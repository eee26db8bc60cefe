//test:plain
//test:thorough
package agent_test

import (
	"os"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// TestMain lets the test binary act as the program inside of a sandbox, as `sia forward` does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forward" {
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// forwarding returns the command that runs this binary in that role.
func forwarding(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "forward"}
}
