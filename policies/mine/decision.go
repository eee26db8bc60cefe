package mine

import "github.com/sia-bot/sia/policies"

// Decision is a logged decision with its outcome. Decisions are passed in the order in which they were made.
type Decision struct {
	Task     string // id of the task, unique in the log
	Type     policies.Type
	Context  policies.Context
	Choice   string
	Options  []Option // possible choices; without probabilities if the log has none
	Resolved bool     // the resulting attempt passed
}

// Option is one possible choice.
type Option struct {
	Choice      string
	Probability float64 // probability of being chosen, 0–1
}

// probability returns that of a choice among options; 0 when it is not among them.
func probability(of string, among []Option) float64 {
	for _, o := range among {
		if o.Choice == of {
			return o.Probability
		}
	}
	return 0
}

// y returns 1 for a resolved decision, else 0.
func (d Decision) y() float64 {
	if d.Resolved {
		return 1
	}
	return 0
}

// Tally counts tried and resolved decisions or tasks.
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

// without returns the tally minus one decision.
func (t Tally) without(d Decision) Tally {
	t.Tried--
	if d.Resolved {
		t.Resolved--
	}
	return t
}

// shrunk returns the share of the tally, shrunk towards a prior share that counts like weight decisions (the mean of a
// Beta posterior).
func (t Tally) shrunk(prior, weight float64) float64 {
	return (weight*prior + float64(t.Resolved)) / (weight + float64(t.Tried))
}
