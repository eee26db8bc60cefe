//go:build unix

package improve

import (
	"errors"
	"os"
	"syscall"
)

// tryLock holds a file until it is closed or the process ends, or says that another does.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errBusy
	}
	return err
}
