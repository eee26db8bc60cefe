package replay

import (
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// newRunner returns a runner of tests of a repository's history, with caches in its folder.
func newRunner(
	box *sandbox.Sandbox, h *gitops.History, f *Folder, hosts []string, within time.Duration,
) *testrun.Runner {
	r := testrun.NewRunner(box, h, f.cache(), hosts, within)
	// Both trees of a candidate have the same dependencies, and fetching them again takes longer than all tests.
	r.Near = true
	return r
}
