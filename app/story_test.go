//test:plain
//test:thorough
package app_test

import (
	"flag"
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
)

var update = flag.Bool("update", false, "write what came of each story into its archive")

// onPostgres is the ratio of all stories to those also played on PostgreSQL.
var onPostgres = flag.Int("postgres", 12, "play one of so many stories on PostgreSQL, too; 1: all of them")

// TestStoryOnPostgres plays some stories on PostgreSQL, with the same results.
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

// TestStory plays each story of testdata/stories and compares everything that users see, and the reasons of decisions,
// with the story's golden result.
func TestStory(t *testing.T) {
	t.Parallel()
	for _, s := range apptest.Stories(t, "testdata/stories") {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Play(t, *update)
		})
	}
}
