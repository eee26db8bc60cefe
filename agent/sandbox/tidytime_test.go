//go:build linux

package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// Tidying up may outlast whoever runs the command by ten seconds, and takes a minute at most.
func TestTidyingEnds(t *testing.T) {
	for name, c := range map[string]struct{ cancelled, want time.Duration }{
		"at once":     {0, tidyWithin},
		"later":       {20 * time.Second, 20*time.Second + tidyWithin},
		"much later":  {55 * time.Second, tidyAtMost},
		"not at all":  {time.Hour, tidyAtMost},
		"when it was": {tidyAtMost, tidyAtMost},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), c.cancelled)
			defer cancel()
			late, done := withTimeToTidy(ctx)
			defer done()
			<-late.Done()
			if took := time.Since(began); took != c.want || !errors.Is(context.Cause(late), errUntidy) {
				t.Errorf("cancelled %s: after %s, %v; want %s", name, took, context.Cause(late), c.want)
			}
		})
	}
}

// A walk ends with its context, wherever it is.
func TestWalkIsCancelled(t *testing.T) {
	tree := t.TempDir()
	if err := os.MkdirAll(filepath.Join(tree, "a", "b", "c", "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over, met := errors.New("over"), 0
	err := walkTree(ctx, tree, func(walkedEntry) error {
		if met++; met == 2 {
			cancel(over)
		}
		return nil
	}, nil)
	if !errors.Is(err, over) || met != 2 {
		t.Errorf("%d were met: %v", met, err)
	}
}
