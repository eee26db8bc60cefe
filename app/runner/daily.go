package runner

import (
	"context"
	"time"
)

// Daily tidies what a machine keeps of repositories' code, at once and every day until ctx ends: where no work comes,
// nothing else removes it.
func Daily(ctx context.Context, tidy func()) {
	for {
		tidy()
		select {
		case <-ctx.Done():
			return
		case <-time.After(24 * time.Hour):
		}
	}
}
