package runner

import (
	"context"
	"time"
)

// Daily calls tidy, which removes cached code of repositories, immediately and every day until ctx ends: on an idle
// machine nothing else removes it.
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
