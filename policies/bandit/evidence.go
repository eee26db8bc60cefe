package bandit

import (
	"maps"
	"slices"
	"strings"
)

// cell is the evidence on one technique for one pattern in one scope.
type cell struct {
	Tally
	heard, z float64 // diagnoses with a confidence that was heard, and the sum of its z
}

// without is the evidence of c that is not also in part, which lies within c.
// Rounding after a discount must not leave a count below zero.
func (c cell) without(part cell) cell {
	return cell{
		Tally: Tally{Resolved: max(0, c.Resolved-part.Resolved), Tried: max(0, c.Tried-part.Tried)},
		heard: max(0, c.heard-part.heard), z: c.z - part.z,
	}
}

func (c cell) plus(d cell) cell {
	return cell{
		Tally: Tally{Resolved: c.Resolved + d.Resolved, Tried: c.Tried + d.Tried},
		heard: c.heard + d.heard, z: c.z + d.z,
	}
}

func (c cell) times(f float64) cell {
	return cell{Tally: Tally{Resolved: f * c.Resolved, Tried: f * c.Tried}, heard: f * c.heard, z: f * c.z}
}

// row is the evidence on one pattern, by technique, in the order of their names.
type row []entry

type entry struct {
	technique string
	cell
}

func (r row) find(technique string) (int, bool) {
	return slices.BinarySearchFunc(r, technique, func(e entry, t string) int { return strings.Compare(e.technique, t) })
}

// of is the evidence on one technique, nothing when there is none.
func (r row) of(technique string) cell {
	if i, ok := r.find(technique); ok {
		return r[i].cell
	}
	return cell{}
}

// with is a new row that has more evidence.
func (r row) with(more ...entry) row {
	r = append(make(row, 0, len(r)+len(more)), r...)
	for _, e := range more {
		if i, ok := r.find(e.technique); ok {
			r[i].cell = r[i].plus(e.cell)
		} else {
			r = slices.Insert(r, i, e)
		}
	}
	return r
}

// scope is the evidence of a repository, an organisation or everybody, by
// pattern. What is reachable from a snapshot never changes.
type scope map[string]row

// place names a scope. The zero place is the world.
type place struct {
	level     level
	org, repo string
}

type level byte

const (
	world level = iota
	organisation
	repository
)

// places are the scopes that an outcome in a repository counts in. A repository
// that moves to another organisation starts again there, so that the counts of an
// organisation are always the sum of its repositories'.
func places(org, repo string) [3]place {
	return [3]place{{}, {level: organisation, org: org}, {level: repository, org: org, repo: repo}}
}

// snapshot is all that was learned up to some outcome. It is immutable.
type snapshot struct {
	scopes  map[place]scope
	weights weights
	learned int // outcomes

	verdicts map[arm]Verdict // on techniques that were on trial
}

// edit is a snapshot in the making: scopes that it has not copied yet are shared.
type edit struct {
	*snapshot
	copied map[place]bool
}

func (s *snapshot) edit() edit {
	c := *s
	c.scopes = maps.Clone(s.scopes)
	return edit{snapshot: &c, copied: map[place]bool{}}
}

// add adds evidence on a pattern in all three scopes.
func (e edit) add(org, repo, pattern string, more ...entry) {
	for _, p := range places(org, repo) {
		if !e.copied[p] {
			s := make(scope, len(e.scopes[p])+1)
			maps.Copy(s, e.scopes[p])
			e.scopes[p], e.copied[p] = s, true
		}
		e.scopes[p][pattern] = e.scopes[p][pattern].with(more...)
	}
}

// evidence is what is known about one technique for one pattern as a repository
// sees it: its own, its organisation's without it, and the world's without that; and what
// other installations saw.
type evidence struct {
	here, org, elsewhere cell
	imported             Tally
}

// view is the evidence on one pattern, by scope and then by technique.
type view [3]row

func (s *snapshot) view(org, repo, pattern string) (v view) {
	for i, p := range places(org, repo) {
		v[i] = s.scopes[p][pattern]
	}
	return v
}

func (v view) of(technique string) evidence {
	all, org, here := v[world].of(technique), v[organisation].of(technique), v[repository].of(technique)
	return evidence{here: here, org: org.without(here), elsewhere: all.without(org)}
}

// times is the scope with every count multiplied.
func (s scope) times(f float64) scope {
	out := make(scope, len(s))
	for pattern, r := range s {
		r = slices.Clone(r)
		for i := range r {
			r[i].cell = r[i].times(f)
		}
		out[pattern] = r
	}
	return out
}
