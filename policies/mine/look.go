package mine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/sia-bot/sia/policies"
)

// falseShare is the false discovery rate, 0–1.
const falseShare = 0.1

// Finding is a context in which an option does better or worse than elsewhere. It counts tasks, not decisions: each
// once per side, by its first decision there.
type Finding struct {
	Type      policies.Type `json:"type"`
	Choice    string        `json:"choice"`
	Feature   string        `json:"feature"` // for example "language"
	Value     string        `json:"value"`   // for example "go"
	There     Tally         `json:"there"`
	Elsewhere Tally         `json:"elsewhere"`
	Others    Tally         `json:"others"` // other options in the same context, to see whether the context is hard
	Lift      float64       `json:"lift"`   // difference of the share there to elsewhere, shrunk towards 0; -1–1
	Low       float64       `json:"low"`    // 80 % interval of the lift
	High      float64       `json:"high"`
	P         float64       `json:"p"` // p-value of Fisher's exact test, two-sided
	Text      string        `json:"text"`
}

// Findings are the significant findings, lowest p-value first.
type Findings struct {
	Cells int       `json:"cells"` // number of tested combinations of option and context
	Found []Finding `json:"found"`
}

// Look tests each option in each context with at least 20 tasks there and elsewhere. A finding has a lift with an 80 %
// interval that excludes zero, and passes Benjamini and Hochberg's step-up procedure at 10 % over all tests (Journal of
// the Royal Statistical Society B 57, 1995).
func Look(ds []Decision) Findings {
	l := newLooker(ds)
	var cells []Finding
	for _, typ := range policies.Types() {
		var of []int // decisions of the type
		for i, d := range ds {
			if d.Type == typ {
				of = append(of, i)
			}
		}
		for _, choice := range choices(ds, of) {
			cells = append(cells, l.option(of, choice)...)
		}
	}
	out := Findings{Cells: len(cells), Found: []Finding{}}
	limit := stepUp(cells, falseShare)
	for _, c := range cells {
		if c.P <= limit && (c.Low > 0 || c.High < 0) {
			c.Text = c.text()
			out.Found = append(out.Found, c)
		}
	}
	slices.SortStableFunc(out.Found, func(a, b Finding) int { return cmp.Compare(a.P, b.P) })
	return out
}

// choices returns the chosen options, sorted.
func choices(ds []Decision, of []int) (all []string) {
	for _, i := range of {
		if !slices.Contains(all, ds[i].Choice) {
			all = append(all, ds[i].Choice)
		}
	}
	slices.Sort(all)
	return all
}

// looker has the decisions with numbered feature values, so that testing one cell allocates little.
type looker struct {
	ds     []Decision
	values []feature // values of all contexts, sorted by name and value
	has    [][]int   // decision → indexes in values
	tasks  []int     // decision → number of its task

	cell int          // number of the current cell
	met  [sides][]int // task → last cell in which it was counted on a side
}

// The sides of a cell.
const (
	there = iota
	elsewhere
	others
	sides
)

func newLooker(ds []Decision) *looker {
	l := &looker{ds: ds, has: make([][]int, len(ds)), tasks: make([]int, len(ds))}
	common := commonLabels(ds)
	tasks, numbers := map[string]int{}, map[feature]int{}
	found := make([][]feature, len(ds))
	for i, d := range ds {
		if _, known := tasks[d.Task]; !known {
			tasks[d.Task] = len(tasks)
		}
		l.tasks[i] = tasks[d.Task]
		found[i] = features(d.Context, common)
		for _, f := range found[i] {
			if _, known := numbers[f]; !known {
				numbers[f] = 0
				l.values = append(l.values, f)
			}
		}
	}
	slices.SortFunc(l.values, func(a, b feature) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.value, b.value))
	})
	for n, f := range l.values {
		numbers[f] = n
	}
	for i := range found {
		for _, f := range found[i] {
			l.has[i] = append(l.has[i], numbers[f])
		}
	}
	for side := range l.met {
		l.met[side] = make([]int, len(tasks))
	}
	return l
}

