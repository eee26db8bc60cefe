package bandit

import (
	"math"
	"slices"
)

// maxZ bounds a standardised confidence: one wild number decides nothing.
const maxZ = 2

// standardise turns a model's confidences (0–1) into z: their log odds, less the
// mean and divided by the standard deviation of all ratings. Models are
// overconfident by an amount that differs between models and tasks. What is left
// is which techniques the model prefers here. With fewer than three ratings there
// is nothing to standardise by, and z is the log odds themselves. A technique that
// was not rated has no z.
func standardise(confidence map[string]float64) map[string]float64 {
	z := make(map[string]float64, len(confidence))
	odds := make([]float64, 0, len(confidence))
	for t, c := range confidence {
		if chance(c) {
			c = clamp(c, 0.001, 0.999)
			z[t] = math.Log(c / (1 - c))
			odds = append(odds, z[t])
		}
	}
	mean, sd := 0.0, 1.0
	if len(odds) >= 3 {
		slices.Sort(odds) // the order of a map must not reach the sums
		mean, sd = moments(odds)
	}
	for t, v := range z {
		if sd < 1e-9 {
			z[t] = 0
			continue
		}
		z[t] = clamp((v-mean)/sd, -maxZ, maxZ)
	}
	return z
}

// chance reports whether c is one, and not a number that a caller got wrong.
func chance(c float64) bool { return c >= 0 && c <= 1 }

func moments(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sd += (x - mean) * (x - mean) / float64(len(xs))
	}
	return mean, math.Sqrt(sd)
}
