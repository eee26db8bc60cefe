package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock is a second layer in the sandbox: regardless of mounts, a command can open only files in the folders that
// existed when it started, and write only where allowed. This program sets it up inside the sandbox and then executes
// the command. https://docs.kernel.org/userspace-api/landlock.html

// Access rights to files, in Landlock's terms.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	allRights = 1<<16 - 1
)

// landlockVersion returns the Landlock version of this kernel; 0: none.
func landlockVersion() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// landlockRights returns the rights that a version supports.
func landlockRights(version int) uint64 {
	rights := uint64(allRights)
	if version < 5 {
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version < 3 {
		rights &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	return rights
}

// restrictThread removes all file access rights of this thread, and of the programs that it starts, except to read in
// the folders of the root and to write in the given ones. The caller must have locked the thread.
func restrictThread(writable []string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("set up Landlock: %w", err)
		}
	}()
	version := landlockVersion()
	if version < minLandlock {
		return errors.New("this kernel has none")
	}
	rights := landlockRights(version)
	attr := unix.LandlockRulesetAttr{Access_fs: rights}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), 8, 0) // the first field
	if e != 0 {
		return e
	}
	defer unix.Close(int(fd))
	allow := func(path string, to uint64) error {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer unix.Close(at)
		var st unix.Stat_t
		if err := unix.Fstat(at, &st); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			to &= fileRights
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: to & rights, Parent_fd: int32(at)}
		if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, unix.LANDLOCK_RULE_PATH_BENEATH,
			uintptr(unsafe.Pointer(&rule)), 0, 0, 0); e != 0 {
			return fmt.Errorf("%s: %w", path, e)
		}
		return nil
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	if err := allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	for _, entry := range entries {
		to := uint64(readRights)
		if entry.Name() == "dev" {
			to |= unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
		}
		if err := allow("/"+entry.Name(), to); err != nil {
			return err
		}
	}
	for _, path := range writable {
		if err := allow(path, allRights); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); e != 0 {
		return e
	}
	runtime.KeepAlive(&attr)
	return nil
}
