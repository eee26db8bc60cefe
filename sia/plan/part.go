package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Structure is the structure of the work on a task.
type Structure string

// The structures.
const (
	Whole        Structure = "whole"        // one run does the whole task
	Reproduce    Structure = "reproduce"    // first a test that shows the fault, then the change that makes it pass
	Linear       Structure = "linear"       // sequential parts
	Parallel     Structure = "parallel"     // concurrent parts
	Hierarchical Structure = "hierarchical" // parts that depend on others
	Race         Structure = "race"         // several coders do the whole task; the best change counts
)

// Part is one part of a task.
type Part struct {
	Do       string `json:"do"`
	DoneWhen string `json:"done_when"` // condition for being done, as text
	// shell command that exits with 0 if and only if the part is done; empty: the repository's
	// tests decide
	Check string   `json:"check,omitempty"`
	Paths []string `json:"paths,omitempty"` // paths that it is expected to change
	Needs []int    `json:"needs,omitempty"` // numbers of the earlier parts that it depends on
}

// Bounds of a plan.
const (
	MaxParts = 12
	maxText  = 500 // bytes of Do, of DoneWhen and of Check
)

// Problems describes what is wrong with a plan of at most most parts; empty if it can be used.
// commands means that each part must have a Check.
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

// Chain returns a copy of parts in which each part needs the one before it.
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

// Below returns the given parts and those that they need, directly or indirectly, in order.
// needs[i] contains the needs of part i+1.
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

// Tops returns those of the given parts that no other of them needs: merging these gives the
// result of all.
func Tops(needs [][]int, of []int) (tops []int) {
	for _, n := range of {
		if !slices.ContainsFunc(of, func(o int) bool { return o != n && slices.Contains(Below(needs, o), n) }) {
			tops = append(tops, n)
		}
	}
	return tops
}
