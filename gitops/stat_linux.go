package gitops

import (
	"os"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// statOf is an entry with what git's index keeps of a file's stat.
func statOf(st os.FileInfo) index.Entry {
	e := index.Entry{ModifiedAt: st.ModTime(), Size: uint32(st.Size())}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		// The time of change cannot be set by a program, so that a file with a
		// time of modification that was put back is still noticed.
		e.CreatedAt = time.Unix(sys.Ctim.Unix())
		e.Dev, e.Inode, e.UID, e.GID = uint32(sys.Dev), uint32(sys.Ino), sys.Uid, sys.Gid
	}
	return e
}
