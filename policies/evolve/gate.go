package evolve

import (
	"fmt"
	"math"
)

// Gate judges a proposal by tasks replayed with it and with the present policy. A task that both solve or both fail is
// uninformative. Of those that only one solves, each side would win half if the proposal were no better. The bet
// against that is a mixture over all probabilities of winning from one half to one:
//
//	E = 2 ∫ (2θ)^W (2−2θ)^L dθ = 2^(N+1) · B(W+1, L+1) · (1 − I_½(W+1, L+1))
//
// for W wins and L losses, N = W+L. The k-th proposal for a policy passes at E ≥ 20·π²k²/6. The thresholds' reciprocals
// add up to 1/20, so the probability that any proposal that is no better ever passes is at most 5 % (PACE, arXiv
// 2606.08106).
type Gate struct {
	proposal     int
	wins, losses int
}

// NewGate returns the gate for the k-th proposal for a policy, counted from 1.
func NewGate(k int) (*Gate, error) {
	if k < 1 {
		return nil, fmt.Errorf("proposals are counted from 1, not %d", k)
	}
	return &Gate{proposal: k}, nil
}

// Add adds a task's results with the proposal and with the present policy.
func (g *Gate) Add(proposed, present bool) {
	switch {
	case proposed && !present:
		g.wins++
	case present && !proposed:
		g.losses++
	}
}

// Threshold returns the E at which the proposal passes.
func (g *Gate) Threshold() float64 {
	return promoteAt * math.Pi * math.Pi * float64(g.proposal) * float64(g.proposal) / 6
}

// E returns the evidence that the proposal is better, at most [math.MaxFloat64].
func (g *Gate) E() float64 { return replayed(g.wins, g.losses) }

// Verdict returns pass, reject or not-replayed. It is not-replayed when there are too few tasks for any result to pass,
// unless they show harm by the threshold of an experiment.
func (g *Gate) Verdict() Verdict {
	switch {
	case g.E() >= g.Threshold():
		return Pass
	case replayed(g.wins+g.losses, 0) >= g.Threshold() || replayed(g.losses, g.wins) >= stopHarmAt:
		return Reject
	}
	return NotReplayed
}

// Why returns the verdict's reason, for display.
func (g *Gate) Why() string {
	return fmt.Sprintf("%d tasks only with the proposal, %d only without it: E = %.3g, proposal %d passes at %.3g",
		g.wins, g.losses, g.E(), g.proposal, g.Threshold())
}

// replayed returns E for wins and losses. With whole numbers it is Σ_{j≤W} C(N+1, j) / ((N+1)·C(N, W)), summed from j =
// W downward: there a term is 1/(L+1).
func replayed(wins, losses int) float64 {
	n := wins + losses
	sum, term := 0.0, 1/float64(losses+1)
	for j := wins; j >= 0 && term > 0; j-- {
		sum += term
		term *= float64(j) / float64(n+2-j)
	}
	return min(math.MaxFloat64, sum)
}
