package work

import (
	"context"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/sia"
)

// historyTimeout limits how long an attempt waits for its repository's history after its workspace is ready.
const historyTimeout = 2 * time.Second

// fetchHistory starts fetching the file names of the commits before the task's base; end cancels that and waits for it.
// The history is optional: an attempt continues without it after a failure or time-out, and late results serve the
// next.
func (w *attemptWorker) fetchHistory(ctx context.Context, t sia.Task) (past <-chan []locate.Commit, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	got := make(chan []locate.Commit, 1)
	var fetch sync.WaitGroup
	fetch.Go(func() {
		names, err := w.mirror(t).FetchNames(ctx, string(t.BaseSHA))
		if err != nil && ctx.Err() == nil {
			w.Logger.InfoContext(ctx, "which files changed together is not known", "task", t.ID, "error", err)
		}
		past := make([]locate.Commit, len(names))
		for i, n := range names {
			past[i].Paths = n.Paths
		}
		got <- past
	})
	return got, func() { cancel(); fetch.Wait() }
}

// waitForHistory returns the fetched history, or nil if it takes longer than historyTimeout.
func waitForHistory(ctx context.Context, got <-chan []locate.Commit) []locate.Commit {
	late := time.NewTimer(historyTimeout)
	defer late.Stop()
	select {
	case past := <-got:
		return past
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}
