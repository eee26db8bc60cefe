package tool

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// maxIndex bounds git's index, in bytes: that of so many files as a walk visits is smaller.
const maxIndex = 32 << 20

// trackedFiles are the files that git tracks, sorted: what a .gitignore says of them counts for nothing.
type trackedFiles []string

// readTracked reads the index of a work tree. There are none where it can't be read.
func readTracked(root *os.Root) trackedFiles {
	f, _, err := openRegular(root, ".git/index")
	if err != nil {
		return nil
	}
	defer f.Close()
	var ix index.Index
	if err := index.NewDecoder(io.LimitReader(f, maxIndex)).Decode(&ix); err != nil {
		return nil
	}
	all := make(trackedFiles, len(ix.Entries))
	for i, e := range ix.Entries {
		all[i] = e.Name
	}
	slices.Sort(all)
	return all
}

// has reports whether a file is tracked, or something in a folder.
func (t trackedFiles) has(p string, folder bool) bool {
	if folder {
		p += "/"
	}
	i, found := slices.BinarySearch(t, p)
	return found || folder && i < len(t) && strings.HasPrefix(t[i], p)
}
