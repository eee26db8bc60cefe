package gitops

import (
	"os"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// statOf returns an entry with the stat fields of git's index.
func statOf(st os.FileInfo) index.Entry {
	e := index.Entry{ModifiedAt: st.ModTime(), Size: uint32(st.Size())}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		// A program can't set the time of change, so a modified file with its old time of modification is still noticed.
		e.CreatedAt = time.Unix(sys.Ctim.Unix())
		e.Dev, e.Inode, e.UID, e.GID = uint32(sys.Dev), uint32(sys.Ino), sys.Uid, sys.Gid
	}
	return e
}
