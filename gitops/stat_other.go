//go:build !linux

package gitops

import (
	"os"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// statOf is an entry with what git's index keeps of a file's stat.
func statOf(st os.FileInfo) index.Entry {
	return index.Entry{CreatedAt: st.ModTime(), ModifiedAt: st.ModTime(), Size: uint32(st.Size())}
}
