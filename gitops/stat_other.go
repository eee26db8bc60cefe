//go:build !linux

package gitops

import (
	"os"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// statOf returns an entry with the stat fields of git's index.
func statOf(st os.FileInfo) index.Entry {
	return index.Entry{CreatedAt: st.ModTime(), ModifiedAt: st.ModTime(), Size: uint32(st.Size())}
}
