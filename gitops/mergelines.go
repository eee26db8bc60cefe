package gitops

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// MergeLabels name the sides in conflict markers, such as a branch or a commit.
type MergeLabels struct {
	Ours, Theirs string // "" is "ours" and "theirs"
}

// The conflict markers of git. Each begins a line.
const (
	markerOurs   = "<<<<<<< "
	markerMiddle = "======="
	markerTheirs = ">>>>>>> "
)

// joinedLines is the largest number of common lines between two conflicts that are shown as one, as in git.
const joinedLines = 3

// mergeText applies the changes from base to theirs to ours, line by line. Where both changed the same or adjacent
// lines differently, clean is false and the text holds both between conflict markers.
func mergeText(base, ours, theirs []byte, labels MergeLabels) (text []byte, clean bool) {
	b, o, t := linesWithEnds(base), linesWithEnds(ours), linesWithEnds(theirs)
	newline := "\n"
	if endInCRLF(b, o, t) {
		newline = "\r\n"
	}
	var out bytes.Buffer
	write := func(lines []string) {
		for _, l := range lines {
			out.WriteString(l)
		}
	}
	side := func(marker string, lines []string) {
		out.WriteString(marker + newline)
		write(lines)
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			out.WriteString(newline)
		}
	}
	clean = true
	for _, r := range mergeLines(b, o, t) {
		if r.kind != regionConflict {
			write(r.ours)
			continue
		}
		clean = false
		side(markerOurs+cmp.Or(cleanText(labels.Ours, 200), "ours"), r.ours)
		side(markerMiddle, r.theirs)
		side(markerTheirs+cmp.Or(cleanText(labels.Theirs, 200), "theirs"), nil)
	}
	return out.Bytes(), clean
}

// linesWithEnds splits a text into lines with their newlines: a last line without one differs from the same line with
// one.
func linesWithEnds(b []byte) []string { return slices.Collect(strings.Lines(string(b))) }

// endInCRLF reports whether the first line of every text that is not empty ends in CRLF.
func endInCRLF(texts ...[]string) bool {
	found := false
	for _, lines := range texts {
		if len(lines) > 0 {
			if !strings.HasSuffix(lines[0], "\r\n") {
				return false
			}
			found = true
		}
	}
	return found
}

// regionKind is the origin of lines of a merge.
type regionKind int

const (
	regionSame     regionKind = iota // both sides have them
	regionChanged                    // one side changed them
	regionConflict                   // the sides differ
)

// mergeRegion is a run of lines of a merge. Its slices have no spare capacity, so appending does not write into the
// texts.
type mergeRegion struct {
	kind   regionKind
	ours   []string // the merged lines, and in a conflict those of ours
	theirs []string // of a conflict
}

// mergeLines merges by the method of diff3: it finds the changes between base and each side, and treats changes of the
// two sides that overlap or touch as one.
func mergeLines(base, ours, theirs []string) []mergeRegion {
	x, y := settleSpans(base, ours), settleSpans(base, theirs)
	var regions []mergeRegion
	// Everything before these positions is merged.
	var atBase, atOurs, atTheirs int
	for len(x) > 0 || len(y) > 0 {
		from := len(base)
		for _, spans := range [][]lineSpan{x, y} {
			if len(spans) > 0 {
				from = min(from, spans[0].a)
			}
		}
		to := from
		var inOurs, inTheirs int
		for grown := true; grown; {
			n := inOurs + inTheirs
			for ; inOurs < len(x) && x[inOurs].a <= to; inOurs++ {
				to = max(to, x[inOurs].b)
			}
			for ; inTheirs < len(y) && y[inTheirs].a <= to; inTheirs++ {
				to = max(to, y[inTheirs].b)
			}
			grown = inOurs+inTheirs > n
		}
		same := from - atBase
		regions = appendSame(regions, base[atBase:from])
		o, t := ours[atOurs+same:sideEnd(x[:inOurs], atOurs-atBase, to)],
			theirs[atTheirs+same:sideEnd(y[:inTheirs], atTheirs-atBase, to)]
		switch {
		case inTheirs == 0:
			regions = append(regions, mergeRegion{kind: regionChanged, ours: o})
		case inOurs == 0:
			regions = append(regions, mergeRegion{kind: regionChanged, ours: t})
		default:
			regions = appendConflict(regions, o, t)
		}
		atBase, atOurs, atTheirs = to, atOurs+same+len(o), atTheirs+same+len(t)
		x, y = x[inOurs:], y[inTheirs:]
	}
	return appendSame(regions, base[atBase:])
}

// sideEnd is the position in a side that corresponds to position to in base. Before the spans, the side was shift lines
// ahead.
func sideEnd(spans []lineSpan, shift, to int) int {
	if len(spans) == 0 {
		return to + shift
	}
	last := spans[len(spans)-1]
	return last.d + to - last.b
}

func appendSame(regions []mergeRegion, lines []string) []mergeRegion {
	if len(lines) == 0 {
		return regions
	}
	if n := len(regions); n > 0 && regions[n-1].kind == regionSame {
		regions[n-1].ours = append(regions[n-1].ours, lines...)
		return regions
	}
	return append(regions, mergeRegion{kind: regionSame, ours: slices.Clip(lines)})
}

// appendConflict appends what both sides changed, without the lines on which they agree. A conflict close to the
// previous one is joined to it.
func appendConflict(regions []mergeRegion, ours, theirs []string) []mergeRegion {
	atOurs := 0
	for _, s := range settleSpans(ours, theirs) {
		regions = appendSame(regions, ours[atOurs:s.a])
		atOurs = s.b
		next := mergeRegion{regionConflict, slices.Clip(ours[s.a:s.b]), slices.Clip(theirs[s.c:s.d])}
		if n := len(regions); n > 1 && regions[n-1].kind == regionSame && regions[n-2].kind == regionConflict &&
			(len(regions[n-1].ours) <= joinedLines || !slices.ContainsFunc(regions[n-1].ours, hasLetter)) {
			between := regions[n-1].ours
			regions[n-2].ours = append(append(regions[n-2].ours, between...), next.ours...)
			regions[n-2].theirs = append(append(regions[n-2].theirs, between...), next.theirs...)
			regions = regions[:n-1]
			continue
		}
		regions = append(regions, next)
	}
	return appendSame(regions, ours[atOurs:])
}

func hasLetter(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	})
}

// settleSpans finds which lines changed. If equal lines follow, so that the added or removed lines could be others
// further down, it chooses the last of them, as git does: both sides and people see the same change at the same place.
func settleSpans(old, new []string) []lineSpan {
	spans := diffLines(old, new)
	settled := len(spans) // spans from here on are settled
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		for {
			if settled < len(spans) && s.b == spans[settled].a {
				s.b, s.d = spans[settled].b, spans[settled].d
				settled++
			}
			if s.b == len(old) || s.d == len(new) || s.a < s.b && s.c < s.d ||
				s.a < s.b && old[s.a] != old[s.b] || s.c < s.d && new[s.c] != new[s.d] {
				break
			}
			s = lineSpan{s.a + 1, s.b + 1, s.c + 1, s.d + 1}
		}
		settled--
		spans[settled] = s
	}
	return spans[settled:]
}
