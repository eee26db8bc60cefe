package evolve

import "gonum.org/v1/gonum/mathext"

// When a policy may be changed.
const (
	enoughOutcomes = 50
	goodEnough     = .85 // share of resolved tasks above which a policy is not changed
	sureOfThat     = .8
)

// Room reports whether there is room for improvement of a policy, given the tasks of the last 60 days: at least 50
// ended, and with a probability of at least 0.8 its rate is below 0.85. The rate has the distribution Beta(1+resolved,
// 1+failed).
func Room(resolved, tried int) bool {
	if tried < enoughOutcomes || resolved < 0 || resolved > tried {
		return false
	}
	return mathext.RegIncBeta(float64(1+resolved), float64(1+tried-resolved), goodEnough) >= sureOfThat
}
