package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A write to a database that does not answer ends in an error for everybody in the group. It is not tried again for
// each of them.
func TestGroupCommitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		g := newGroupCommit(func(ctx context.Context, _ []int) error {
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
