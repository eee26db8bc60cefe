package improve

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange has two files change names at once. On a file system that can't do that, fresh takes
// target's name, and exchanged is false: what had it is gone.
// https://man7.org/linux/man-pages/man2/renameat2.2.html
func exchange(fresh, target string) (exchanged bool, err error) {
	err = unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return false, os.Rename(fresh, target)
	}
	return err == nil, err
}
