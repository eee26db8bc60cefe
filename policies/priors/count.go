package priors

import "slices"

// Outcome is the outcome of a technique or of a coder in a task. The fields of the other are empty.
type Outcome struct {
	Task      string // names the task; it is compared, and goes nowhere
	Language  string // as package policies names it; any may be unknown here
	Pattern   string
	Technique string // a repository's own is not counted
	Kind      string
	Coder     string // published name of the model; any other counts as Other
	Resolved  bool
}

// ofTechnique tells whether the outcome is of a technique, and not of a coder.
func (o Outcome) ofTechnique() bool { return o.Technique != "" }

// cell is where the outcome counts; ok is false where it counts nowhere.
func (o Outcome) cell() (c Cell, ok bool) {
	c.Language = listed(Languages(), o.Language)
	if o.ofTechnique() {
		c.Pattern, c.Technique = o.Pattern, o.Technique
		return c, slices.Contains(Patterns(), o.Pattern) && slices.Contains(Techniques(), o.Technique)
	}
	c.Kind, c.Coder = listed(Kinds(), o.Kind), listed(Coders(), o.Coder)
	return c, true
}

// Tally counts outcomes in a cell. Either count may be below zero once it is blurred.
type Tally struct {
	Resolved int64 `json:"resolved"`
	Failed   int64 `json:"failed"`
}

// Counts are tallies by cell. A cell that is missing was never seen.
type Counts map[Cell]Tally

// Reported names a task that is counted, by what of it is: so much is counted once ever.
type Reported struct {
	Task      string
	Technique bool // its first technique; else its first coder
}

// Count counts outcomes, given in their order. Of each task the first outcome of a technique and
// the first of a coder count, unless before has it. The second answer is what was counted now, in
// the order of the outcomes: whoever shares the counts remembers it. What is on no list, such as a
// repository's own technique, moves no count, and what follows it in its task does not stand in for it.
//
// Two histories that differ in one task give counts with an L1 distance of [Sensitivity] at most:
// the task adds one to one of the two counts of a cell of techniques, and likewise of coders. That
// holds for the counts of all periods together.
func Count(outcomes []Outcome, before map[Reported]bool) (Counts, []Reported) {
	counts, seen := Counts{}, map[Reported]bool{}
	var now []Reported
	for _, o := range outcomes {
		r := Reported{o.Task, o.ofTechnique()}
		if seen[r] || before[r] {
			continue
		}
		seen[r] = true
		now = append(now, r)
		c, ok := o.cell()
		if !ok {
			continue
		}
		t := counts[c]
		if o.Resolved {
			t.Resolved++
		} else {
			t.Failed++
		}
		counts[c] = t
	}
	return counts, now
}
