package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Structure says how the work on a task hangs together.
type Structure string

// The structures.
const (
	Whole        Structure = "whole"        // one run does all of it
	Reproduce    Structure = "reproduce"    // first a test that shows the fault, then what makes it pass
	Linear       Structure = "linear"       // parts, one after the other
	Parallel     Structure = "parallel"     // parts, as many at a time as may be
	Hierarchical Structure = "hierarchical" // parts that rest on others
	Race         Structure = "race"         // the whole of it by several coders; the best change counts
)

// Structures lists those that a task can be taken apart by.
func Structures() []Structure { return []Structure{Whole, Reproduce, Linear, Parallel, Hierarchical} }

// Part is one part of a task.
type Part struct {
	Do       string `json:"do"`
	DoneWhen string `json:"done_when"` // how one can tell, in words
	// the shell command that ends with 0 when it is done, and with something else before; empty:
	// the repository's tests tell
	Check string   `json:"check,omitempty"`
	Paths []string `json:"paths,omitempty"` // that it is expected to change
	Needs []int    `json:"needs,omitempty"` // numbers of the earlier parts that it rests on
}

// Bounds of a plan.
const (
	MaxParts = 12
	maxText  = 500 // bytes of what to do, of its done-when and of its check
)

// Problems says in words what is wrong with a plan of at most most parts that others wrote;
// nothing, when it can be worked by. Commands tells whether each part has to have one.
func Problems(parts []Part, most int, commands bool) (out []string) {
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if most = min(most, MaxParts); len(parts) < 2 || len(parts) > most {
		note("there have to be 2 to %d parts, not %d", most, len(parts))
	}
	for i, p := range parts {
		for _, t := range []struct{ name, text string }{{"do", p.Do}, {"done_when", p.DoneWhen}, {"check", p.Check}} {
			empty := strings.TrimSpace(t.text) == ""
			if empty && (t.name != "check" || commands) || len(t.text) > maxText {
				note("part %d: %s must have 1 to %d bytes", i+1, t.name, maxText)
			}
		}
		for _, n := range p.Needs {
			if n < 1 || n > i {
				note("part %d: needs names part %d, which does not come before it", i+1, n)
			}
		}
	}
	return out
}

// Chain makes each part rest on the one before it.
func Chain(parts []Part) []Part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].Needs = nil
		if i > 0 {
			out[i].Needs = []int{i}
		}
	}
	return out
}

// Below lists the parts that some parts rest on, directly or not, and those themselves, in
// their order. needs[i] are those of part i+1.
func Below(needs [][]int, of ...int) (all []int) {
	seen := make([]bool, len(needs)+1)
	for len(of) > 0 {
		n := of[0]
		of = of[1:]
		if n < 1 || n > len(needs) || seen[n] {
			continue
		}
		seen[n] = true
		of = append(slices.Clip(of), needs[n-1]...)
	}
	for n := range seen {
		if seen[n] {
			all = append(all, n)
		}
	}
	return all
}

// Tops are those of some parts that no other of them rests on: what has to be put together to
// have all of them.
func Tops(needs [][]int, of []int) (tops []int) {
	for _, n := range of {
		if !slices.ContainsFunc(of, func(o int) bool { return o != n && slices.Contains(Below(needs, o), n) }) {
			tops = append(tops, n)
		}
	}
	return tops
}
