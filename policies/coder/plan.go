package coder

import (
	"math"
	"slices"
)

// plan looks for the sequence of coders with the highest expected net value. All
// that is seen on the way is failures, for a success ends the task. So the best policy
// is a sequence, and where it ends. Were coders independent and attempts without
// number, it would be the order of their costs per success (Weitzman 1979); with
// five attempts at most, a cheap coder also takes the place of a better one.
type plan struct {
	bs    []belief
	start sequence
	value float64 // credits
	tries int
	beam  int
}

// sequence is some coders in the order in which they would work.
type sequence struct {
	order  []int
	weight vector  // probability that all of them fail and the task is of this class
	net    float64 // expected credits
	left   float64 // credits, should all of them fail
}

func newPlan(p Parameters, r Request, bs []belief, after vector) *plan {
	return &plan{bs: bs, start: sequence{weight: after, left: r.Left}, value: r.Value,
		tries: max(1, min(r.Tries, len(bs))), beam: p.Beam}
}

// rank fills in each candidate's net: of the best sequence that begins with it, or
// less its cost per success where tasks have no value. Who can't be paid has -Inf.
func (p *plan) rank() {
	var best []int
	if p.value > 0 {
		best = p.best()
	}
	for i := range p.bs {
		b := &p.bs[i]
		switch {
		case !p.can(&p.start, i):
			b.net = math.Inf(-1)
		case p.value > 0:
			b.net = p.along(i, best)
			if len(best) > 0 {
				b.net = max(b.net, p.along(i, best[1:])) // i instead of the first
			}
		default:
			chance := dot(&b.hoped, &p.start.weight)
			b.net = -(b.success + (1-chance)/chance*b.failure)
		}
	}
}

// can says whether a coder can go on where a sequence ends. Nobody works twice in it.
func (p *plan) can(q *sequence, i int) bool {
	return p.bs[i].Cost <= q.left && !slices.Contains(q.order, i)
}

// gain is what another coder adds to a sequence's net.
func (p *plan) gain(q *sequence, i int) float64 {
	b, won, reached := &p.bs[i], 0.0, 0.0
	for g, w := range q.weight {
		won += w * b.hoped[g]
		reached += w
	}
	return won*(p.value-b.success) - (reached-won)*b.failure
}

// then is a sequence with another coder at its end.
func (p *plan) then(q *sequence, i int) sequence {
	b := &p.bs[i]
	next := sequence{order: append(slices.Clip(q.order), i), net: q.net + p.gain(q, i), left: q.left - b.Cost}
	for g, w := range q.weight {
		next.weight[g] = w * (1 - b.hoped[g])
	}
	return next
}

// best follows the best few beginnings at once, and returns the best sequence found.
func (p *plan) best() []int {
	best, beam := p.start, []sequence{p.start}
	for range p.tries {
		top := p.longer(beam)
		if len(top) == 0 {
			break
		}
		next := make([]sequence, len(top))
		for k, b := range top {
			next[k] = p.then(&beam[b.from], b.with)
		}
		if beam = next; beam[0].net > best.net {
			best = beam[0]
		}
	}
	return best.order
}

// branch is a sequence of the beam with one more coder.
type branch struct {
	net        float64
	from, with int
}

// longer are the best sequences that are one longer and better than before, the best first.
func (p *plan) longer(beam []sequence) []branch {
	top := make([]branch, 0, p.beam+1)
	for from := range beam {
		for with := range p.bs {
			if !p.can(&beam[from], with) {
				continue
			}
			gain := p.gain(&beam[from], with)
			if !(gain > 0) {
				continue
			}
			at := len(top)
			for at > 0 && top[at-1].net < beam[from].net+gain {
				at--
			}
			top = slices.Insert(top, at, branch{beam[from].net + gain, from, with})
			top = top[:min(len(top), p.beam)]
		}
	}
	return top
}

// along is the net of a sequence that begins with a coder and goes on along an order
// as far as that pays.
func (p *plan) along(first int, order []int) float64 {
	q := p.then(&p.start, first)
	best := q.net
	for _, i := range order {
		if len(q.order) >= p.tries {
			break
		}
		if p.can(&q, i) {
			q = p.then(&q, i)
			best = max(best, q.net)
		}
	}
	return best
}
