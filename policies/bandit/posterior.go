package bandit

import "math"

// The bounds of a share of resolutions, as a prior and as a mean: log odds stay
// finite, and no technique is ever impossible or certain.
const (
	minShare = 0.003
	maxShare = 0.99
)

// posterior is the belief about a share of resolutions: a Beta distribution with
// this mean and as many pseudo-outcomes as strength says.
type posterior struct{ mean, strength float64 }

// posterior updates a prior share with evidence, from the widest scope to the
// narrowest. The mean of each scope is the prior of the next, with the weight that
// the parameters say (hierarchical shrinkage; Hong et al., "Hierarchical Bayesian
// Bandits", 2022). The average confidence moves each prior in log odds. It moves it
// by how much better the model thinks of the technique in that scope than in the
// wider one.
func (p Parameters) posterior(prior, opinion float64, e evidence) posterior {
	zWorld := e.elsewhere.z / (p.WeightOpinions + e.elsewhere.heard)
	zOrg := (p.WeightOpinions*zWorld + e.org.z) / (p.WeightOpinions + e.org.heard)
	zHere := (p.WeightOpinions*zOrg + e.here.z) / (p.WeightOpinions + e.here.heard)

	// What was imported counts beside what was seen in other organisations here, so that it is outweighed like them.
	world := Tally{Resolved: e.elsewhere.Resolved + e.imported.Resolved, Tried: e.elsewhere.Tried + e.imported.Tried}
	mean := world.update(moved(prior, opinion*zWorld), p.WeightPrior)
	mean = e.org.update(moved(mean, opinion*(zOrg-zWorld)), p.WeightGlobal)
	mean = e.here.update(moved(mean, opinion*(zHere-zOrg)), p.WeightOrg)
	return posterior{mean: mean, strength: p.WeightOrg + e.here.Tried}
}

// update is the posterior mean of a Beta prior of that mean and weight.
func (t Tally) update(mean, weight float64) float64 {
	return clamp((weight*mean+t.Resolved)/(weight+t.Tried), minShare, maxShare)
}

// sound is a tally that can be one, else nothing.
func (t Tally) sound() Tally {
	if !(t.Resolved >= 0 && t.Resolved <= t.Tried && t.Tried < math.Inf(1)) {
		return Tally{}
	}
	return t
}

// moved adds to a share's log odds.
func moved(share, by float64) float64 {
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

// clamp is x within bounds; the lower one when x is not a number.
func clamp(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return min(x, high)
}
