package work

import (
	"context"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/sia"
)

// pastWithin bounds how long an attempt waits, once its workspace stands, for what its repository's history tells.
const pastWithin = 2 * time.Second

// pastFetch is the fetch of what commits changed, under way beside an attempt.
type pastFetch struct {
	got  chan []locate.Commit
	end  context.CancelFunc
	done chan struct{}
}

// fetchPast begins to fetch which files the commits behind the task's base changed. The caller calls close. It is only
// a help: an attempt does without where it fails or takes long, and what comes late is there for the next.
func (w *attemptWorker) fetchPast(ctx context.Context, t sia.Task) *pastFetch {
	ctx, end := context.WithCancel(ctx)
	f := &pastFetch{got: make(chan []locate.Commit, 1), end: end, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		names, err := w.mirror(t).FetchNames(ctx, string(t.BaseSHA))
		if err != nil && ctx.Err() == nil {
			w.Logger.InfoContext(ctx, "which files changed together is not known", "task", t.ID, "error", err)
		}
		past := make([]locate.Commit, len(names))
		for i, n := range names {
			past[i].Paths = n.Paths
		}
		f.got <- past
	}()
	return f
}

// wait returns what was fetched; nothing when it is not there within pastWithin.
func (f *pastFetch) wait(ctx context.Context) []locate.Commit {
	late := time.NewTimer(pastWithin)
	defer late.Stop()
	select {
	case past := <-f.got:
		return past
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}

// close ends the fetch and waits for its end.
func (f *pastFetch) close() {
	f.end()
	<-f.done
}
