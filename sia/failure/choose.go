package failure

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of what is chosen, in lines and in rank below the best block.
const (
	maxChosen  = 200 // lines of the blocks that tell of the same failure
	sameGap    = 6.0
	firstGap   = 4.0
	otherGap   = 11.0
	guessGap   = 12.0
	maxGuesses = 3
	farAway    = 20 // lines between two tellings of one failure that are not parts of one
	maxOther   = 80 // lines of a second explanation, and of a verdict
)

// choice is what explains the failure.
type choice struct {
	best    *block   // nil when nothing does
	alike   []*block // the best, and those that tell of the same failure
	other   []*block // explanations of other kinds, nearly as good
	verdict *block   // what the tool itself says in the end, or nil
	exit    *block   // how the CI system ends the failed step, or nil
}

// choose picks the blocks that explain the failure.
func (r *logReader) choose() choice {
	var c choice
	slices.SortStableFunc(r.kept, func(a, b *block) int { return cmp.Compare(a.start, b.start) })
	r.dropRepeated()
	rank := make(map[*block]float64, len(r.kept))
	for _, b := range r.kept {
		rank[b] = r.rank(b)
		if b.warns && slices.ContainsFunc(r.kept, b.outdoneBy) {
			rank[b] += besideErrors
		}
		if c.best == nil || rank[b] > rank[c.best] {
			c.best = b
		}
	}
	if c.best == nil {
		return c
	}
	for _, b := range r.kept {
		// The first of failures of one kind, unless a later one tells much more.
		if b.rule == c.best.rule && b.step == c.best.step && b.start < c.best.start && rank[b] > rank[c.best]-firstGap {
			c.best = b
		}
	}
	top := rank[c.best]
	c.alike = []*block{c.best}
	lines := c.best.size()
	for _, b := range r.kept {
		if b != c.best && b.step == c.best.step && sameKind(b.rule, c.best.rule) && rank[b] >= top-sameGap &&
			lines+b.size() <= maxChosen && !repeats(b, c.alike) {
			c.alike = append(c.alike, b)
			lines += b.size()
		}
	}
	c.other = r.otherBlocks(c, rank, maxChosen-lines)
	for _, b := range r.kept {
		if b.rule == &exitRule && b.step == c.best.step && b.start > c.best.end {
			c.exit = b
			break
		}
	}
	for _, b := range slices.Backward(r.kept) {
		if b.rule.tells && b.step == c.best.step && b.start > c.best.end && b.size() <= maxOther &&
			!slices.Contains(c.other, b) && !slices.Contains(c.alike, b) {
			c.verdict = b
			break
		}
	}
	return c
}

// otherBlocks are the blocks of other kinds that explain the failure nearly as well
// as the best: one, and more where the best is a guess.
func (r *logReader) otherBlocks(c choice, rank map[*block]float64, room int) []*block {
	most, gap := 1, otherGap
	guess := c.best.result || c.best.rule == &generalRule || c.best.rule == &aboveRule || c.best.rule == &endRule ||
		c.best.rule == &lastRule
	if guess {
		most, gap = maxGuesses, guessGap
	}
	byRank := slices.Clone(r.kept)
	slices.SortStableFunc(byRank, func(a, b *block) int { return cmp.Compare(rank[b], rank[a]) })
	var others []*block
	for _, b := range byRank {
		switch {
		case len(others) == most || rank[b] < rank[c.best]-gap:
			return others
		case slices.Contains(c.alike, b), b.rule == &exitRule, b.rule == c.best.rule && !guess,
			c.best.rule == &aboveRule && b.result,
			b.step != c.best.step && c.best.failed, c.best.annotated && !b.annotated, b.size() > min(maxOther, room),
			repeats(b, slices.Concat(c.alike, others)):
			continue
		}
		others = append(others, b)
		room -= b.size()
	}
	return others
}

// dropRepeated forgets blocks that say what another one of the step says, word for word. Of a test
// or a compiler the first telling counts: what follows is a summary, or a second build. Of an error
// that was met again on each try the last one counts: the others were survived.
func (r *logReader) dropRepeated() {
	type key struct {
		step int
		said string
	}
	last := map[key]*block{}
	drop := map[*block]bool{}
	for _, b := range r.kept {
		k := key{b.step, saying(b)}
		switch before := last[k]; {
		case before == nil:
		case b.rule.soft:
			drop[before] = true
		default:
			drop[b] = true
			continue
		}
		last[k] = b
	}
	r.kept = slices.DeleteFunc(r.kept, func(b *block) bool { return drop[b] })
}

// repeats reports whether most lines of a block are said by others that stand far away, so that it adds
// little: a summary, or the same step once more.
func repeats(b *block, others []*block) bool {
	said := map[string]bool{}
	for _, o := range others {
		if max(b.start-o.end, o.start-b.end) < farAway {
			return false
		}
		for _, l := range o.lines() {
			said[strings.TrimSpace(l.text)] = true
		}
	}
	known, all := 0, 0
	for _, l := range b.lines() {
		if t := strings.TrimSpace(l.text); t != "" {
			all++
			if said[t] {
				known++
			}
		}
	}
	return known*3 > all*2
}

// saying is what a block says, word for word.
func saying(b *block) string {
	var s strings.Builder
	for _, l := range b.lines() {
		s.WriteString(l.text)
		s.WriteByte('\n')
	}
	return s.String()
}

// sameKind reports whether two rules tell of one kind of failure.
func sameKind(a, b *rule) bool { return a == b || a.class == b.class && a.class != Unknown }

// chosenBlocks are all chosen blocks in the order of the log.
func (c choice) chosenBlocks() []*block {
	all := slices.Concat(c.alike, c.other)
	for _, b := range []*block{c.verdict, c.exit} {
		if b != nil {
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a,
		b *block) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	return all
}

// explainingBlocks are the blocks that tell of the failure itself, in the order of the
// log.
func (c choice) explainingBlocks() []*block {
	var bs []*block
	for _, b := range c.chosenBlocks() {
		if b == c.best || b.rule.class == c.best.rule.class && b != c.exit && !b.rule.tells {
			bs = append(bs, b)
		}
	}
	return bs
}
