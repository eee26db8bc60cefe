//go:build unix

package store

import (
	"fmt"
	"os"
	"syscall"

	"github.com/sia-bot/sia/sia"
)

// lock takes a file lock that the operating system releases when the process
// ends, however it ends.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, &sia.Error{Op: "lock the database", Permanent: true, Err: err,
			Message: "another SIA works on this database (" + path + " is locked); stop it first, or name another database"}
	}
	return f.Close, nil
}
