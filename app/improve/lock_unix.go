//go:build unix

package improve

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file until it is closed or the process ends. It returns errBusy if another process holds the lock.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errBusy
	}
	return err
}
