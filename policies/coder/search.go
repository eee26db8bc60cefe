package coder

import "math"

// search looks for the sequence of coders with the highest expected net value. All
// that is seen on the way is failures, for a success ends the task. So the best policy
// is a sequence, and where it ends.
type search struct {
	beliefs     []belief
	value, left float64
	tries, beam int
}

// sequence is some coders in the order in which they would work.
type sequence struct {
	used   []bool
	order  []int
	weight vector // probability that all of them fail and that the task is of this class
	net    float64
	left   float64
}

// gain is what another coder adds to a sequence's net.
func (s *search) gain(q *sequence, i int) float64 {
	b := &s.beliefs[i]
	if q.used[i] || b.Cost > q.left {
		return math.Inf(-1)
	}
	won, alive := 0.0, 0.0
	for g, w := range q.weight {
		won += w * b.brave[g]
		alive += w
	}
	return won*(s.value-b.success) - (alive-won)*b.failure
}

func (s *search) step(q *sequence, i int) sequence {
	b := &s.beliefs[i]
	n := sequence{order: append(append(make([]int, 0, len(q.order)+1), q.order...), i), used: append([]bool(nil), q.used...),
		net: q.net + s.gain(q, i), left: q.left - b.Cost}
	n.used[i] = true
	for g, w := range q.weight {
		n.weight[g] = w * (1 - b.brave[g])
	}
	return n
}

type branch struct {
	net  float64
	q, i int
}

func (s *search) best(start sequence) sequence {
	best := start
	beam := []sequence{start}
	top := make([]branch, 0, s.beam+1)
	for len(beam[0].order) < s.tries {
		top = top[:0]
		for qi := range beam {
			for i := range s.beliefs {
				gain := s.gain(&beam[qi], i)
				if !(gain > 0) {
					continue
				}
				br := branch{beam[qi].net + gain, qi, i}
				at := len(top)
				for at > 0 && top[at-1].net < br.net {
					at--
				}
				if at >= s.beam {
					continue
				}
				top = append(top, branch{})
				copy(top[at+1:], top[at:])
				top[at] = br
				if len(top) > s.beam {
					top = top[:s.beam]
				}
			}
		}
		if len(top) == 0 {
			break
		}
		next := make([]sequence, len(top))
		for k, br := range top {
			next[k] = s.step(&beam[br.q], br.i)
		}
		beam = next
		if beam[0].net > best.net {
			best = beam[0]
		}
	}
	return best
}

// along is the net of a sequence that begins with i and goes on along an order as far as that pays.
func (s *search) along(start *sequence, i int, order []int) float64 {
	if g := s.gain(start, i); math.IsInf(g, -1) {
		return g
	}
	q := s.step(start, i)
	best := q.net
	for _, j := range order {
		if len(q.order) >= s.tries {
			break
		}
		if q.used[j] || s.gain(&q, j) == math.Inf(-1) {
			continue
		}
		q = s.step(&q, j)
		best = max(best, q.net)
	}
	return best
}

// rank fills in the net of all beliefs.
func (s *search) rank(after vector) {
	start := sequence{weight: after, left: s.left, used: make([]bool, len(s.beliefs))}
	if s.value <= 0 {
		for i := range s.beliefs {
			b := &s.beliefs[i]
			if b.Cost > s.left {
				b.net = math.Inf(-1)
				continue
			}
			p := dot(&b.brave, &after)
			b.net = -(p*b.success + (1-p)*b.failure) / p
		}
		return
	}
	best := s.best(start)
	for i := range s.beliefs {
		b := &s.beliefs[i]
		b.net = s.along(&start, i, best.order)
		if len(best.order) > 0 {
			b.net = max(b.net, s.along(&start, i, best.order[1:]))
		}
	}
}
