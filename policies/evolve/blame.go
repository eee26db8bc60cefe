package evolve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// How many tasks the version before a promoted change still decides about. They tell whether a fall
// is the change's: where other changes, other models or harder issues are to blame, they fall as well.
const (
	heldAtFirst = .2
	heldLater   = .05
	firstTasks  = 300
	// a fall is the change's, or is not, when that is as likely
	sureOfBlame = .8
)

// HeldBack reports whether a task is left to the version before a promoted change, which so many
// tasks were decided about since: one in five of the first 300, and one in twenty then.
// The lot is another than [Assign]'s, and a task stays where it is.
func HeldBack(experiment, task string, since int) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "held back %d:%s%s", len(experiment), experiment, task))
	share := heldAtFirst
	if since >= firstTasks {
		share = heldLater
	}
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < share
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
	case worse >= sureOfBlame:
		return TheChanges
	case worse <= 1-sureOfBlame:
		return Everyones
	}
	return Unclear
}
