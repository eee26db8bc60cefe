package gitops

import (
	"os"
	"syscall"
)

// statOf is what tells, without reading a file, that it is as it was.
func statOf(st os.FileInfo) fileStat {
	s := fileStat{mtime: st.ModTime().UnixNano(), size: uint32(st.Size())}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		// The time of change cannot be set by a program, so that a file with a
		// time of modification that was put back is still noticed.
		s.ctime = sys.Ctim.Nano()
		s.dev, s.ino, s.uid, s.gid = uint32(sys.Dev), uint32(sys.Ino), sys.Uid, sys.Gid
	}
	return s
}
