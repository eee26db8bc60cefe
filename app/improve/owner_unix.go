//go:build unix

package improve

import (
	"io/fs"
	"os"
	"syscall"
)

// ownership is a file's owner, group, and number of hard links.
type ownership struct {
	known    bool
	uid, gid int
	links    uint64
}

func ownershipOf(info fs.FileInfo) ownership {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ownership{}
	}
	return ownership{true, int(st.Uid), int(st.Gid), uint64(st.Nlink)} //nolint:unconvert // its type differs by system
}

// apply sets a file's owner and group.
func (o ownership) apply(path string) error {
	if !o.known {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if now := ownershipOf(info); now.uid == o.uid && now.gid == o.gid {
		return nil
	}
	mode := info.Mode().Perm()
	if err := os.Lchown(path, o.uid, o.gid); err != nil {
		return err
	}
	return os.Chmod(path, mode) // a change of owner may clear mode bits
}
