package app_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sim/apptest"
)

// TestServersWithFoldersOfTheirOwn: of two servers on one database, each with a folder of its own, one is killed for
// good when it has done something that is not on GitHub yet. The other goes on with it, and nothing is done again.
func TestServersWithFoldersOfTheirOwn(t *testing.T) {
	stories := crashStories()
	for _, c := range []struct {
		story    crashStory
		at       string // where the first is killed
		attempts string // of the model
	}{
		{stories[0], "before 1005-1/1/push", "task passed, 2 attempts"},
		{stories[0], "after 1005-1/1/attempt", "task passed, 2 attempts"},
		{stories[0], "before 1005-1/2/push", "task passed, 2 attempts"},
		{stories[1], "before 1005-1/1/attempt-run-5", "task passed, 1 attempts"}, // it resolves what the parts don't agree on
		{stories[1], "before 1005-1/1/push", "task passed, 1 attempts"},
	} {
		t.Run(c.story.name+" "+strings.ReplaceAll(c.at, "/", " "), func(t *testing.T) {
			t.Parallel()
			sim, model, one := crashWorld(t, nil, c.story.model, c.story.files)
			one.Config.DB, one.Lease = storetest.Postgres(t), shortLease
			other := one
			other.Config.Dir = filepath.Join(t.TempDir(), "other")
			other.Config.Listen = apptest.FreeAddress(t)
			other.Kills.Seen += "-of-the-other"
			one.Kills.At = c.at
			if !begin(t, sim, one).wait(t) {
				t.Fatalf("it came to no %s", c.at)
			}
			check(t, sim.SetWebhook(one.Config.GitHub.AppID, "http://"+other.Config.Listen+"/webhook", apptest.Secret))
			if launch(t, other).wait(t) {
				t.Fatal("the other died, too")
			}
			ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
			defer cancel()
			check(t, sim.WaitIdle(ctx))
			world := describe(t, sim, other)
			for _, must := range append(c.story.must, c.attempts) {
				if !strings.Contains(world, must) {
					t.Errorf("it lacks %q:\n%s", must, world)
				}
			}
			times := map[string]int{} // that each of the coder's answers was asked for: two make a run
			for _, q := range model.Requests() {
				if times[q.Rule]++; q.Model == "coder" && times[q.Rule] > 2 {
					t.Errorf("%s was asked for %d times", q.Rule, times[q.Rule])
				}
			}
		})
	}
}
