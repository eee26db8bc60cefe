package synthetic

import (
	"math"
	"math/rand/v2"
)

// random is a seeded PCG with the samplers of a world.
type random struct{ *rand.Rand }

func newRandom(seed, stream uint64) random { return random{rand.New(rand.NewPCG(seed, stream))} }

// gamma samples Gamma(a, 1) for a ≥ 1 by squeezing a cubed normal variate, and
// for a < 1 from Gamma(a+1, 1) (Marsaglia & Tsang 2000).
func (r random) gamma(a float64) float64 {
	const tiny = 1e-300 // keeps logarithms finite
	if a < 1 {
		u := r.Float64()
		return r.gamma(a+1) * math.Pow(u+tiny, 1/a)
	}
	d := a - 1.0/3
	for {
		x := r.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(r.Float64()+tiny) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

// pick samples an index with the given weights.
func (r random) pick(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
func logit(p float64) float64   { return math.Log(p / (1 - p)) }
