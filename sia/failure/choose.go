package failure

import (
	"cmp"
	"slices"
)

// drop forgets the weakest blocks, so that half of the room is free again. Of
// equals the later ones go.
func (r *reader) drop() {
	slices.SortStableFunc(r.kept, func(a, b *block) int {
		return cmp.Or(cmp.Compare(r.rank(b), r.rank(a)), cmp.Compare(a.order, b.order))
	})
	clear(r.kept[maxKept/2:])
	r.kept = r.kept[:maxKept/2]
}

// resultRank is what a block is worth at most that says that something above has
// failed, and not why.
const resultRank = 38

// rank is how well a block explains the failure.
func (r *reader) rank(b *block) float64 {
	s := b.rule.weight + min(b.score, 30)/3
	if b.lift != nil {
		s += max(0, b.lift.weight-b.rule.weight)
	}
	if b.rule.body && b.size() == 1 {
		s = min(s, general.weight)
	}
	if b.explains {
		s = max(s, aboveRule.weight)
	}
	if b.result && b.inner == nil && b.rule.class != TestFailure {
		s = min(s, resultRank)
	}
	switch {
	case b.step < 0:
		s -= 40
	case b.failed:
		s += 25
		if len(r.ended) > 0 && b.step == r.ended[0].step {
			s += 6
		}
		s -= b.noise(b.far)
	case len(r.ended) > 0:
		s -= 35
	default:
		s -= b.noise(r.total - b.end)
	}
	if b.red {
		s += 3
	}
	if b.known > 0 && b.known*2 >= b.size() {
		s -= 60
	}
	return s
}

// noise is what a block loses for standing far above the end of its step: words
// such as "connection refused" are in many logs that passed, too.
func (b *block) noise(far int) float64 {
	if !b.rule.soft {
		return 0
	}
	switch b.rule.class {
	case Infrastructure, OutOfMemory, Timeout, Cancelled, RateLimit:
		return 0
	}
	return min(float64(far)/8, 20)
}

// Bounds of an excerpt.
const (
	maxExcerpt = 60  // lines of all its spans
	longBlock  = 100 // from so many lines on a block is told by its telling parts
	longHead   = 6
	longAround = 5
	nearBy     = 2 // lines between blocks that are told as one
)

// choose picks the blocks that explain the failure, in order.
func (r *reader) choose() (chosen []*block, best *block) {
	if len(r.kept) == 0 {
		return nil, nil
	}
	best = r.kept[0]
	for _, b := range r.kept[1:] {
		if d := cmp.Compare(r.rank(b), r.rank(best)); d > 0 || d == 0 && b.order < best.order {
			best = b
		}
	}
	for _, b := range r.kept {
		// The first of failures of one kind, unless a later one tells much more.
		if b.rule == best.rule && b.step == best.step && b.order < best.order && r.rank(b) > r.rank(best)-4 {
			best = b
		}
	}
	chosen = []*block{best}
	lines := best.size()
	byOrder := slices.SortedFunc(slices.Values(r.kept), func(a, b *block) int { return cmp.Compare(a.order, b.order) })
	for _, b := range byOrder {
		if b == best || lines+b.size() > maxExcerpt || b.step != best.step || r.rank(b) < r.rank(best)-6 {
			continue
		}
		if b.rule.class != best.rule.class {
			continue
		}
		chosen = append(chosen, b)
		lines += b.size()
	}
	if other := r.runnerUp(chosen, best); other != nil && lines+other.size() <= maxExcerpt {
		chosen = append(chosen, other)
	}
	if v := r.verdict(chosen, best); v != nil {
		chosen = append(chosen, v)
	}
	for _, b := range r.kept {
		if b.rule.exit && b.step == best.step && b.start > best.end {
			chosen = append(chosen, b)
			break
		}
	}
	slices.SortFunc(chosen, func(a, b *block) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return chosen, best
}

// Bounds of a second explanation.
const (
	secondGap   = 14 // how much weaker it may be than the best
	secondLines = 80
)

// runnerUp is the best block of another kind, when it is nearly as good.
func (r *reader) runnerUp(chosen []*block, best *block) *block {
	var second *block
	for _, b := range r.kept {
		if slices.Contains(chosen, b) || b.rule == best.rule || best.failed && b.step != best.step || b.size() > secondLines || r.rank(b) < r.rank(best)-secondGap {
			continue
		}
		if second == nil || r.rank(b) > r.rank(second) {
			second = b
		}
	}
	return second
}

// verdict is what the tool itself says in the end about the failure that was chosen.
func (r *reader) verdict(chosen []*block, best *block) *block {
	for _, b := range slices.Backward(r.kept) {
		if b.rule.tells && b.step == best.step && b.start > best.end && b.size() <= secondLines && !slices.Contains(chosen, b) {
			return b
		}
	}
	return nil
}

// spans are the line ranges of blocks; ranges that touch become one.
func spans(bs []*block) []Span {
	out := []Span{}
	for _, b := range bs {
		if b.size() > longBlock {
			for _, s := range b.telling() {
				out = join(out, s)
			}
			continue
		}
		out = join(out, Span{b.start, b.end})
	}
	return out
}

// join adds a span to ascending ones; spans that touch become one.
func join(out []Span, s Span) []Span {
	if n := len(out); n > 0 && s.Start <= out[n-1].End+nearBy {
		out[n-1].End = max(out[n-1].End, s.End)
		return out
	}
	return append(out, s)
}

// telling are the parts of a long block that tell most: its beginning, and what
// stands around its most telling lines.
func (b *block) telling() []Span {
	out := []Span{{b.start, b.start + longHead - 1}}
	peaks := slices.SortedFunc(slices.Values(b.peaks), func(a, b peak) int { return cmp.Compare(a.n, b.n) })
	for _, p := range peaks {
		out = join(out, Span{max(b.start, p.n-longAround), min(b.end, p.n+longAround)})
	}
	return out
}

// explaining are the chosen blocks that tell the same as the best, without the
// second explanation and the tool's and the CI system's verdicts.
func explaining(chosen []*block, best *block) []*block {
	var bs []*block
	for _, b := range chosen {
		if b == best || b.rule.class == best.rule.class && !b.rule.exit && !b.rule.tells {
			bs = append(bs, b)
		}
	}
	return bs
}
