package tool

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// maxIndex is the maximum size of git's index, in bytes; an index of maxEntries files is smaller.
const maxIndex = 32 << 20

// trackedFiles are the files that git tracks, sorted. A .gitignore does not apply to them.
type trackedFiles []string

// readTracked reads the index of a work tree. If it can't, it returns none.
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

// has reports whether a file, or a file in a folder, is tracked.
func (t trackedFiles) has(p string, folder bool) bool {
	if folder {
		p += "/"
	}
	i, found := slices.BinarySearch(t, p)
	return found || folder && i < len(t) && strings.HasPrefix(t[i], p)
}
