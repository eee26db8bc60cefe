package failure

import (
	"cmp"
	"slices"
)

// Limits on how a block is shown, in lines.
const (
	longBlock  = 100 // blocks longer than this are shown in part
	longHead   = 6   // first lines of a long block
	longAround = 5   // lines around each of its highest-scoring lines
	nearBy     = 2   // maximum distance between spans that are joined
)

// spans returns the chosen line ranges in the order of the log.
func (c choice) spans() []Span {
	all := []Span{}
	for _, b := range c.chosenBlocks() {
		if b.size() <= longBlock {
			all = append(all, Span{b.start, b.end})
		} else {
			all = append(all, b.partialSpans()...)
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	out := []Span{}
	for _, s := range all {
		out = joinSpans(out, s)
	}
	return out
}

// joinSpans appends a span to ascending ones, or joins it to the last one if they are close.
func joinSpans(out []Span, s Span) []Span {
	if n := len(out); n > 0 && s.Start <= out[n-1].End+nearBy {
		out[n-1].End = max(out[n-1].End, s.End)
		return out
	}
	return append(out, s)
}

// partialSpans returns the important parts of a long block: its beginning, and the surroundings of its highest-scoring
// lines.
func (b *block) partialSpans() []Span {
	out := []Span{{b.start, b.start + longHead - 1}}
	for _, p := range slices.SortedFunc(slices.Values(b.peaks), func(a, b peakLine) int { return cmp.Compare(a.n, b.n) }) {
		out = joinSpans(out, Span{max(b.start, p.n-longAround), min(b.end, p.n+longAround)})
	}
	return out
}
