package app_test

import (
	"flag"
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
)

var update = flag.Bool("update", false, "write what came of each story into its archive")

// TestStory plays each story of testdata/stories and compares everything that
// people see, and why it was decided, with the story's golden result.
func TestStory(t *testing.T) {
	for _, s := range apptest.Stories(t, "testdata/stories") {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Play(t, *update)
		})
	}
}
