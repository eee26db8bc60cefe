package stuck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Unchanged is the minimum similarity to an earlier diff with which an attempt's
// output counts as unchanged.
const Unchanged = 0.95

// Judged contains the result of an attempt that did not pass.
type Judged struct {
	Failures []sia.CheckFailure // of its red checks; their signatures are compared
	Criteria []string           // names of the judged checks; empty: no check ran
	Passing  []string           // names of the judged checks that are green
	Before   []string           // names of the checks that were green on the base commit
	Hunks    []uint64           // hashes of its diff against the base, from Hunks
	Empty    bool               // its diff is empty
}

// Signals returns the signals that fire for the attempt under judgement, which is
// the task's last one and has no outcome yet, in the order of docs/rules.md#signals.
// Two of them can fire on the first failure, because it is compared with the base
// commit.
func Signals(t sia.Task, now Judged) []sia.Signal {
	past := earlierFailures(t.Attempts)
	number := len(t.Attempts)
	var signals []sia.Signal
	fire := func(name sia.SignalName, evidence string) {
		if evidence != "" {
			signals = append(signals, sia.Signal{Name: name, Evidence: evidence})
		}
	}
	fire(sia.SameTask, sameTask(past, number))
	fire(sia.SameError, sameError(past, now.Failures))
	fire(sia.NoProgress, noProgress(past, now))
	fire(sia.OutputUnchanged, outputUnchanged(past, now))
	return signals
}

// earlierFailures returns the attempts in which the agent failed. Attempts that a person
// cancelled, that asked a question or that were not judged for an external reason are no
// evidence about the agent.
func earlierFailures(all []sia.Attempt) []sia.Attempt {
	var past []sia.Attempt
	for _, a := range all {
		if a.Outcome == sia.AttemptFail || a.Outcome == sia.AttemptCheckpoint {
			past = append(past, a)
		}
	}
	return past
}

func sameTask(past []sia.Attempt, number int) string {
	ended := fmt.Sprintf("attempt %d ended without passing", number)
	switch len(past) {
	case 0:
		return ended
	case 1:
		return fmt.Sprintf("%s, as attempt %d did", ended, past[0].Number)
	}
	return fmt.Sprintf("%s, as %s did", ended, namedAttempts(past))
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
			said = append(said, fmt.Sprintf("%s fails as in %s (signature %s)", f.Check, namedAttempts(seen), f.Signature))
		}
	}
	return strings.Join(said, "; ")
}

// noProgress compares the attempt with the best judged attempt before, or with the base commit if
// there is none.
func noProgress(past []sia.Attempt, now Judged) string {
	if len(now.Criteria) == 0 {
		return "no check ran on what it did, so none is green that was not green before"
	}
	var best *sia.Attempt
	for i, a := range past {
		if len(a.Passing)+len(a.Failures) > 0 && (best == nil || len(a.Passing) > len(best.Passing)) {
			best = &past[i]
		}
	}
	switch {
	case best == nil:
		return notMet(now)
	case len(now.Passing) > len(best.Passing):
		return ""
	}
	return fmt.Sprintf("%s; after attempt %d: %d", greenChecks(len(now.Passing)), best.Number, len(best.Passing))
}

// notMet describes which criteria are not met that were not met on the base commit either, and
// which are not met any more. It returns "" if a new criterion is met.
func notMet(now Judged) string {
	var open, lost []string
	for _, name := range now.Criteria {
		green, before := slices.Contains(now.Passing, name), slices.Contains(now.Before, name)
		switch {
		case green && !before:
			return ""
		case !green && before:
			lost = append(lost, name)
		case !green:
			open = append(open, name)
		}
	}
	var said []string
	switch len(open) {
	case 0:
	case 1:
		said = append(said, "the one check that was not green before is not green now ("+open[0]+")")
	default:
		said = append(said, fmt.Sprintf("none of the %d checks that were not green before is green now (%s)", len(open),
			strings.Join(open, ", ")))
	}
	if len(lost) > 0 {
		said = append(said, "green on the base commit and not any more: "+strings.Join(lost, ", "))
	}
	return strings.Join(said, "; ")
}

func outputUnchanged(past []sia.Attempt, now Judged) string {
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

// namedAttempts returns the names of attempts: "attempt 1", "attempts 1, 2 and 4".
func namedAttempts(as []sia.Attempt) string {
	numbers := make([]int, len(as))
	for i, a := range as {
		numbers[i] = a.Number
	}
	return text.Numbered("attempt", numbers)
}

func greenChecks(n int) string {
	switch n {
	case 0:
		return "no check is green"
	case 1:
		return "1 check is green"
	}
	return fmt.Sprintf("%d checks are green", n)
}
