package stuck

import (
	"hash/fnv"
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

// Hunks returns the sorted hashes of the changes of a unified diff, given line by
// line. One change is a run of added and deleted lines of one file without a line
// of context between them. White space, blank lines and the position in the file
// are ignored, so that a re-indented or moved change is the same change. Lines
// outside hunks and "\ No newline" notes are skipped.
func Hunks(diff []string) []uint64 {
	p := hunkParser{}
	for _, l := range diff {
		p.line(strings.TrimRight(l, "\r\n"))
	}
	p.flush()
	slices.Sort(p.hashes)
	return p.hashes
}

// hunkParser parses a unified diff. Inside a hunk the header's line counts
// distinguish a deleted line that begins with "-- " from a file header.
type hunkParser struct {
	path     string
	old, new int // remaining lines of the hunk
	added    []string
	deleted  []string
	hashes   []uint64
}

func (p *hunkParser) line(l string) {
	if p.old <= 0 && p.new <= 0 {
		p.outside(l)
		return
	}
	switch {
	case strings.HasPrefix(l, "+"):
		p.new--
		p.added = appendWords(p.added, l[1:])
	case strings.HasPrefix(l, "-"):
		p.old--
		p.deleted = appendWords(p.deleted, l[1:])
	case strings.HasPrefix(l, `\`):
	default: // context; an empty line is a context line that lost its space
		p.old--
		p.new--
		p.flush()
	}
	if p.old <= 0 && p.new <= 0 {
		p.flush()
	}
}

func (p *hunkParser) outside(l string) {
	switch {
	case strings.HasPrefix(l, "--- "):
		if path := filePath(l[4:]); path != "/dev/null" {
			p.path = path
		}
	case strings.HasPrefix(l, "+++ "):
		if path := filePath(l[4:]); path != "/dev/null" {
			p.path = path
		}
	case strings.HasPrefix(l, "@@ "):
		p.old, p.new = hunkHeader(l)
	}
}

// flush ends the current change.
func (p *hunkParser) flush() {
	if len(p.added) == 0 && len(p.deleted) == 0 {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(p.path))
	for _, l := range p.deleted {
		h.Write([]byte("\n-" + l))
	}
	for _, l := range p.added {
		h.Write([]byte("\n+" + l))
	}
	p.hashes = append(p.hashes, h.Sum64())
	p.added, p.deleted = nil, nil
}

func appendWords(lines []string, l string) []string {
	if w := strings.Join(strings.Fields(l), " "); w != "" {
		lines = append(lines, w)
	}
	return lines
}

// filePath returns the path in a file header, without a tab and time, and without
// git's a/ and b/.
func filePath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if strings.HasPrefix(s, "a/") || strings.HasPrefix(s, "b/") {
		s = s[2:]
	}
	return s
}

// hunkHeader parses the line counts of "@@ -1,4 +1,6 @@".
func hunkHeader(l string) (old, new int) {
	f := strings.Fields(l)
	if len(f) < 3 {
		return 0, 0
	}
	return hunkLen(f[1], '-'), hunkLen(f[2], '+')
}

// hunkLen parses the n of "-line,n"; it is 1 if omitted, and bounded.
func hunkLen(s string, sign byte) int {
	if s == "" || s[0] != sign {
		return 0
	}
	_, n, ok := strings.Cut(s, ",")
	if !ok {
		return 1
	}
	v := 0
	for _, c := range n {
		if c < '0' || c > '9' || v > 1<<24 {
			return 0
		}
		v = v*10 + int(c-'0')
	}
	return v
}
