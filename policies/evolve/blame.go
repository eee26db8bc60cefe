package evolve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// share returns the share of tasks that the version before a promoted change still decides: three in ten of the first
// 100, one in five of the next 200, one in twenty after that. They show whether a drop is due to the change: with other
// causes, such as other models or harder issues, they drop as well.
func share(since int) float64 {
	switch {
	case since < 100:
		return .3
	case since < 300:
		return .2
	}
	return .05
}

// Bayes factors for decisions about a drop. A drop is examined repeatedly until its cause is clear.
const (
	blamed = 3.  // minimum for: held-back tasks have the rate of before, versus that of tasks with the change
	fallen = 10. // minimum for: tasks with the change have a rate of their own, versus that of all others
	letOff = .1  // maximum of either for the change to be cleared
	// minimum number of held-back tasks before the change is cleared
	fewestHeld = 10
)

// HeldBack reports whether a task is decided by the version before a promoted change; since is the number of tasks
// since the promotion. The assignment is independent of [Assign]'s.
func HeldBack(experiment, task string, since int) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "held back %d:%s%s", len(experiment), experiment, task))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < share(since)
}

// Cause is the cause of a drop for which a [Guardrail] raised an alarm.
type Cause string

// Causes of a drop.
const (
	TheChanges Cause = "the change's"
	Everyones  Cause = "everyone's" // tasks without the change did as badly
	Nobodys    Cause = "nobody's"   // no drop any more with more tasks
	Unclear    Cause = "unclear"    // too few tasks
)

// Blame returns the cause of a drop, given the tasks before the promotion, and those since then that were decided by
// the change and without it; Arm.Resolved are the tasks that went well. Hypotheses are compared by Bayes factors, each
// with a rate that is estimated only from the tasks that share it:
//
//   - The change's: the held-back tasks are likelier at the rate of before than at that of the tasks
//     with the change, and the latter are likelier at a rate of their own than at that of all others.
//   - Everyone's: the held-back tasks are likelier at the rate of those with the change.
//   - Nobody's: the tasks with the change are likelier at the rate of all others; the alarm was
//     due to chance.
func Blame(before, with, without Arm) Cause {
	usual := before.and(without)
	change := without.likelihood(before) - without.likelihood(with)
	fall := with.likelihood(Arm{}) - with.likelihood(usual)
	if with.share() >= usual.share() {
		fall = math.Inf(-1) // no drop
	}
	enough := without.Tried >= fewestHeld
	switch {
	case change >= math.Log(blamed) && fall >= math.Log(fallen):
		return TheChanges
	case enough && change <= math.Log(letOff):
		return Everyones
	case enough && fall <= math.Log(letOff):
		return Nobodys
	}
	return Unclear
}

// likelihood returns the logarithm of the probability of the tasks' outcomes in order, when their rate is estimated
// from another arm: it has the distribution Beta(1+well, 1+badly).
func (a Arm) likelihood(known Arm) float64 {
	return known.and(a).logBeta() - known.logBeta()
}

// logBeta returns the logarithm of B(1+well, 1+badly).
func (a Arm) logBeta() float64 {
	return mathext.Lbeta(float64(1+a.Resolved), float64(1+a.Tried-a.Resolved))
}

func (a Arm) and(b Arm) Arm { return Arm{a.Resolved + b.Resolved, a.Tried + b.Tried} }
