package stuck

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Action is one tool call of an attempt and its outcome.
type Action struct {
	Tool     string
	Args     string
	Result   string
	Error    bool
	DiffSize int // lines of the attempt's diff after the call
}

// The number of repetitions from which an attempt counts as about to get stuck.
// The first three are those of the OpenHands project's stuck detector; the others
// cover cases that it does not detect.
const (
	samePairs   = 4  // consecutive calls with the same result
	sameErrors  = 3  // consecutive equal calls that end in an error
	takingTurns = 6  // two alternating calls, each with the same result
	pollLimit   = 30 // consecutive polls with the same result
	idleTurns   = 24 // consecutive calls that leave the diff unchanged …
	idleRepeats = 18 // … if at least this many repeat an earlier call and its result
)

// Predict reports whether an attempt is about to get stuck, judged by the calls so
// far, and the evidence. It compares results: the same command with another result
// is progress. Waiting for something that runs (sleep, wait, status) is exempt up
// to a limit. The cost does not grow with the length of the transcript, because
// only the last calls are used.
func Predict(actions []Action) (stuck bool, evidence string) {
	tail := actions[max(0, len(actions)-max(idleTurns, pollLimit)*2):]
	calls := make([]comparedCall, len(tail))
	seed := maphash.MakeSeed()
	for i, a := range tail {
		calls[i] = newCall(seed, a)
	}
	for _, rule := range []func([]comparedCall) string{errorsRepeat, pairsRepeat, turnsAlternate, idleRepeat} {
		if why := rule(calls); why != "" {
			return true, why
		}
	}
	return false, ""
}

// comparedCall is an action with the hashes that the rules compare.
type comparedCall struct {
	Action
	act  uint64 // hash of tool and arguments
	pair uint64 // hash of tool, arguments and the result without its varying parts
	poll bool
}

func newCall(seed maphash.Seed, a Action) comparedCall {
	c := comparedCall{Action: a, poll: isPoll(a)}
	args := strings.Join(strings.Fields(a.Args), " ")
	c.act = maphash.String(seed, a.Tool+"\x00"+args)
	c.pair = maphash.String(seed, fmt.Sprintf("%s\x00%s\x00%t\x00%s", a.Tool, args, a.Error, steadyResult(a.Result)))
	return c
}

// errorsRepeat detects that the same call ends in an error repeatedly.
func errorsRepeat(cs []comparedCall) string {
	n := alikeInARow(cs, func(a, b comparedCall) bool { return a.act == b.act && a.Error && b.Error })
	if n < sameErrors {
		return ""
	}
	last := cs[len(cs)-1]
	return fmt.Sprintf("%s ended in an error %d times in a row: %s", last.name(), n, firstLine(last.Result))
}

// pairsRepeat detects that the same call gives the same result repeatedly.
func pairsRepeat(cs []comparedCall) string {
	n := alikeInARow(cs, func(a, b comparedCall) bool { return a.pair == b.pair && a.DiffSize == b.DiffSize })
	if n < samePairs {
		return ""
	}
	last := cs[len(cs)-1]
	if last.poll && n < pollLimit {
		return ""
	}
	return fmt.Sprintf("%s gave the same result %d times in a row", last.name(), n)
}

// turnsAlternate detects two alternating calls without a new result.
func turnsAlternate(cs []comparedCall) string {
	if len(cs) < takingTurns {
		return ""
	}
	t := cs[len(cs)-takingTurns:]
	if t[0].pair == t[1].pair || t[0].poll || t[1].poll {
		return ""
	}
	for i := 2; i < len(t); i++ {
		if t[i].pair != t[i-2].pair || t[i].DiffSize != t[i-2].DiffSize {
			return ""
		}
	}
	return fmt.Sprintf("%s and %s took turns %d times, always with the same results", t[0].name(), t[1].name(),
		takingTurns/2)
}

// idleRepeat detects many turns without a new change that mostly repeat earlier calls.
func idleRepeat(cs []comparedCall) string {
	if len(cs) < idleTurns {
		return ""
	}
	first := len(cs) - idleTurns
	seen := map[uint64]bool{}
	for _, c := range cs[:first] {
		seen[c.pair] = true
	}
	repeats := 0
	for _, c := range cs[first:] {
		if c.poll || c.DiffSize != cs[first].DiffSize {
			return ""
		}
		if seen[c.pair] {
			repeats++
		}
		seen[c.pair] = true
	}
	if repeats < idleRepeats {
		return ""
	}
	return fmt.Sprintf("no new change in %d calls, %d of which repeated an earlier call with the same result", idleTurns,
		repeats)
}

// alikeInARow returns how many of the last calls are pairwise alike, at least 1 if there
// is any.
func alikeInARow(cs []comparedCall, alike func(a, b comparedCall) bool) int {
	if len(cs) == 0 {
		return 0
	}
	n := 1
	for i := len(cs) - 1; i > 0 && alike(cs[i-1], cs[i]); i-- {
		n++
	}
	return n
}

func (c comparedCall) name() string {
	return strings.TrimSpace(c.Tool + " " + text.Clip(text.OneLine(c.Args), 80))
}

// firstLine returns the first line of a text, cut to 80 characters.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return text.Clip(s, 80)
}

// varyingText matches text that differs between runs of the same command: durations,
// times of day, addresses, and numbers as long as a process id.
var varyingText = regexp.MustCompile(`\b\d[\d.,]*\s?(ns|µs|us|ms|s|secs?|seconds?|min|minutes?)\b|` +
	`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\b|\b0x[0-9a-fA-F]+\b|\b\d{5,}\b`)

// steadyResult returns a result without the parts that differ between runs. Counts
// stay: two failed tests instead of three are progress. A long result is cut to its
// first and last KiB.
func steadyResult(s string) string {
	const keep = 1 << 10
	if len(s) > 2*keep {
		s = s[:keep] + s[len(s)-keep:]
	}
	return varyingText.ReplaceAllString(s, "#")
}
