package agent

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Thresholds at which a conversation counts as going round in circles. The first
// three are those of OpenHands' stuck detector
// (https://docs.openhands.dev/sdk/guides/agent-stuck-detector); what waits is
// exempt here, which its users found missing
// (https://github.com/OpenHands/software-agent-sdk/issues/762).
const (
	sameResult  = 4  // identical calls with identical results, in a row
	sameError   = 3  // identical calls that end in an error, in a row
	alternating = 6  // calls that alternate between two, with the same results
	malformed   = 5  // answers in a row whose calls could not be understood
	noChange    = 24 // turns without a change that was not made before
)

// observation is one tool call and what came of it.
type observation struct {
	name   string
	action [sha256.Size]byte // of name and arguments
	result [sha256.Size]byte
	err    string // the error's text; empty when the call succeeded
	polls  bool   // waiting: the same result again is no sign
}

func observe(name, args, result string, isError, polls bool) observation {
	o := observation{name: name, polls: polls, action: sha256.Sum256([]byte(name + "\x00" + args)), result: sha256.Sum256([]byte(result))}
	if isError {
		o.err = result
	}
	return o
}

func (o observation) same(p observation) bool { return o.action == p.action && o.result == p.result }

// loopDetector watches an attempt's calls for signs that it is about to get
// stuck. Results count: the same command with a new result is progress.
type loopDetector struct {
	recent  []observation // the last few that do not poll
	changes map[[sha256.Size]byte]bool
	idle    int // turns since the last new change
	broken  int // malformed answers in a row
}

// turn is told how a turn ended. understood says whether any of its calls was
// well formed; calls without any is a text and says nothing.
func (d *loopDetector) turn(understood bool, calls int) *sia.Signal {
	d.idle++
	switch {
	case understood || calls == 0:
		d.broken = 0
	default:
		d.broken++
	}
	switch {
	case d.broken >= malformed:
		return stuck("%d answers in a row held only tool calls that could not be understood", d.broken)
	case d.idle >= noChange:
		return stuck("no new change to a file for %d turns", d.idle)
	}
	return nil
}

// call is told about one call; changed says whether it changed a file.
func (d *loopDetector) call(o observation, changed bool) *sia.Signal {
	if changed && !d.changes[o.action] {
		if d.changes == nil {
			d.changes = map[[sha256.Size]byte]bool{}
		}
		d.changes[o.action] = true
		d.idle = 0
	}
	if o.polls {
		return nil
	}
	d.recent = append(d.recent, o)
	if over := len(d.recent) - alternating; over > 0 {
		d.recent = append(d.recent[:0], d.recent[over:]...)
	}
	return d.circle()
}

// circle looks for a pattern in the recent calls, the clearest first.
func (d *loopDetector) circle() *sia.Signal {
	n := len(d.recent)
	last := d.recent[n-1]
	run := func(alike func(a, b observation) bool) int {
		k := 1
		for k < n && alike(d.recent[n-1-k], last) {
			k++
		}
		return k
	}
	if last.err != "" && run(func(a, b observation) bool { return a.err != "" && a.action == b.action }) >= sameError {
		return stuck("the same call of %s failed %d times in a row: %s", last.name, sameError, firstLine(last.err))
	}
	if run(observation.same) >= sameResult {
		return stuck("the same call of %s gave the same result %d times in a row", last.name, sameResult)
	}
	if n < alternating || d.recent[n-1].same(d.recent[n-2]) {
		return nil
	}
	for i := n - alternating; i < n-2; i++ {
		if !d.recent[i].same(d.recent[i+2]) {
			return nil
		}
	}
	return stuck("calls of %s and %s alternated %d times with the same results", d.recent[n-2].name, last.name, alternating)
}

func stuck(format string, args ...any) *sia.Signal {
	return &sia.Signal{Name: sia.AboutToStick, Evidence: fmt.Sprintf(format, args...)}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return head(s, 200)
}
