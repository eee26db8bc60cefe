package failure

import (
	"cmp"
	"math"
	"slices"
)

// Limits on the choice.
const (
	maxChosen    = 200 // lines
	maxPlaces    = 8
	enoughBelief = 0.55 // places are shown in full until their beliefs add up to this …
	likelyBelief = 0.97 // … and further ones with one line each until they add up to this
	unsureBelief = 0.5  // below this belief in the first place, the failed command is shown, too
)

// place is a possible explanation of the failure: the blocks of one kind.
type place struct {
	best   *block
	blocks []*block // in the order of the log
	belief float64  // probability that this is the explanation, from 0 to 1
}

// choice is the set of places chosen to explain the failure.
type choice struct {
	best   *block   // best block of the first place; nil when nothing explains the failure
	places []place  // most likely first
	exit   *block   // the line with which the CI system ends the failed step, or nil
	ranked []*block // best block of each candidate, chosen or not, most likely first
	// commands of the failed step that the log shows
	command []textLine
}

// choiceOf returns the choice of one block.
func choiceOf(b *block) choice {
	return choice{best: b, places: []place{{best: b, blocks: []*block{b}, belief: 1}}, ranked: []*block{b}}
}

// choose picks the places that may explain the failure: a single one when it clearly leads, more when it does not. The
// beliefs of all places add up to 1, so more is shown when none of them is likely.
func (r *logReader) choose() choice {
	slices.SortStableFunc(r.kept, func(a, b *block) int { return cmp.Compare(a.start, b.start) })
	var c choice
	found, lines := 0.0, 0
	shown := map[int]bool{} // steps with a place
	for _, p := range r.candidates() {
		p.best = p.blocks[0]
		c.ranked = append(c.ranked, p.best)
		// Each failed step, and each job in a log of several, gets a place.
		alone := p.best.failed && !shown[p.best.step]
		if len(c.places) == maxPlaces || found >= likelyBelief && !alone {
			continue
		}
		if found >= enoughBelief && !alone {
			p.blocks = []*block{p.best.headline()}
		}
		found += p.belief
		if p.blocks = fitBlocks(p.blocks, &lines); len(p.blocks) == 0 {
			continue
		}
		shown[p.best.step] = true
		slices.SortStableFunc(p.blocks, func(a, b *block) int { return cmp.Compare(a.start, b.start) })
		c.places = append(c.places, p)
	}
	if len(c.places) == 0 {
		return c
	}
	c.best = c.places[0].best
	for _, e := range r.ended {
		if e.step == c.best.step {
			c.command = append(e.script, textLine{text: e.text})
		}
	}
	for _, e := range r.ended {
		if e.step == c.best.step && e.line > c.best.end && (e.actions || c.places[0].belief < unsureBelief) {
			c.exit = e.block()
			break
		}
	}
	return c
}

// candidates returns all places, the most likely first, with their blocks in the same order.
func (r *logReader) candidates() []place {
	rank := r.ranks()
	if len(rank) == 0 {
		return nil
	}
	highest := math.Inf(-1)
	for _, v := range rank {
		highest = max(highest, v)
	}
	all := 0.0
	index := map[kind]int{}
	var places []place
	for _, b := range r.kept {
		v := math.Exp(rank[b] - highest)
		rank[b] = v
		all += v
		i, known := index[b.kind()]
		if !known {
			i = len(places)
			index[b.kind()] = i
			places = append(places, place{})
		}
		places[i].blocks = append(places[i].blocks, b)
		places[i].belief += v
	}
	for i := range places {
		p := &places[i]
		p.belief /= all
		slices.SortStableFunc(p.blocks, func(a, b *block) int { return cmp.Compare(rank[b], rank[a]) })
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.belief, a.belief) })
	return places
}

// fitBlocks returns the blocks that fit within maxChosen lines and adds their sizes to lines.
func fitBlocks(bs []*block, lines *int) []*block {
	var out []*block
	for _, b := range bs {
		if n := min(b.size(), longBlock); *lines == 0 || *lines+n <= maxChosen {
			*lines += n
			out = append(out, b)
		}
	}
	return out
}

// isBest reports whether a block is the best block of a place.
func (c choice) isBest(b *block) bool {
	return slices.ContainsFunc(c.places, func(p place) bool { return p.best == b })
}

// chosenBlocks returns all chosen blocks in the order of the log.
func (c choice) chosenBlocks() []*block {
	var all []*block
	for _, p := range c.places {
		all = append(all, p.blocks...)
	}
	if c.exit != nil {
		all = append(all, c.exit)
	}
	slices.SortStableFunc(all, func(a, b *block) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	return all
}
