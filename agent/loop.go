package agent

import (
	"fmt"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/stuck"
)

// Limits for a conversation that makes no progress. Package stuck has those for calls and their results.
const (
	maxMalformed = 5  // consecutive answers with malformed calls
	fullIdle     = 24 // turns without a new change at which the hazard's idle sign is 1
	keepCalls    = 64 // calls that are kept; package stuck uses fewer
)

// loopDetector watches an attempt's calls for signs that it is about to get stuck. Results count: the same command with
// a new result is progress.
type loopDetector struct {
	recent    []stuck.Action  // newest calls
	changes   map[string]bool // calls that changed a file, by name and arguments
	idle      int             // turns since the last new change
	malformed int             // consecutive malformed answers

	ignoreIdle  bool         // no change is expected, so turns without one are no sign
	hazard      stuck.Hazard // the zero Hazard predicts nothing
	observeOnly bool         // the hazard is only recorded
	highest     *sia.Risk    // the prediction with the highest chance so far
}

// predict evaluates the hazard at the end of a turn. spent is the used share of the budget.
func (d *loopDetector) predict(spent float64) *sia.Signal {
	if d.hazard == (stuck.Hazard{}) {
		return nil
	}
	r := stuck.Look(d.recent)
	r.Idle, r.Spent = min(1, float64(d.idle)/fullIdle), min(1, spent)
	r = d.hazard.Judge(r)
	above := r.Chance > r.Limit
	if d.highest == nil || r.Chance > d.highest.Chance {
		r.Spared = d.highest != nil && d.highest.Spared
		d.highest = &r
	}
	switch {
	case !above:
		return nil
	case d.observeOnly:
		d.highest.Spared = true
		return nil
	}
	r.Interrupted = true
	d.highest = &r
	return stuckSignal("%s", stuck.Evidence(r, d.idle))
}

// endTurn records the end of a turn. understood reports whether any of its calls was well formed. An answer without
// calls is a text and is no sign.
func (d *loopDetector) endTurn(understood bool, calls int) *sia.Signal {
	if !d.ignoreIdle {
		d.idle++
	}
	switch {
	case understood || calls == 0:
		d.malformed = 0
	default:
		d.malformed++
	}
	if d.malformed >= maxMalformed {
		return stuckSignal("%d answers in a row held only tool calls that could not be understood", d.malformed)
	}
	return nil
}

// addCall records a call. changed reports whether it changed a file.
func (d *loopDetector) addCall(a stuck.Action, changed bool) *sia.Signal {
	if key := a.Tool + "\x00" + a.Args; changed && !d.changes[key] {
		if d.changes == nil {
			d.changes = map[string]bool{}
		}
		d.changes[key] = true
		d.idle = 0
	}
	a.DiffSize = len(d.changes)
	d.recent = append(d.recent, a)
	if over := len(d.recent) - keepCalls; over > 0 {
		d.recent = append(d.recent[:0], d.recent[over:]...)
	}
	if yes, evidence := stuck.Predict(d.recent); yes {
		return stuckSignal("%s", evidence)
	}
	return nil
}

func stuckSignal(format string, args ...any) *sia.Signal {
	return &sia.Signal{Name: sia.AboutToStick, Evidence: fmt.Sprintf(format, args...)}
}
