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

// How often something has to repeat before an attempt counts as about to get
// stuck. The first three are what agents that loop were found to do by the
// OpenHands project's stuck detector; the others bound what it does not see.
const (
	samePairs   = 4  // the same call with the same result, in a row
	sameErrors  = 3  // the same call ending in an error, in a row
	takingTurns = 6  // two calls taking turns, each with the same result
	pollLimit   = 30 // the same poll with the same result, in a row
	idleTurns   = 24 // calls in a row that leave the diff as it was …
	idleRepeats = 18 // … when so many of them repeat an earlier call and its result
)

// Predict says whether an attempt is about to get stuck, from the calls so far,
// and what shows it. It sees results: the same command with another outcome is
// progress. Waiting for something that runs (sleep, wait, status) is patience
// and exempt until it gets out of hand. The cost does not grow with the length
// of the transcript: the last calls alone decide.
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

// comparedCall is an action reduced to what rules compare.
type comparedCall struct {
	Action
	act  uint64 // tool and arguments
	pair uint64 // and the result, without what varies from run to run
	poll bool
}

func newCall(seed maphash.Seed, a Action) comparedCall {
	c := comparedCall{Action: a, poll: isPoll(a)}
	args := strings.Join(strings.Fields(a.Args), " ")
	c.act = maphash.String(seed, a.Tool+"\x00"+args)
	c.pair = maphash.String(seed, fmt.Sprintf("%s\x00%s\x00%t\x00%s", a.Tool, args, a.Error, steadyResult(a.Result)))
	return c
}

// errorsRepeat: the same call ends in an error again and again.
func errorsRepeat(cs []comparedCall) string {
	n := alikeInARow(cs, func(a, b comparedCall) bool { return a.act == b.act && a.Error && b.Error })
	if n < sameErrors {
		return ""
	}
	last := cs[len(cs)-1]
	return fmt.Sprintf("%s ended in an error %d times in a row: %s", last.name(), n, firstLine(last.Result))
}

// pairsRepeat: the same call gives the same result again and again.
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

// turnsAlternate: two calls take turns and neither brings anything new.
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

// idleRepeat: many turns without a new change, most of them seen before.
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

// alikeInARow is how many of the last calls are pairwise alike, at least 1 where there
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

// firstLine is the first line of a text, at most 80 characters.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return text.Clip(s, 80)
}

// varyingText is text that changes from run to run of the same command: durations,
// times of day, addresses, and numbers as long as a process id.
var varyingText = regexp.MustCompile(`\b\d[\d.,]*\s?(ns|µs|us|ms|s|secs?|seconds?|min|minutes?)\b|` +
	`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\b|\b0x[0-9a-fA-F]+\b|\b\d{5,}\b`)

// steadyResult is a result without what changes from run to run. Counts stay: two
// failed tests instead of three are progress. Of a long result its first and
// last KiB count.
func steadyResult(s string) string {
	const keep = 1 << 10
	if len(s) > 2*keep {
		s = s[:keep] + s[len(s)-keep:]
	}
	return varyingText.ReplaceAllString(s, "#")
}
