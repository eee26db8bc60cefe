package failure

import (
	"cmp"
	"slices"
)

// Bounds of how a block is shown, in lines.
const (
	longBlock  = 100 // from so many lines on only its telling parts are shown
	longHead   = 6
	longAround = 5
	nearBy     = 2 // between spans that become one
)

// spans are the chosen line ranges in the order of the log.
func (c choice) spans() []Span {
	all := []Span{}
	for _, b := range c.chosenBlocks() {
		if b.size() <= longBlock {
			all = append(all, Span{b.start, b.end})
		} else {
			all = append(all, b.tellingSpans()...)
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	out := []Span{}
	for _, s := range all {
		out = joinSpans(out, s)
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