// option tests one option in every context. Of contexts that divide its decisions in the same way, or inversely, only
// the first is tested.
func (l *looker) option(of []int, choice string) (cells []Finding) {
	seen := map[string]bool{}
	for v, f := range l.values {
		c := Finding{Type: l.ds[of[0]].Type, Choice: choice, Feature: f.name, Value: f.value, Text: f.where}
		divides := l.divide(of, v, &c)
		if c.There.Tried < fewest || c.Elsewhere.Tried < fewest || seen[divides] {
			continue
		}
		seen[divides] = true
		c.weigh()
		cells = append(cells, c)
	}
	return cells
}

// divide counts an option's tasks where a value holds, and elsewhere. divides identifies the division, regardless of
// the order of its sides.
func (l *looker) divide(of []int, value int, c *Finding) (divides string) {
	l.cell++
	tallies := [sides]*Tally{&c.There, &c.Elsewhere, &c.Others}
	sideOf := make([]byte, 0, len(of))
	for _, i := range of {
		holds := slices.Contains(l.has[i], value)
		side := elsewhere
		switch {
		case l.ds[i].Choice != c.Choice && !holds:
			continue
		case l.ds[i].Choice != c.Choice:
			side = others
		case holds:
			side = there
		}
		if l.met[side][l.tasks[i]] != l.cell {
			l.met[side][l.tasks[i]] = l.cell
			tallies[side].count(l.ds[i].Resolved)
		}
		if side != others {
			sideOf = append(sideOf, byte(side))
		}
	}
	if len(sideOf) > 0 && sideOf[0] != there {
		for i, side := range sideOf {
			sideOf[i] = elsewhere - side
		}
	}
	return string(sideOf)
}

// liftWeight is the weight of the share elsewhere as the prior of the share there, in tasks. It was set by hand, to
// half of the minimum number of tasks in a test.
const liftWeight = 10

// weigh sets the lift, its interval and the p-value. Both shares are Beta posteriors; their difference is approximately
// normal with 20 tasks on either side.
func (c *Finding) weigh() {
	usual := c.Elsewhere.shrunk(evenShare, evenWeight)
	here := c.There.shrunk(usual, liftWeight)
	spread := z90 * math.Sqrt(here*(1-here)/(liftWeight+float64(c.There.Tried)+1)+
		usual*(1-usual)/(evenWeight+float64(c.Elsewhere.Tried)+1))
	c.Lift = here - usual
	c.Low, c.High = c.Lift-spread, c.Lift+spread
	c.P = fisher(c.There, c.Elsewhere)
}

// text describes the finding; Text holds the description of the context.
func (c Finding) text() string {
	does := "works"
	if c.Lift < 0 {
		does = "fails"
	}
	choice := c.Choice
	if choice == "" {
		choice = "nobody"
	}
	return fmt.Sprintf("%s %s %s: %d of %d against %d of %d", choice, does, c.Text, c.There.Resolved, c.There.Tried,
		c.Elsewhere.Resolved, c.Elsewhere.Tried)
}

// stepUp returns the largest significant p at a false discovery rate (Benjamini and Hochberg, 1995); below 0 for none.
func stepUp(cells []Finding, share float64) float64 {
	ps := make([]float64, len(cells))
	for i, c := range cells {
		ps[i] = c.P
	}
	slices.Sort(ps)
	for k := len(ps); k > 0; k-- {
		if ps[k-1] <= share*float64(k)/float64(len(ps)) {
			return ps[k-1]
		}
	}
	return -1
}

// fisher returns the two-sided p-value of Fisher's exact test of two shares: the probability of all tables with the
// same sums that are at most as likely as this one.
func fisher(a, b Tally) float64 {
	good, bad := a.Resolved+b.Resolved, a.Tried+b.Tried-a.Resolved-b.Resolved
	logp := func(k int) float64 { // log probability of k resolved in a
		return choose(good, k) + choose(bad, a.Tried-k) - choose(good+bad, a.Tried)
	}
	const slack = 1e-9 // rounding errors between equally likely tables
	is := logp(a.Resolved)
	p := 0.0
	for k := max(0, a.Tried-bad); k <= min(good, a.Tried); k++ {
		if l := logp(k); l <= is+slack {
			p += math.Exp(l)
		}
	}
	return min(1, p)
}

// choose returns the logarithm of the binomial coefficient n over k.
func choose(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
