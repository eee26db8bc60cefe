package bandit

import (
	"math"
	"slices"
)

// maxZ is the maximum absolute value of a standardised confidence, so that a single outlier decides nothing.
const maxZ = 2

// standardise converts a model's confidences (0–1) to z scores: their log odds, minus the mean and divided by the
// standard deviation of all ratings. Models are overconfident by an amount that differs between models and tasks. The z
// scores keep only the model's preferences among techniques. With fewer than three ratings, z is the log odds
// themselves. A technique without a rating has no z.
func standardise(confidence map[string]float64) map[string]float64 {
	z := make(map[string]float64, len(confidence))
	odds := make([]float64, 0, len(confidence))
	for t, c := range confidence {
		if isProbability(c) {
			c = clamp(c, 0.001, 0.999)
			z[t] = math.Log(c / (1 - c))
			odds = append(odds, z[t])
		}
	}
	mean, sd := 0.0, 1.0
	if len(odds) >= 3 {
		slices.Sort(odds) // sums must not depend on map order
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

// isProbability reports whether c is a valid probability.
func isProbability(c float64) bool { return c >= 0 && c <= 1 }

func moments(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sd += (x - mean) * (x - mean) / float64(len(xs))
	}
	return mean, math.Sqrt(sd)
}
