package agent

import (
	"fmt"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/stuck"
)

// Bounds of a conversation that leads nowhere. Those on calls and their results are
// package stuck's.
const (
	maxMalformed = 5  // answers in a row with calls that could not be understood
	fullIdle     = 24 // turns without a change that was not made before, which are a full sign for the hazard
	keepCalls    = 64 // calls that are remembered; package stuck looks at fewer
)

// loopDetector watches an attempt's calls for signs that it is about to get
// stuck. Results count: the same command with a new result is progress.
type loopDetector struct {
	recent  []stuck.Action  // the last calls
	changes map[string]bool // calls that changed a file, by name and arguments
	idle    int             // turns since the last new change
	broken  int             // malformed answers in a row

	still  bool         // no change is wanted, so turns without one are no sign
	hazard stuck.Hazard // the zero Hazard predicts nothing
	spare  bool         // the hazard is read, and interrupts nothing
	worst  *sia.Risk    // the reading with the greatest chance so far
}

// predict is told at the end of a turn which share of the budget is used.
func (d *loopDetector) predict(spent float64) *sia.Signal {
	if d.hazard == (stuck.Hazard{}) {
		return nil
	}
	r := stuck.Look(d.recent)
	r.Idle, r.Spent = min(1, float64(d.idle)/fullIdle), min(1, spent)
	r = d.hazard.Judge(r)
	above := r.Chance > r.Limit
	if d.worst == nil || r.Chance > d.worst.Chance {
		r.Spared = d.worst != nil && d.worst.Spared
		d.worst = &r
	}
	switch {
	case !above:
		return nil
	case d.spare:
		d.worst.Spared = true
		return nil
	}
	r.Interrupted = true
	d.worst = &r
	return aboutToStick("%s", stuck.Evidence(r, d.idle))
}

// endTurn is told how a turn ended. understood says whether any of its calls was
// well formed. An answer of no calls is a text and says nothing.
func (d *loopDetector) endTurn(understood bool, calls int) *sia.Signal {
	if !d.still {
		d.idle++
	}
	switch {
	case understood || calls == 0:
		d.broken = 0
	default:
		d.broken++
	}
	if d.broken >= maxMalformed {
		return aboutToStick("%d answers in a row held only tool calls that could not be understood", d.broken)
	}
	return nil
}

// addCall is told about one call; changed says that it changed a file.
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
		return aboutToStick("%s", evidence)
	}
	return nil
}

func aboutToStick(format string, args ...any) *sia.Signal {
	return &sia.Signal{Name: sia.AboutToStick, Evidence: fmt.Sprintf(format, args...)}
}
