package failure

import (
	"cmp"
	"slices"
)

// Bounds of how a block is told, in lines.
const (
	longBlock  = 250 // from so many lines on it is told by its telling parts
	longHead   = 6
	longAround = 5
	nearBy     = 2 // between spans that become one
)

// blockSpans are the line ranges of blocks in the order of the log.
func blockSpans(bs []*block) []Span {
	out := []Span{}
	for _, b := range bs {
		if b.size() <= longBlock {
			out = joinSpans(out, Span{b.start, b.end})
			continue
		}
		for _, s := range b.tellingSpans() {
			out = joinSpans(out, s)
		}
	}
	return out
}

// joinSpans adds a span to ascending ones; spans that touch become one.
func joinSpans(out []Span, s Span) []Span {
	if n := len(out); n > 0 && s.Start <= out[n-1].End+nearBy {
		out[n-1].End = max(out[n-1].End, s.End)
		return out
	}
	return append(out, s)
}

// tellingSpans are the parts of a long block that tell most: its beginning, and what
// stands around its most telling lines.
func (b *block) tellingSpans() []Span {
	out := []Span{{b.start, b.start + longHead - 1}}
	for _, p := range slices.SortedFunc(slices.Values(b.peaks), func(a, b peakLine) int { return cmp.Compare(a.n, b.n) }) {
		out = joinSpans(out, Span{max(b.start, p.n-longAround), min(b.end, p.n+longAround)})
	}
	return out
}
