package mine

import (
	"cmp"
	"math"
	"slices"

	"github.com/sia-bot/sia/policies"
)

// Parameters of shrinkage; weights are in decisions. They were set by hand: ten decisions of a kind count as much as
// everything else of the type.
const (
	evenShare  = 0.5
	evenWeight = 2
	kindWeight = 10
)

// fewest is the minimum number of randomised decisions, and of tasks in a cell, for a result.
const fewest = 20

// OptionWorth summarises the decisions that chose one option.
type OptionWorth struct {
	Type     policies.Type `json:"type"`
	Choice   string        `json:"choice"`
	Tally                  // decisions
	Credit   float64       `json:"credit"`             // mean of outcome minus expected outcome, -1–1
	Contrast *Contrast     `json:"contrast,omitempty"` // nil: too few randomised decisions
}

// Contrast is the difference in the share of resolutions between an option and the others, from randomised decisions.
type Contrast struct {
	Difference float64 `json:"difference"` // of shares, -1–1
	Low        float64 `json:"low"`        // 95 % interval
	High       float64 `json:"high"`
	Randomised int     `json:"randomised"` // number of randomised decisions
}

// Expected returns for each decision the expected share of resolutions regardless of the choice: that of all other
// decisions of its type about tasks of its kind, shrunk towards that of its type. The decision itself is excluded.
func Expected(ds []Decision) []float64 {
	type key struct {
		typ  policies.Type
		kind policies.Kind
	}
	types, kinds := map[policies.Type]Tally{}, map[key]Tally{}
	for _, d := range ds {
		t, k := types[d.Type], kinds[key{d.Type, d.Context.Task.Kind}]
		t.count(d.Resolved)
		k.count(d.Resolved)
		types[d.Type], kinds[key{d.Type, d.Context.Task.Kind}] = t, k
	}
	out := make([]float64, len(ds))
	for i, d := range ds {
		usual := types[d.Type].without(d).shrunk(evenShare, evenWeight)
		out[i] = kinds[key{d.Type, d.Context.Task.Kind}].without(d).shrunk(usual, kindWeight)
	}
	return out
}

// Options returns a summary of each option, by type of decision in the order of [policies.Types], the most often chosen
// first.
func Options(ds []Decision) []OptionWorth {
	expected := Expected(ds)
	var out []OptionWorth
	for i, d := range ds {
		at := slices.IndexFunc(out, func(o OptionWorth) bool { return o.Type == d.Type && o.Choice == d.Choice })
		if at < 0 {
			at = len(out)
			out = append(out, OptionWorth{Type: d.Type, Choice: d.Choice})
		}
		out[at].count(d.Resolved)
		out[at].Credit += d.y() - expected[i]
	}
	for i := range out {
		o := &out[i]
		o.Credit /= float64(o.Tried)
		o.Contrast = contrast(ds, o.Type, o.Choice)
	}
	order := policies.Types()
	slices.SortStableFunc(out, func(a, b OptionWorth) int {
		return cmp.Or(slices.Index(order, a.Type)-slices.Index(order, b.Type), b.Tried-a.Tried,
			cmp.Compare(a.Choice, b.Choice))
	})
	return out
}

// contrast compares an option with the others over the decisions that were randomised between it and another. Each side
// is the self-normalised mean weighted by inverse propensity (Hájek, 1971). It returns nil when there are too few.
func contrast(ds []Decision, typ policies.Type, choice string) *Contrast {
	var with, rest weighted
	n := 0
	for _, d := range ds {
		p := probability(choice, d.Options)
		if d.Type != typ || !(p > 0 && p < 1) {
			continue
		}
		n++
		if d.Choice == choice {
			with.add(1/p, d.y())
		} else {
			rest.add(1/(1-p), d.y())
		}
	}
	if n < fewest || with.sum == 0 || rest.sum == 0 {
		return nil
	}
	c := Contrast{Difference: with.mean() - rest.mean(), Randomised: n}
	c.Low, c.High = newcombe(with, rest)
	return &c
}

// weighted accumulates a weighted mean.
type weighted struct{ sum, squares, y float64 }

func (w *weighted) add(weight, y float64) {
	w.sum += weight
	w.squares += weight * weight
	w.y += weight * y
}

func (w weighted) mean() float64 { return w.y / w.sum }

// effective returns the effective sample size (Kish, "Survey Sampling", 1965).
func (w weighted) effective() float64 { return w.sum * w.sum / w.squares }

// z95 and z90 are quantiles of the normal distribution: two-sided 95 %, one-sided 90 %.
const (
	z95 = 1.959964
	z90 = 1.281552
)

// wilson returns the 95 % score interval of a share (Wilson, 1927), with the effective sample size.
func (w weighted) wilson() (low, high float64) {
	n, p := w.effective(), w.mean()
	middle := (p + z95*z95/(2*n)) / (1 + z95*z95/n)
	half := z95 / (1 + z95*z95/n) * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// Interval returns the 95 % score interval of the share a of n, for n ≥ 1 (Wilson, 1927).
func Interval(a, n int) (low, high float64) {
	return weighted{sum: float64(n), squares: float64(n), y: float64(a)}.wilson()
}

// Difference returns the share a of n minus the share b of m, with its 95 % interval, for n and m ≥ 1.
func Difference(a, n, b, m int) (d, low, high float64) {
	x := weighted{sum: float64(n), squares: float64(n), y: float64(a)}
	y := weighted{sum: float64(m), squares: float64(m), y: float64(b)}
	low, high = newcombe(x, y)
	return x.mean() - y.mean(), low, high
}

// newcombe returns the 95 % interval of the difference of two shares: the hybrid score interval (Newcombe, Statistics
// in Medicine 17, 1998, method 10).
func newcombe(a, b weighted) (low, high float64) {
	la, ha := a.wilson()
	lb, hb := b.wilson()
	pa, pb := a.mean(), b.mean()
	return pa - pb - math.Hypot(pa-la, hb-pb), pa - pb + math.Hypot(ha-pa, pb-lb)
}
