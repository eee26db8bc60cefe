package evolve

import "math"

// logChoose is the logarithm of the binomial coefficient n over k.
func logChoose(n, k int) float64 {
	lg := func(x int) float64 { l, _ := math.Lgamma(float64(x + 1)); return l }
	return lg(n) - lg(k) - lg(n-k)
}

// atLeast is the probability of k or more successes in n trials of chance p, 0 < p < 1. It
// sums up the tail that is the smaller one, which ends in terms that are nothing.
func atLeast(n, k int, p float64) float64 {
	if float64(k) < float64(n)*p {
		return 1 - atLeast(n, n-k+1, 1-p)
	}
	odds := p / (1 - p)
	sum, term := 0.0, math.Exp(logChoose(n, k)+float64(k)*math.Log(p)+float64(n-k)*math.Log1p(-p))
	for j := k; j <= n && term > 0; j++ {
		sum += term
		term *= float64(n-j) / float64(j+1) * odds
	}
	return sum
}

// betaQuantile is the q-quantile of Beta(1+good, 1+bad), by bisection. A Beta distribution
// with whole parameters is a sum of binomial probabilities.
func betaQuantile(q float64, good, bad int) float64 {
	const halvings = 50 // to about 1e-15
	low, high := 0.0, 1.0
	for range halvings {
		middle := (low + high) / 2
		if atLeast(good+bad+1, good+1, middle) < q {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
