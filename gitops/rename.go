package gitops

import (
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

const (
	// maxRenamePairs bounds the pairs of files that are compared for similarity.
	maxRenamePairs = 2500
	// renameLikeness is the share of lines that a renamed file keeps, as git's default.
	renameLikeness = 0.5
	// maxRenameFile bounds a file that is compared for similarity, in bytes.
	maxRenameFile = 256 << 10
	// maxRenameBytes bounds the removed files that are held in memory for comparison. Beyond it, nothing is paired by
	// similarity.
	maxRenameBytes = 16 << 20
	// lineCost is the memory that counting a line needs in addition to its text, in bytes.
	lineCost = 48
)

// pairRenames turns a removal and an addition of the same or nearly the same file into one rename.
func pairRenames(ctx context.Context, changes []treeChange, old, new blobOpener) ([]comparison, error) {
	files := make([]comparison, len(changes))
	var gone, came []int
	for i, c := range changes {
		files[i] = comparison{FileDiff: FileDiff{Path: c.path, Status: FileModified}, old: c.old, new: c.new}
		switch {
		case c.old.mode == filemode.Empty:
			files[i].Status = FileAdded
			if c.new.mode.IsFile() {
				came = append(came, i)
			}
		case c.new.mode == filemode.Empty:
			files[i].Status = FileDeleted
			if c.old.mode.IsFile() {
				gone = append(gone, i)
			}
		}
	}
	taken := map[int]bool{}
	pair := func(g, n int) {
		taken[g], taken[n] = true, true
		files[n].Status, files[n].OldPath, files[n].old = FileRenamed, files[g].Path, files[g].old
	}
	byID := map[plumbing.Hash][]int{}
	for _, g := range gone {
		byID[files[g].old.id] = append(byID[files[g].old.id], g)
	}
	for _, n := range came {
		same := byID[files[n].new.id]
		if len(same) > 0 && kindOfMode(files[same[0]].old.mode) == kindOfMode(files[n].new.mode) {
			pair(same[0], n)
			byID[files[n].new.id] = same[1:]
		}
	}
	free := func(i int) bool { return taken[i] }
	gone, came = slices.DeleteFunc(gone, free), slices.DeleteFunc(came, free)
	if n := len(gone) * len(came); n > 0 && n <= maxRenamePairs {
		if err := pairLike(ctx, files, gone, came, old, new, pair); err != nil {
			return nil, err
		}
	}
	kept := files[:0]
	for i := range files {
		if !taken[i] || files[i].Status == FileRenamed {
			kept = append(kept, files[i])
		}
	}
	return kept, nil
}

// pairLike pairs each addition with the removal with which it shares most lines.
func pairLike(
	ctx context.Context, files []comparison, gone, came []int, old, new blobOpener, pair func(g, n int),
) error {
	held := 0
	count := func(e treeEntry, open blobOpener) (map[string]int, int, error) {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if !isRegular(e.mode) {
			return nil, 0, nil
		}
		in, size, err := open(e.id)
		if errors.Is(err, ErrTooLarge) {
			return nil, 0, nil
		} else if err != nil {
			return nil, 0, err
		}
		in.Close()
		if size > maxRenameFile {
			return nil, 0, nil
		}
		b, binary, _, err := readText(e, open)
		if err != nil || binary {
			return nil, 0, err
		}
		lines, _ := splitLines(b)
		n := map[string]int{}
		for _, l := range lines {
			n[l]++
		}
		held += len(b) + lineCost*len(n)
		return n, len(lines), nil
	}
	type text struct {
		lines map[string]int
		total int
	}
	before := make([]text, len(gone))
	for i, g := range gone {
		lines, total, err := count(files[g].old, old)
		if err != nil {
			return err
		}
		if held > maxRenameBytes {
			return nil
		}
		before[i] = text{lines, total}
	}
	used := make([]bool, len(gone))
	for _, n := range came {
		lines, total, err := count(files[n].new, new)
		if err != nil {
			return err
		}
		best, share := -1, renameLikeness
		for i, b := range before {
			if used[i] || b.total == 0 || total == 0 {
				continue
			}
			same := 0
			for l, k := range lines {
				same += min(k, b.lines[l])
			}
			if s := float64(same) / float64(max(b.total, total)); s > share {
				best, share = i, s
			}
		}
		if best >= 0 {
			used[best] = true
			pair(gone[best], n)
		}
	}
	return nil
}

func isRegular(m filemode.FileMode) bool {
	return m == filemode.Regular || m == filemode.Executable || m == filemode.Deprecated
}
