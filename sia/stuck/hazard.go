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

// Hazard is a logistic model of the probability that an attempt gets nowhere: that
// it reaches one of its limits, or ends without a change. The zero Hazard predicts
// nothing. It is comparable, and safe for concurrent use.
type Hazard struct {
	Bias, Streak, Same, Idle, Spent float64 // weights of [sia.Risk]'s fields

	// Cost is the cost of a wrong interruption in addition to the lost work, in
	// budgets of an attempt; at least 0.
	Cost float64
}

// Chance returns the probability that an attempt gets nowhere, between 0 and 1.
func (h Hazard) Chance(r sia.Risk) float64 {
	return 1 / (1 + math.Exp(-(h.Bias + h.Streak*r.Streak + h.Same*r.Same + h.Idle*r.Idle + h.Spent*r.Spent)))
}

// Limit returns the probability above which continuing costs more than stopping:
// C_interrupt/(C_interrupt + C_waste) (docs/rules.md#going-nowhere). A wrong interruption
// costs the spent budget and Cost; continuing without success costs the rest of the budget.
func (h Hazard) Limit(spent float64) float64 {
	return (spent + h.Cost) / (1 + h.Cost)
}

// Judge returns r with Chance and Limit set.
func (h Hazard) Judge(r sia.Risk) sia.Risk {
	r.Chance, r.Limit = h.Chance(r), h.Limit(r.Spent)
	return r
}

// Parameters of learning and of the features.
const (
	maxWeight   = 20 // maximum weight of a case, and maximum absolute value of a learned weight
	errorWindow = 12 // number of last calls among which equal errors are counted
	fullStreak  = 3  // consecutive similar calls, after the first, that count as 1
)

// Case is the highest risk seen in an attempt, and how the attempt ended.
type Case struct {
	Risk    sia.Risk
	Nowhere bool // it reached a limit, or ended without a change
}

// Pace contains the learning rate and the regularisation.
type Pace struct {
	Rate float64 // learning rate, 0–1
	Pull float64 // strength of the pull towards the initial weights, 0–1
}

// Learn returns the weights learned from cases, oldest first, starting at the initial weights. Each case is one
// step of stochastic gradient descent on the logistic loss. The end of an interrupted attempt is unknown, so a
// spared case represents the interrupted ones too and has the weight 1/share, where share is the share of spared
// attempts. The same cases give the same weights.
func Learn(from Hazard, pace Pace, share float64, cases []Case) Hazard {
	h := from
	for _, c := range cases {
		weight := 1.0
		if c.Risk.Spared {
			weight = min(maxWeight, 1/max(share, 1./maxWeight))
		}
		y := 0.0
		if c.Nowhere {
			y = 1
		}
		step := pace.Rate * weight * (y - h.Chance(c.Risk))
		move := func(w *float64, x, shipped float64) {
			*w = min(maxWeight, max(-maxWeight, *w+step*x-pace.Pull*(*w-shipped)))
		}
		move(&h.Bias, 1, from.Bias)
		move(&h.Streak, c.Risk.Streak, from.Streak)
		move(&h.Same, c.Risk.Same, from.Same)
		move(&h.Idle, c.Risk.Idle, from.Idle)
		move(&h.Spent, c.Risk.Spent, from.Spent)
	}
	return h
}

// CaseOf returns the case of an attempt that has ended. ok is false if nothing can be learned from it, because it
// was interrupted, because a person or an external cause ended it, or because its risk has a value that is no number.
// The features are limited to 0–1: the risk may come from a runner.
func CaseOf(a sia.Attempt) (c Case, ok bool) {
	if a.Risk == nil || a.Risk.Interrupted {
		return Case{}, false
	}
	r := *a.Risk
	for _, x := range []*float64{&r.Streak, &r.Same, &r.Idle, &r.Spent} {
		if math.IsNaN(*x) {
			return Case{}, false
		}
		*x = min(1, max(0, *x))
	}
	for _, s := range a.Signals {
		if s.Name == sia.AboutToStick {
			return Case{}, false
		}
	}
	switch a.Outcome {
	case sia.AttemptPass, sia.AttemptFail:
		return Case{Risk: r, Nowhere: a.Diff.Files == 0}, true
	case sia.AttemptCheckpoint:
		return Case{Risk: r, Nowhere: true}, true
	}
	return Case{}, false
}

// Spared reports whether an attempt may continue although it should be interrupted. A share of them
// may, so that SIA learns how such attempts end. The result for an attempt is always the same.
func Spared(task sia.TaskID, attempt int, share float64) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/interrupt", task, attempt)
	x := h.Sum64()
	x ^= x >> 33 // FNV's low bits depend on the last bytes too much
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11)/(1<<53) < share
}

// Look returns the features of a risk that depend on the last calls.
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

// errorSignature returns the first line of an error without the parts that are specific to one call.
func errorSignature(result string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(result), "\n")
	return particularText.ReplaceAllString(line[:min(len(line), 500)], "#")
}

var particularText = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`|[0-9]+")

// Evidence describes for people why an attempt is interrupted. turns is the number of turns without a new
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
