package coder

import "math"

// classes is the number of classes of difficulty: the first ones are points of a normal distribution, the last are
// tasks that no coder resolves.
const classes = 16

// hopeless is the class of tasks that no coder resolves, and rescue the probability that one is resolved anyway.
const (
	hopeless = classes - 1
	rescue   = 0.003
)

// The bounds of a share, so that log odds are finite and no outcome is ever impossible or certain.
const (
	minShare = 0.003
	maxShare = 0.99
)

// tiny keeps logarithms finite.
const tiny = 1e-12

// farthest is the largest ability, in log odds.
const farthest = 15.0

func clamp(x, low, high float64) float64 { return max(low, min(high, x)) }

// vector has a value for each class of difficulty.
type vector [classes]float64

func (v *vector) sum() (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// shares returns the values divided by their sum.
func (v *vector) shares() (w vector) {
	n := v.sum()
	for g, x := range v {
		w[g] = x / n
	}
	return w
}

// add adds w, times f.
func (v *vector) add(w *vector, f float64) {
	for g := range v {
		v[g] += f * w[g]
	}
}

// scale has the difficulty of the classes and their prior frequencies.
type scale struct {
	at    vector // log odds that an average coder loses; meaningless for hopeless
	exp   vector // e^at
	prior vector // sums to 1
}

// newScale returns a scale with the classes evenly spaced over ±2.5 standard deviations.
func newScale(p Parameters) (s scale) {
	sum := 0.0
	for g := range hopeless {
		x := -2.5 + 5*float64(g)/float64(hopeless-1)
		s.at[g] = p.Spread * x
		s.exp[g] = math.Exp(s.at[g])
		s.prior[g] = math.Exp(-x * x / 2)
		sum += s.prior[g]
	}
	for g := range hopeless {
		s.prior[g] *= (1 - p.Hopeless) / sum
	}
	s.prior[hopeless] = p.Hopeless
	return s
}

// curve returns the probability that a coder of this ability resolves a task, by class.
func (s *scale) curve(ability float64) (v vector) {
	e := math.Exp(ability)
	for g := range hopeless {
		v[g] = e / (e + s.exp[g])
	}
	v[hopeless] = rescue
	return v
}

// ability returns the ability that resolves a share of all tasks, given the class frequencies pi.
func (s *scale) ability(share float64, pi *vector) float64 {
	low, high := -farthest, farthest
	for range 30 {
		mid := (low + high) / 2
		c := s.curve(mid)
		if dot(&c, pi) < share {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// dot returns the mean of a with the weights b.
func dot(a, b *vector) (sum float64) {
	for g, x := range a {
		sum += x * b[g]
	}
	return sum
}

// fit returns the maximum likelihood ability for tries and successes, starting from a guess: Newton's method on the log
// likelihood of one-parameter logistic curves (Rasch 1960). The second result is its information, the inverse of the
// variance.
func (s *scale) fit(guess float64, ev counts) (ability, information float64) {
	b := guess
	for range 6 {
		c := s.curve(b)
		gradient, curvature := 0.0, 1e-9
		for g := range hopeless {
			gradient += ev.resolved[g] - ev.tried[g]*c[g]
			curvature += ev.tried[g] * c[g] * (1 - c[g])
		}
		information = curvature
		step := clamp(gradient/curvature, -1.5, 1.5) // a flat likelihood must not make it diverge
		b = clamp(b+step, -farthest, farthest)
		if math.Abs(step) < 1e-3 {
			break
		}
	}
	return b, information
}
