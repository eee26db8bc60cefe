package coder

import (
	"math"
	"slices"
)

// plan searches for the sequence of coders with the highest expected net value. A success ends the task, so only
// failures are observed on the way, and the best policy is a fixed sequence with an end. With independent coders and
// unlimited attempts, it would be the order of their costs per success (Weitzman 1979); with at most five attempts, a
// cheap coder also displaces a better one.
type plan struct {
	bs    []belief
	start sequence
	value float64 // credits
	tries int
	beam  int
}

// sequence is an order of coders.
type sequence struct {
	order  []int
	weight vector  // probability that all of them fail and the task is of this class
	net    float64 // expected net value, in credits
	left   float64 // remaining budget if all of them fail, in credits
}

func newPlan(p Parameters, r Request, bs []belief, after vector) *plan {
	return &plan{bs: bs, start: sequence{weight: after, left: r.Left}, value: r.Value,
		tries: max(1, min(r.Tries, len(bs))), beam: p.Beam}
}

// rank sets each candidate's net: that of the best sequence that begins with it, or minus its cost per success where
// tasks have no value. It is -Inf for a candidate above the budget.
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

// can reports whether a coder can follow a sequence: it is within the budget and not in the sequence.
func (p *plan) can(q *sequence, i int) bool {
	return p.bs[i].Cost <= q.left && !slices.Contains(q.order, i)
}

// gain returns the change of a sequence's net by another coder.
func (p *plan) gain(q *sequence, i int) float64 {
	b, won, reached := &p.bs[i], 0.0, 0.0
	for g, w := range q.weight {
		won += w * b.hoped[g]
		reached += w
	}
	return won*(p.value-b.success) - (reached-won)*b.failure
}

// then returns a sequence with another coder appended.
func (p *plan) then(q *sequence, i int) sequence {
	b := &p.bs[i]
	next := sequence{order: append(slices.Clip(q.order), i), net: q.net + p.gain(q, i), left: q.left - b.Cost}
	for g, w := range q.weight {
		next.weight[g] = w * (1 - b.hoped[g])
	}
	return next
}

// best returns the best sequence found by a beam search.
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

// longer returns the best extensions of the beam by one coder that increase the net, best first.
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

// along returns the best net of a sequence that begins with a coder and continues with a prefix of an order.
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
