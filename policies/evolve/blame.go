package evolve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// How many tasks the version before a promoted change still decides about: three in ten of the first
// 100, one in five of the next 200, one in twenty then. They tell whether a fall is the change's: where
// other changes, other models or harder issues are to blame, they fall as well.
func share(since int) float64 {
	switch {
	case since < 100:
		return .3
	case since < 300:
		return .2
	}
	return .05
}

// How many times likelier one reading of the tasks has to make their outcomes than another. A fall is
// looked at again and again until its cause is clear.
const (
	blamed = 3.  // that those held back go on as before, against that they go like those with the change
	fallen = 10. // that tasks with the change go otherwise than before, against that they don't
	letOff = .1  // either, for the change to be let off
	// tasks that have to be held back before the change is let off
	fewestHeld = 10
)

// HeldBack reports whether a task is left to the version before a promoted change; since is how many
// tasks took part since the promotion. The lot is another than [Assign]'s.
func HeldBack(experiment, task string, since int) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "held back %d:%s%s", len(experiment), experiment, task))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < share(since)
}

// Cause reports what a drop is due to for which a [Guardrail] gave the alarm.
type Cause string

// Causes of a drop.
const (
	TheChanges Cause = "the change's"
	Everyones  Cause = "everyone's" // tasks without the change went as badly
	Nobodys    Cause = "nobody's"   // with more tasks it is none any more
	Unclear    Cause = "unclear"    // too few tasks tell
)

// Blame names the cause of a drop from the tasks before the promotion, and those since then that were decided by
// the change and without it; an Arm's Resolved are the tasks that went well. Readings are compared by how
// likely they make the outcomes of tasks (Bayes factors), each with a rate of its own that nothing is known of but
// by the tasks that share it:
//
//   - It is the change's when the tasks held back are likelier at the rate of before than at that of the tasks
//     with the change, and these are likelier at a rate of their own than at that of all the others.
//   - It is everyone's when the tasks held back are likelier at the rate of those with the change.
//   - It is nobody's when those with the change are likelier at the rate of all the others: what the guardrail
//     saw was luck.
func Blame(before, with, without Arm) Cause {
	usual := before.and(without)
	change := without.likelihood(before) - without.likelihood(with)
	fall := with.likelihood(Arm{}) - with.likelihood(usual)
	if with.share() >= usual.share() {
		fall = math.Inf(-1) // it is none
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

// likelihood is the logarithm of the probability that tasks come out as they did, in their order, when their
// rate is known by those of another arm alone: it has the distribution Beta(1+well, 1+badly).
func (a Arm) likelihood(known Arm) float64 {
	return known.and(a).logBeta() - known.logBeta()
}

// logBeta is the logarithm of B(1+well, 1+badly).
func (a Arm) logBeta() float64 {
	return mathext.Lbeta(float64(1+a.Resolved), float64(1+a.Tried-a.Resolved))
}

func (a Arm) and(b Arm) Arm { return Arm{a.Resolved + b.Resolved, a.Tried + b.Tried} }
