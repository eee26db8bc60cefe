package coder

import "slices"

// race adds concurrent coders when the best one's Chance is low: in the order of their net, each that increases the
// probability that one of them resolves the task, times the value, by more than its cost, within the budget. Failures
// are correlated as in a sequence, so a coder adds the probability that it resolves the task when the others fail.
// Without a value there is no race.
func (d *Decision) race(p Parameters, r Request, chosen int, bs []belief, after vector) {
	if p.Race < 2 || r.Alone || !(r.Value > 0) || d.Options[0].Chance >= p.RaceBelow {
		return
	}
	left, n := r.Left, 0
	sent := func(i int) {
		left -= bs[i].Cost
		for g := range after {
			after[g] *= 1 - bs[i].curve[g]
		}
		n++
		d.Options[i].Races = true
	}
	sent(chosen)
	for i := range bs {
		if n < p.Race && i != chosen && bs[i].Cost <= left && dot(&bs[i].curve, &after)*r.Value > bs[i].Cost {
			sent(i)
		}
	}
	if n == 1 {
		d.Options[chosen].Races = false
		return
	}
	d.Together = 1
	for _, lost := range after {
		d.Together -= lost
	}
}

// Racers returns the concurrent coders, the choice first; none without a race.
func Racers(os []Option, choice string) (names []string) {
	for _, o := range os {
		if o.Races && o.Coder != choice {
			names = append(names, o.Coder)
		}
	}
	if len(names) > 0 {
		names = slices.Insert(names, 0, choice)
	}
	return names
}
