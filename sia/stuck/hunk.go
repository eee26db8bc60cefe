package stuck

import (
	"hash/fnv"
	"slices"
	"strings"
)

// Similarity is how alike two diffs are, from their hunk hashes: the share of
// hunks that both have among all (the Jaccard index of multisets), 0–1. Two
// empty diffs are alike. Either order of hashes will do.
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

// Hunks hashes the changes of a unified diff, given line by line, and returns
// the hashes sorted. One change is a run of added and deleted lines of one file
// without a line of context between them. White space, blank lines and the
// position in the file don't count, so that a re-indented or moved change is the
// same change. Lines outside hunks and "\ No newline" notes are skipped.
func Hunks(diff []string) []uint64 {
	p := hunkParser{}
	for _, l := range diff {
		p.line(strings.TrimRight(l, "\r\n"))
	}
	p.flush()
	slices.Sort(p.hashes)
	return p.hashes
}

// hunkParser follows a unified diff. Inside a hunk the header's line counts tell
// a deleted line that begins with "-- " from a file header.
type hunkParser struct {
	path     string
	old, new int // lines that the hunk still has to come
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

// flush ends the change that was being collected.
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

// filePath is the path in a file header: without a tab and time, and without
// git's a/ and b/.
func filePath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if strings.HasPrefix(s, "a/") || strings.HasPrefix(s, "b/") {
		s = s[2:]
	}
	return s
}

// hunkHeader reads the line counts of "@@ -1,4 +1,6 @@".
func hunkHeader(l string) (old, new int) {
	f := strings.Fields(l)
	if len(f) < 3 {
		return 0, 0
	}
	return hunkLen(f[1], '-'), hunkLen(f[2], '+')
}

// hunkLen reads the n of "-line,n"; it is 1 when left out, and bounded.
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
