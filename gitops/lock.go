package gitops

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// lockPoll is how often a lock held by somebody else is tried.
const lockPoll = 20 * time.Millisecond

// Lock waits for the lock of a file and returns the function that releases it. It excludes goroutines and other
// processes alike, since a lock belongs to the open file. A killed process holds no lock. If ctx has ended, a lock held
// by somebody else is an error. The file is created unless it exists, but not its folder.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = lockFile(ctx, f)
	}
	if err == nil {
		err = isAt(f, path)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// isAt returns [fs.ErrNotExist] if a file was removed or moved since it was opened, and so locks nothing.
func isAt(f *os.File, path string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) {
		return fs.ErrNotExist
	}
	return nil
}
