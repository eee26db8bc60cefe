package coder

import "slices"

// race sends others at the same task at once, where the best one's chance is low: in the
// order of their value, whoever adds more to the chance that one of them resolves it, times
// the value, than it costs, as long as all of them can be paid. A failure of one says as
// much about the next as when they work one after the other, so what somebody adds is the
// chance that it resolves what the others do not. Without a value nobody races.
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

// Racers are those who work at once, the choice first; none, where one works.
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
