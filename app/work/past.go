package work

import (
	"context"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/sia"
)

// pastWithin bounds how long an attempt waits, once its workspace stands, for what its repository's history tells.
const pastWithin = 2 * time.Second

// fetchPast begins to fetch which files the commits behind the task's base changed; end ends that, and waits for it. It
// is only a help: an attempt does without where it fails or takes long, and what comes late is there for the next.
func (w *attemptWorker) fetchPast(ctx context.Context, t sia.Task) (past <-chan []locate.Commit, end func()) {
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

// waitForPast returns what was fetched; nothing when it is not there within pastWithin.
func waitForPast(ctx context.Context, got <-chan []locate.Commit) []locate.Commit {
	late := time.NewTimer(pastWithin)
	defer late.Stop()
	select {
	case past := <-got:
		return past
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}
