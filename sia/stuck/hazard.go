package stuck

import (
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"math"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Hazard is a logistic model of the chance that an attempt gets nowhere: that it
// runs into one of its limits, or ends without a change. The zero Hazard
// predicts nothing. It is comparable, and safe for concurrent use.
type Hazard struct {
	Bias, Streak, Same, Idle, Spent float64 // weights of [sia.Risk]'s fields

	// Cost is what a wrong interruption costs beside the work that is lost, in
	// budgets of an attempt; at least 0.
	Cost float64
}

// Chance is the chance that an attempt gets nowhere, between 0 and 1.
func (h Hazard) Chance(r sia.Risk) float64 {
	return 1 / (1 + math.Exp(-(h.Bias + h.Streak*r.Streak + h.Same*r.Same + h.Idle*r.Idle + h.Spent*r.Spent)))
}

// Limit is the chance above which going on costs more than stopping:
// C_interrupt/(C_interrupt + C_waste) (docs/rules.md#going-nowhere). A wrong interruption
// costs what was spent, and Cost; going on in vain costs the rest of the budget.
func (h Hazard) Limit(spent float64) float64 {
	return (spent + h.Cost) / (1 + h.Cost)
}

// Judge fills in what the model makes of a reading.
func (h Hazard) Judge(r sia.Risk) sia.Risk {
	r.Chance, r.Limit = h.Chance(r), h.Limit(r.Spent)
	return r
}

// How the weights are learned, and what counts as a sign.
const (
	mostWeight  = 20 // how many cases one case stands for at most
	errorWindow = 12 // last calls in which the same error is looked for
	fullStreak  = 3  // calls alike in a row, beside the first, that count as 1
)

// Case is how risky an attempt looked at its worst, and how it ended.
type Case struct {
	Risk    sia.Risk
	Nowhere bool // it ran into a limit, or ended without a change
}

// Pace is how fast weights are learned.
type Pace struct {
	Rate float64 // the step, 0–1
	Pull float64 // how strongly weights are held to where they began, 0–1
}

// Learn replays cases, oldest first, and gives the weights that they lead to from those before anything
// was learned. Each case is one step of stochastic gradient descent on the logistic loss. How an interrupted
// attempt would have ended is not known. So a spared case stands for the interrupted ones too and
// weighs 1/share, where share is the share that is spared. The same cases give the same weights.
func Learn(from Hazard, pace Pace, share float64, cases []Case) Hazard {
	h := from
	for _, c := range cases {
		weight := 1.0
		if c.Risk.Spared {
			weight = min(mostWeight, 1/max(share, 1./mostWeight))
		}
		y := 0.0
		if c.Nowhere {
			y = 1
		}
		step := pace.Rate * weight * (y - h.Chance(c.Risk))
		move := func(w *float64, x, shipped float64) { *w += step*x - pace.Pull*(*w-shipped) }
		move(&h.Bias, 1, from.Bias)
		move(&h.Streak, c.Risk.Streak, from.Streak)
		move(&h.Same, c.Risk.Same, from.Same)
		move(&h.Idle, c.Risk.Idle, from.Idle)
		move(&h.Spent, c.Risk.Spent, from.Spent)
	}
	return h
}

// CaseOf is what an attempt that has ended teaches. ok is false when it teaches nothing: because it
// was interrupted, or because a person or something outside ended it.
func CaseOf(a sia.Attempt) (c Case, ok bool) {
	if a.Risk == nil || a.Risk.Interrupted {
		return Case{}, false
	}
	for _, s := range a.Signals {
		if s.Name == sia.AboutToStick {
			return Case{}, false
		}
	}
	switch a.Outcome {
	case sia.AttemptPass, sia.AttemptFail:
		return Case{Risk: *a.Risk, Nowhere: a.Diff.Files == 0}, true
	case sia.AttemptCheckpoint:
		return Case{Risk: *a.Risk, Nowhere: true}, true
	}
	return Case{}, false
}

// Spared reports whether an attempt may go on although it should be interrupted. A share of them
// may, so that SIA learns how such attempts end. The same attempt is always treated alike.
func Spared(task sia.TaskID, attempt int, share float64) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/interrupt", task, attempt)
	x := h.Sum64()
	x ^= x >> 33 // FNV's low bits depend on the last bytes too much
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11)/(1<<53) < share
}

// Look reads the part of a risk that shows in the last calls.
func Look(actions []Action) sia.Risk {
	var r sia.Risk
	seed := maphash.MakeSeed()
	tail := actions[max(0, len(actions)-errorWindow):]
	calls := make([]comparedCall, len(tail))
	for i, a := range tail {
		calls[i] = newCall(seed, a)
	}
	alike := alikeInARow(calls, func(a, b comparedCall) bool {
		return a.pair == b.pair && a.DiffSize == b.DiffSize && !a.poll
	})
	r.Streak = min(1, float64(max(0, alike-1))/fullStreak)
	errors := map[string]int{}
	for _, a := range tail {
		if a.Error {
			errors[errorSignature(a.Result)]++
		}
	}
	for _, n := range errors {
		r.Same = max(r.Same, float64(n)/errorWindow)
	}
	return r
}

// errorSignature is an error without what is particular to one call.
func errorSignature(result string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(result), "\n")
	return particularText.ReplaceAllString(line[:min(len(line), 500)], "#")
}

var particularText = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`|[0-9]+")

// Evidence says in words why an attempt is interrupted. turns is the number of turns without a new
// change.
func Evidence(r sia.Risk, turns int) string {
	var seen []string
	if n := int(math.Round(r.Streak * fullStreak)); n > 0 {
		seen = append(seen, fmt.Sprintf("%d calls in a row with the same result", n+1))
	}
	if n := int(math.Round(r.Same * errorWindow)); n > 1 {
		seen = append(seen, fmt.Sprintf("%d of the last %d calls ended in the same error", n, errorWindow))
	}
	seen = append(seen, fmt.Sprintf("no new change for %d turns", turns),
		fmt.Sprintf("%d %% of its budget used", int(math.Round(r.Spent*100))))
	return fmt.Sprintf("it gets nowhere with a chance of %d %%, and from %d %% on stopping costs less: %s",
		int(math.Round(r.Chance*100)), int(math.Round(r.Limit*100)), strings.Join(seen, ", "))
}
