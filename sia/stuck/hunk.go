package stuck

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"
)

// Similarity returns the similarity of two diffs by their hunk hashes: the share
// of common hunks among all (the Jaccard index of multisets), 0–1. Two empty diffs
// have the similarity 1. The order of the hashes does not matter.
func Similarity(a, b []uint64) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	count := make(map[uint64]int, len(a))
	for _, h := range a {
		count[h]++
	}
	both := 0
	for _, h := range b {
		if count[h] > 0 {
			count[h]--
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// maxHashes bounds the hashes of one diff.
const maxHashes = 100_000

// Hunks returns the sorted hashes of the changes of a diff, given as hunks: each with its file's path and its lines,
// after ' ', '+' or '-'. One change is a run of added and deleted lines without a line of context between them. White
// space, blank lines and the position in the file are ignored: a re-indented or moved change is the same change. Of
// more than maxHashes changes, the least hashes are a sample that any two diffs share.
func Hunks(diff iter.Seq2[string, []string]) (hashes []uint64) {
	var added, deleted []string
	for path, lines := range diff {
		for _, l := range append(lines[:len(lines):len(lines)], " ") { // context ends the last change
			switch {
			case strings.HasPrefix(l, "+"):
				added = appendWords(added, l[1:])
			case strings.HasPrefix(l, "-"):
				deleted = appendWords(deleted, l[1:])
			case len(added)+len(deleted) > 0:
				hashes = append(hashes, hashChange(path, deleted, added))
				added, deleted = nil, nil
			}
		}
	}
	slices.Sort(hashes)
	return hashes[:min(len(hashes), maxHashes)]
}

// hashChange hashes one change.
func hashChange(path string, deleted, added []string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	for _, l := range deleted {
		h.Write([]byte("\n-" + l))
	}
	for _, l := range added {
		h.Write([]byte("\n+" + l))
	}
	return h.Sum64()
}

func appendWords(lines []string, l string) []string {
	if w := strings.Join(strings.Fields(l), " "); w != "" {
		lines = append(lines, w)
	}
	return lines
}
