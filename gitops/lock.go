package gitops

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// fileLocks are locks named by files. A lock excludes goroutines by a channel and other processes by the file; a killed
// process holds no lock.
type fileLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// lockPoll is how often a lock held by another process is tried.
const lockPoll = 20 * time.Millisecond

// lock waits for the lock and returns the function that releases it.
func (l *fileLocks) lock(ctx context.Context, path string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	turn := l.held[path]
	if turn == nil {
		turn = make(chan struct{}, 1)
		l.held[path] = turn
	}
	l.mu.Unlock()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for lock: %w", context.Cause(ctx))
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = lockFile(ctx, f)
	}
	if err != nil {
		f.Close()
		<-turn
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() {
		f.Close() // closing releases the file lock
		<-turn
	}, nil
}
