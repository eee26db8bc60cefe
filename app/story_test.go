//test:plain
//test:thorough
package app_test

import (
	"flag"
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
)

var update = flag.Bool("update", false, "write what came of each story into its archive")

// onPostgres is how many of the stories are played on PostgreSQL, too: one of so many.
var onPostgres = flag.Int("postgres", 12, "play one of so many stories on PostgreSQL, too; 1: all of them")

// TestStoryOnPostgres plays some stories on PostgreSQL: nobody sees a difference.
func TestStoryOnPostgres(t *testing.T) {
	t.Parallel()
	for i, s := range apptest.Stories(t, "testdata/stories") {
		if i%*onPostgres != 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.PlayWith(t, false, func(c *apptest.Config) { c.Postgres = true })
		})
	}
}

// TestStory plays each story of testdata/stories and compares everything that
// people see, and why it was decided, with the story's golden result.
func TestStory(t *testing.T) {
	t.Parallel()
	for _, s := range apptest.Stories(t, "testdata/stories") {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Play(t, *update)
		})
	}
}
