package evolve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// How many tasks the version before a promoted change still decides about: one in three of the first
// 100, one in five of the next 200, one in twenty then. They tell whether a fall is the change's: where
// other changes, other models or harder issues are to blame, they fall as well.
func share(since int) float64 {
	switch {
	case since < 100:
		return 1. / 3
	case since < 300:
		return .2
	}
	return .05
}

// A fall is looked at again and again until it is clear whose it is. So it takes much to blame the
// change, and little to let it off: with the same measure for both, every false alarm would become
// its fault in one case of two.
const (
	blamed = .95 // probability that tasks go worse with the change
	letOff = .6
	// tasks that have to be held back before the change is let off
	fewestHeld = 10
)

// HeldBack reports whether a task is left to the version before a promoted change; since is how many
// tasks took part since the promotion. The lot is another than [Assign]'s.
func HeldBack(experiment, task string, since int) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "held back %d:%s%s", len(experiment), experiment, task))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < share(since)
}

// Whose says whose a fall is that a [Guardrail] gave the alarm for.
type Whose string

// Whose it may be.
const (
	TheChanges Whose = "the change's"
	Everyones  Whose = "everyone's" // tasks without the change went as badly
	Unclear    Whose = "unclear"    // too few tasks tell
)

// Blame compares the tasks since a promotion that were decided by the change with those that were
// held back; an Arm's Resolved are the tasks that went well. Both rates have the distribution
// Beta(1+well, 1+badly), and their difference is taken for normal.
func Blame(with, without Arm) Whose {
	mean := func(a Arm) (m, variance float64) {
		n := float64(a.Tried)
		m = (float64(a.Resolved) + 1) / (n + 2)
		return m, m * (1 - m) / (n + 3)
	}
	m1, v1 := mean(with)
	m0, v0 := mean(without)
	worse := .5 * math.Erfc((m1-m0)/math.Sqrt(2*(v0+v1))) // P(the change's rate is the lower one)
	switch {
	case worse >= blamed:
		return TheChanges
	case worse <= letOff && without.Tried >= fewestHeld:
		return Everyones
	}
	return Unclear
}
