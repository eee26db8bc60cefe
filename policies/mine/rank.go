package mine

import "math"

// leastEffective is the minimum effective number of decisions for an estimate of another policy.
const leastEffective = 100

// Ranking is the estimated share of decisions that another policy would have led to success, from randomised decisions.
// It ranks policies; it is not a proof.
type Ranking struct {
	Decisions int      `json:"decisions"` // number of usable randomised decisions
	Uncovered int      `json:"uncovered"` // number of randomised decisions without overlap with the other policy
	Effective float64  `json:"effective"` // effective number of decisions after weighting
	Enough    bool     `json:"enough"`    // Effective is at least 100; else the estimates are zero
	Logged    Estimate `json:"logged"`    // result of the logged choices, over the same decisions
	SNIPS     Estimate `json:"snips"`     // self-normalised inverse propensity score
	Doubly    Estimate `json:"doubly"`    // doubly robust
}

// Estimate is a share with its 95 % interval.
type Estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func estimate(mean, sd float64) Estimate { return Estimate{mean, mean - z95*sd, mean + z95*sd} }

// Rank estimates another policy: other has for each decision the options with that policy's probabilities, nil where
// they are unknown. The estimators are the self-normalised one of Swaminathan and Joachims (NIPS 2015), with the delta
// method's variance, and the doubly robust one of Dudík, Langford and Li (ICML 2011).
func Rank(ds []Decision, other [][]Option) Ranking {
	var r Ranking
	var of []int
	var weights []float64
	for i, d := range ds {
		p := probability(d.Choice, d.Options)
		if other[i] == nil || !(p > 0 && p < 1) {
			continue
		}
		if !covers(d.Options, other[i]) {
			r.Uncovered++
			continue
		}
		of, weights = append(of, i), append(weights, probability(d.Choice, other[i])/p)
	}
	r.Decisions = len(of)
	var w, logged weighted
	for j, i := range of {
		w.add(weights[j], ds[i].y())
		logged.add(1, ds[i].y())
	}
	if w.sum > 0 {
		r.Effective = w.effective()
	}
	if r.Effective < leastEffective {
		return r
	}
	r.Enough = true
	n := float64(len(of))
	model := newModel(ds)
	var deviation, total, squares float64
	for j, i := range of {
		e := weights[j] * (ds[i].y() - w.mean())
		deviation += e * e
		v := weights[j] * (ds[i].y() - model.expects(i, ds[i].Choice))
		for _, o := range other[i] {
			v += o.Probability * model.expects(i, o.Choice)
		}
		total += v
		squares += v * v
	}
	r.SNIPS = estimate(w.mean(), math.Sqrt(deviation)/w.sum)
	r.Doubly = estimate(total/n, math.Sqrt(max(0, squares/n-total/n*total/n)/n))
	r.Logged = estimate(logged.mean(), math.Sqrt(logged.mean()*(1-logged.mean())/n))
	return r
}

// covers reports whether every possible choice of the other policy has a positive probability in the log.
func covers(logged, other []Option) bool {
	for _, o := range other {
		if o.Probability > 0 && probability(o.Choice, logged) <= 0 {
			return false
		}
	}
	return true
}

// model predicts the outcome of each option in each decision's context: its share of resolutions among tasks of the
// same kind, shrunk towards the expected outcome regardless of the choice.
type model struct {
	ds       []Decision
	expected []float64
	shares   map[place]Tally
}

// place is the key of the shares.
type place struct{ typ, kind, choice string }

func placeOf(d Decision, choice string) place {
	return place{string(d.Type), string(d.Context.Task.Kind), choice}
}

func newModel(ds []Decision) model {
	m := model{ds, Expected(ds), map[place]Tally{}}
	for _, d := range ds {
		t := m.shares[placeOf(d, d.Choice)]
		t.count(d.Resolved)
		m.shares[placeOf(d, d.Choice)] = t
	}
	return m
}

// expects returns the prediction for an option in the i-th decision, without the outcome of that one.
func (m model) expects(i int, choice string) float64 {
	d := m.ds[i]
	t := m.shares[placeOf(d, choice)]
	if choice == d.Choice {
		t = t.without(d)
	}
	return t.shrunk(m.expected[i], kindWeight)
}
