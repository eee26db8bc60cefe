//test:plain
//test:thorough
package agent_test

import (
	"os"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// TestMain lets this program be the inside of the way out of a sandbox too, as
// `sia forward` is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forward" {
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// forwarding is how this program runs itself as that.
func forwarding(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "forward"}
}
