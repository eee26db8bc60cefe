package gitops

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lockPoll is how often a lock held by somebody else is tried.
const lockPoll = 20 * time.Millisecond

// lock waits for the lock of a file and returns the function that releases it. It excludes goroutines and other
// processes alike, since a lock belongs to the open file. A killed process holds no lock.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = lockFile(ctx, f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
