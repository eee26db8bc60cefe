package priors

import "slices"

// Outcome is the outcome of a technique or of a coder in a task. The fields of the other are empty.
type Outcome struct {
	Task      string // id of the task; only compared, never shared
	Language  string // as in package policies; may be unknown here
	Pattern   string
	Technique string // a repository's own is not counted
	Kind      string
	Coder     string // published name of the model; any other counts as Other
	Resolved  bool
}

// ofTechnique reports whether the outcome is of a technique, not of a coder.
func (o Outcome) ofTechnique() bool { return o.Technique != "" }

// cell returns the cell in which the outcome counts; ok is false for none.
func (o Outcome) cell() (c Cell, ok bool) {
	c.Language = listed(Languages(), o.Language)
	if o.ofTechnique() {
		c.Pattern, c.Technique = o.Pattern, o.Technique
		return c, slices.Contains(Patterns(), o.Pattern) && slices.Contains(Techniques(), o.Technique)
	}
	c.Kind, c.Coder = listed(Kinds(), o.Kind), listed(Coders(), o.Coder)
	return c, true
}

// Tally counts outcomes in a cell. With noise, either count may be negative.
type Tally struct {
	Resolved int64 `json:"resolved"`
	Failed   int64 `json:"failed"`
}

// Counts are tallies by cell. A missing cell has no outcomes.
type Counts map[Cell]Tally

// Reported identifies a counted part of a task, which is counted only once ever.
type Reported struct {
	Task      string
	Technique bool // its first technique; else its first coder
}

// Count counts outcomes, given in order. Of each task the first outcome of a technique and the first of a coder count,
// unless they are in before. The second result is what was counted now, in the order of the outcomes; a caller that
// shares the counts must store it. Unlisted values, such as a repository's own technique, are not counted, and neither
// are later outcomes in their place.
//
// Two histories that differ in one task yield counts with an L1 distance of at most [Sensitivity]: the task adds one to
// one count of a cell of techniques, and one to one of coders. That holds for the counts of all periods together.
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
