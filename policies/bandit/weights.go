package bandit

import "math"

// Bounds and rates of the learned weights. An estimate starts with some Fisher information, so that the first outcomes
// do not change it too much. It forgets with a half-life of about 700 outcomes, because models change.
const (
	maxWeight       = 4.0
	firstConfidence = 50.0 // initial information of the weight of the current confidence
	firstOpinion    = 5.0  // the same for the average confidence
	firstDifficulty = 10.0 // the same for each attempt's difficulty
	forget          = 0.999
	maxAttempts     = 20 // number of attempts that are distinguished
)

// weights are the weights of the model's confidence. They are estimated online by logistic regression of the outcome on
// the confidence, with the posterior mean as offset. Each outcome is one Newton step, which is the extended Kalman
// filter of that regression (Fahrmeir 1992). Both weights are at least zero: confidence counts in favour or not at all,
// but never against.
//
// A task that reaches a third attempt is harder than others, equally for all techniques. Each attempt therefore has its
// own intercept. Without them the weights would be biased.
type weights struct {
	confidence estimate
	opinion    estimate
	difficulty [maxAttempts]estimate
}

// estimate is an estimated number with its Fisher information.
type estimate struct{ value, information float64 }

func newWeights(p Parameters) weights {
	w := weights{
		confidence: estimate{p.Confidence, firstConfidence},
		opinion:    estimate{p.Opinion, firstOpinion},
	}
	for i := range w.difficulty {
		w.difficulty[i].information = firstDifficulty
	}
	return w
}

// step updates an estimate by one observation: err is the outcome minus its expectation, x the derivative of the
// expected log odds with respect to the estimate, and variance that of the outcome.
func (e estimate) step(err, x, variance float64) estimate {
	e.information = forget*e.information + variance*x*x
	e.value += err * x / e.information
	return e
}

func (e estimate) within(low, high float64) estimate {
	e.value = clamp(e.value, low, high)
	return e
}

// learn updates the weights with an outcome; e is the evidence before it.
func (w weights) learn(p Parameters, prior float64, e evidence, o Outcome) weights {
	const dx = 0.01
	z := clamp(o.Z, -maxZ, maxZ)
	if math.IsNaN(o.Z) {
		z = 0
	}
	at := min(max(o.Attempt, 0), maxAttempts-1)
	offset := logit(p.posterior(prior, w.opinion.value, e).mean)
	slope := (logit(p.posterior(prior, w.opinion.value+dx, e).mean) - offset) / dx
	expected := sigmoid(offset + w.confidence.value*z + w.difficulty[at].value)
	err, variance := -expected, expected*(1-expected)
	if o.Resolved {
		err = 1 - expected
	}
	w.confidence = w.confidence.step(err, z, variance).within(0, maxWeight)
	w.opinion = w.opinion.step(err, slope, variance).within(0, maxWeight)
	w.difficulty[at] = w.difficulty[at].step(err, 1, variance).within(-maxWeight, maxWeight)
	return w
}
