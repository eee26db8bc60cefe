package mine

import "github.com/sia-bot/sia/policies"

// Decision is one of the log, with its outcome. Decisions are given in the order in
// which they were made.
type Decision struct {
	Task     string // names the task, in the whole log
	Type     policies.Type
	Context  policies.Context
	Choice   string
	Options  []Option // that there were; without probabilities where the log has none
	Resolved bool     // the attempt that it led to passed
}

// Option is one thing that could have been chosen.
type Option struct {
	Choice      string
	Probability float64 // with which it was to be chosen, 0–1
}

// probability is that of a choice among options; 0 when it is none of them.
func probability(of string, among []Option) float64 {
	for _, o := range among {
		if o.Choice == of {
			return o.Probability
		}
	}
	return 0
}

// y is 1 when the decision was followed by success, else 0.
func (d Decision) y() float64 {
	if d.Resolved {
		return 1
	}
	return 0
}

// Tally counts how many of the tried were resolved.
type Tally struct {
	Resolved int `json:"resolved"`
	Tried    int `json:"tried"`
}

func (t *Tally) count(resolved bool) {
	t.Tried++
	if resolved {
		t.Resolved++
	}
}

// without is the tally less one decision.
func (t Tally) without(d Decision) Tally {
	t.Tried--
	if d.Resolved {
		t.Resolved--
	}
	return t
}

// shrunk is the share of the tally, drawn to a prior share that counts like weight decisions
// (the mean of a Beta posterior).
func (t Tally) shrunk(prior, weight float64) float64 {
	return (weight*prior + float64(t.Resolved)) / (weight + float64(t.Tried))
}
