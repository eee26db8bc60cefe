package stuck

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Unchanged is the similarity to an earlier diff from which on an attempt's
// output counts as unchanged.
const Unchanged = 0.95

// Judged is what is known about an attempt that did not pass.
type Judged struct {
	Failures []sia.CheckFailure // of its red checks; their signatures count
	Passing  []string           // names of its green criteria
	Hunks    []uint64           // of its diff against the base, as Hunks makes them
	Empty    bool               // its diff is empty
}

// Signals lists the signals that fire for the attempt under judgement: the
// task's last one, as long as it has no outcome. They come in the order of the
// product document.
func Signals(t sia.Task, now Judged) []sia.Signal {
	past := earlier(t.Attempts)
	var signals []sia.Signal
	fire := func(name sia.SignalName, evidence string) {
		if evidence != "" {
			signals = append(signals, sia.Signal{Name: name, Evidence: evidence})
		}
	}
	fire(sia.SameTask, sameTask(past))
	fire(sia.SameError, sameError(past, now.Failures))
	fire(sia.NoProgress, noProgress(past, now.Passing))
	fire(sia.OutputUnchanged, unchanged(past, now))
	return signals
}

// earlier selects the attempts that were the agent's to pass and did not. One
// that a person cancelled, that asked a question or that something outside kept
// from being judged says nothing about the agent.
func earlier(all []sia.Attempt) []sia.Attempt {
	var past []sia.Attempt
	for _, a := range all {
		if a.Outcome == sia.AttemptFail || a.Outcome == sia.AttemptCheckpoint {
			past = append(past, a)
		}
	}
	return past
}

func sameTask(past []sia.Attempt) string {
	switch len(past) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("attempt %d at this task ended without passing too", past[0].Number)
	}
	return fmt.Sprintf("%s at this task ended without passing too", attempts(past))
}

func sameError(past []sia.Attempt, now []sia.CheckFailure) string {
	var said []string
	for _, f := range now {
		if f.Signature == "" {
			continue
		}
		var seen []sia.Attempt
		for _, a := range past {
			for _, g := range a.Failures {
				if g.Signature == f.Signature {
					seen = append(seen, a)
					break
				}
			}
		}
		if len(seen) > 0 {
			said = append(said, fmt.Sprintf("%s fails as in %s (signature %s)", f.Check, attempts(seen), f.Signature))
		}
	}
	return strings.Join(said, "; ")
}

func noProgress(past []sia.Attempt, passing []string) string {
	if len(past) == 0 {
		return ""
	}
	best := past[0]
	for _, a := range past[1:] {
		if len(a.Passing) > len(best.Passing) {
			best = a
		}
	}
	if len(passing) > len(best.Passing) {
		return ""
	}
	return fmt.Sprintf("%s, and attempt %d had %d", criteria(len(passing)), best.Number, len(best.Passing))
}

func unchanged(past []sia.Attempt, now Judged) string {
	if now.Empty {
		return "the attempt changed nothing"
	}
	var at sia.Attempt
	most := 0.0
	for _, a := range past {
		if len(a.Hunks) == 0 {
			continue
		}
		if s := Similarity(a.Hunks, now.Hunks); s > most {
			at, most = a, s
		}
	}
	if most < Unchanged {
		return ""
	}
	return fmt.Sprintf("the diff is %d %% that of attempt %d", int(most*100), at.Number)
}

// attempts names attempts: "attempt 1", "attempts 1, 2 and 4".
func attempts(as []sia.Attempt) string {
	numbers := make([]string, len(as))
	for i, a := range as {
		numbers[i] = strconv.Itoa(a.Number)
	}
	if len(numbers) == 1 {
		return "attempt " + numbers[0]
	}
	last := len(numbers) - 1
	return "attempts " + strings.Join(numbers[:last], ", ") + " and " + numbers[last]
}

func criteria(n int) string {
	switch n {
	case 0:
		return "no criterion passes"
	case 1:
		return "1 criterion passes"
	}
	return fmt.Sprintf("%d criteria pass", n)
}
