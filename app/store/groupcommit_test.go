package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A write to an unresponsive database fails for the whole group. It is not retried for each item.
func TestGroupCommitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		g := newGroupCommit(nil, func(ctx context.Context, _ []int) error {
			writes++
			<-ctx.Done()
			return ctx.Err()
		})
		group := []queuedItem[int]{{1, make(chan error, 1)}, {2, make(chan error, 1)}}
		g.commit(t.Context(), group)
		for _, q := range group {
			if err := <-q.written; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d: %v", q.item, err)
			}
		}
		if writes != 1 {
			t.Errorf("%d writes, want 1", writes)
		}
	})
}

// After a large group the next one waits briefly for as many items. A single caller is not delayed.
func TestGroupWaits(t *testing.T) {
	for _, c := range []struct {
		last, arrive int // in the group before; one every 0.6 ms
		want         int
		after        time.Duration
	}{
		{last: 1, arrive: 3, want: 1},
		{last: groupThreshold, arrive: groupThreshold - 1, want: groupThreshold, after: 1800 * time.Microsecond},
		{last: groupThreshold, arrive: 1, want: 2, after: groupWait},
		{last: 20, arrive: 30, want: 4, after: groupWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroupCommit(nil, func(context.Context, []int) error { return nil })
			began := time.Now()
			var arriving sync.WaitGroup
			arriving.Go(func() {
				for range c.arrive {
					time.Sleep(600 * time.Microsecond)
					g.queue <- queuedItem[int]{}
				}
			})
			group := g.gather(queuedItem[int]{}, c.last)
			after := time.Since(began)
			if len(group) != c.want || after != c.after {
				t.Errorf("after %d, %d arrived: %d in the group after %s", c.last, c.arrive, len(group), after)
			}
			arriving.Wait()
		})
	}
}
