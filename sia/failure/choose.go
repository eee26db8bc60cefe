package failure

import (
	"cmp"
	"math"
	"slices"
)

// Bounds of what is chosen.
const (
	maxChosen = 200 // lines
	maxPlaces = 8
	enough    = 0.55 // places are shown until their beliefs make so much together …
	likely    = 0.97 // … and one line of each further one until they make so much
	unsure    = 0.5  // with less belief in the first place the command that failed is named, too
)

// place is where the log may explain the failure: blocks of one kind.
type place struct {
	best   *block
	blocks []*block // in the order of the log
	belief float64  // how likely it is that this is it, from 0 to 1
}

// choice is what explains the failure.
type choice struct {
	best   *block   // the first place's; nil when nothing explains the failure
	places []place  // the most likely first
	exit   *block   // how the CI system ends the failed step, or nil
	ranked []*block // the best block of each candidate, chosen or not, the likeliest first
	// what the failed step ran, as far as the log shows it
	command []textLine
}

// choiceOf is the choice of one block.
func choiceOf(b *block) choice {
	return choice{best: b, places: []place{{best: b, blocks: []*block{b}, belief: 1}}, ranked: []*block{b}}
}

// choose picks the places that may explain the failure: one where it stands out, and more the less it does.
// The beliefs are shares of all blocks', so what is shown grows with the doubt.
func (r *logReader) choose() choice {
	slices.SortStableFunc(r.kept, func(a, b *block) int { return cmp.Compare(a.start, b.start) })
	var c choice
	found, lines := 0.0, 0
	shown := map[int]bool{} // steps with a place
	for _, p := range r.candidates() {
		p.best = p.blocks[0]
		c.ranked = append(c.ranked, p.best)
		// Each step that failed says something, and so does each job of a log of several.
		alone := p.best.failed && !shown[p.best.step]
		if len(c.places) == maxPlaces || found >= likely && !alone {
			continue
		}
		if found >= enough && !alone {
			p.blocks = []*block{p.best.headline()}
		}
		found += p.belief
		if p.blocks = fitting(p.blocks, &lines); len(p.blocks) == 0 {
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
		if e.step == c.best.step && e.line > c.best.end && (e.actions || c.places[0].belief < unsure) {
			c.exit = e.block()
			break
		}
	}
	return c
}

// candidates are all places, the most likely first, with their blocks in the same order.
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

// fitting are those of a place's blocks for which there is room.
func fitting(bs []*block, lines *int) []*block {
	var out []*block
	for _, b := range bs {
		if n := min(b.size(), longBlock); *lines == 0 || *lines+n <= maxChosen {
			*lines += n
			out = append(out, b)
		}
	}
	return out
}

// tells reports whether a block is the best one of a place.
func (c choice) tells(b *block) bool {
	return slices.ContainsFunc(c.places, func(p place) bool { return p.best == b })
}

// chosenBlocks are all chosen blocks in the order of the log.
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
