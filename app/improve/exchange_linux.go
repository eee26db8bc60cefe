package improve

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange atomically swaps the names of two files. On a file system without support for that, fresh replaces target,
// and exchanged is false.
// https://man7.org/linux/man-pages/man2/renameat2.2.html
func exchange(fresh, target string) (exchanged bool, err error) {
	err = unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return false, os.Rename(fresh, target)
	}
	return err == nil, err
}
