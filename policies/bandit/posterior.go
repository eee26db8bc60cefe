package bandit

import "math"

// The bounds of a share of resolutions, as a prior and as a mean, so that log odds are finite and no technique is ever
// impossible or certain.
const (
	minShare = 0.003
	maxShare = 0.99
)

// posterior is a Beta distribution of a share of resolutions, with its mean and its strength in pseudo-outcomes.
type posterior struct{ mean, strength float64 }

// posterior updates a prior share with evidence, from the widest scope to the narrowest. The mean of each scope is the
// prior of the next, with the weight from the parameters (hierarchical shrinkage; Hong et al., "Hierarchical Bayesian
// Bandits", 2022). The average confidence shifts each prior in log odds, by the difference between the model's opinion
// of the technique in that scope and in the wider one.
func (p Parameters) posterior(prior, opinion float64, e evidence) posterior {
	zWorld := e.elsewhere.z / (p.WeightOpinions + e.elsewhere.heard)
	zOrg := (p.WeightOpinions*zWorld + e.org.z) / (p.WeightOpinions + e.org.heard)
	zHere := (p.WeightOpinions*zOrg + e.here.z) / (p.WeightOpinions + e.here.heard)

	// Imported outcomes count like those of other organisations, so that they are outweighed in the same way.
	world := Tally{Resolved: e.elsewhere.Resolved + e.imported.Resolved, Tried: e.elsewhere.Tried + e.imported.Tried}
	mean := world.update(shiftOdds(prior, opinion*zWorld), p.WeightPrior)
	mean = e.org.update(shiftOdds(mean, opinion*(zOrg-zWorld)), p.WeightGlobal)
	mean = e.here.update(shiftOdds(mean, opinion*(zHere-zOrg)), p.WeightOrg)
	return posterior{mean: mean, strength: p.WeightOrg + e.here.Tried}
}

// update returns the posterior mean for a Beta prior of that mean and weight.
func (t Tally) update(mean, weight float64) float64 {
	return clamp((weight*mean+t.Resolved)/(weight+t.Tried), minShare, maxShare)
}

// sound returns t if it is valid, else the zero Tally.
func (t Tally) sound() Tally {
	if !(t.Resolved >= 0 && t.Resolved <= t.Tried && t.Tried < math.Inf(1)) {
		return Tally{}
	}
	return t
}

// shiftOdds returns a share with its log odds increased by by.
func shiftOdds(share, by float64) float64 {
	if by == 0 {
		return share
	}
	return sigmoid(logit(share) + by)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func logit(share float64) float64 {
	share = clamp(share, minShare, maxShare)
	return math.Log(share / (1 - share))
}

// clamp returns x clamped to the bounds; low for NaN.
func clamp(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return min(x, high)
}
