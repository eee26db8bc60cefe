package bandit

import (
	"maps"
	"slices"
	"strings"
)

// cell is the evidence on one technique for one pattern in one scope.
type cell struct {
	Tally
	heard, z float64 // number of diagnoses with a confidence, and the sum of their z
}

// without returns the evidence of c minus part, a subset of c. Counts are clamped at zero because of rounding after a
// discount.
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

// row is the evidence on one pattern, sorted by technique.
type row []entry

type entry struct {
	technique string
	cell
}

func (r row) find(technique string) (int, bool) {
	return slices.BinarySearchFunc(r, technique, func(e entry, t string) int { return strings.Compare(e.technique, t) })
}

// of returns the evidence on one technique, zero when there is none.
func (r row) of(technique string) cell {
	if i, ok := r.find(technique); ok {
		return r[i].cell
	}
	return cell{}
}

// with returns a copy of the row with more evidence added.
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

// scope is the evidence of a repository, an organisation or the world, by pattern. Scopes reachable from a snapshot are
// immutable.
type scope map[string]row

// place identifies a scope. The zero place is the world.
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

// places returns the scopes in which an outcome of a repository counts. A repository that moves to another organisation
// starts from zero there, so that the counts of an organisation are always the sum of its repositories'.
func places(org, repo string) [3]place {
	return [3]place{{}, {level: organisation, org: org}, {level: repository, org: org, repo: repo}}
}

// snapshot is the state of the learner after some outcome. It is immutable.
type snapshot struct {
	scopes  map[place]scope
	weights weights
	learned int // number of outcomes

	verdicts map[arm]Verdict // on techniques that were on trial
}

// edit is a new snapshot under construction; it copies scopes on write.
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

// evidence is the evidence on one technique for one pattern from the view of a repository: its own, the rest of its
// organisation's, the rest of the world's, and that of other installations.
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

// times returns a copy of the scope with all counts multiplied by f.
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
