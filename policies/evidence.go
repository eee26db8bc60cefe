package policies

import "maps"

// cell is the evidence on one technique for one pattern in one scope.
type cell struct {
	Tally
	heard, z float64 // diagnoses whose confidence was heard, and the sum of its z
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

// scope is the evidence of a repository, an organisation or everybody: pattern →
// technique → cell. What is reachable from a snapshot never changes.
type scope map[string]map[string]cell

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
// that moves to another organisation starts anew there, so that the counts of an
// organisation are always the sum of its repositories'.
func places(org, repo string) [3]place {
	return [3]place{{}, {level: organisation, org: org}, {level: repository, org: org, repo: repo}}
}

// snapshot is all that was learned up to some outcome. It is immutable.
type snapshot struct {
	scopes  map[place]scope
	weights weights
	learned int // outcomes
}

// edit is a snapshot in the making: what it has not copied yet is shared.
type edit struct {
	*snapshot
	copied map[place]map[string]bool // scope → pattern
}

func (s *snapshot) edit() *edit {
	c := *s
	c.scopes = maps.Clone(s.scopes)
	return &edit{snapshot: &c, copied: map[place]map[string]bool{}}
}

// add adds evidence in all three scopes.
func (e *edit) add(org, repo, pattern, technique string, c cell) {
	for _, p := range places(org, repo) {
		cells := e.cells(p, pattern)
		cells[technique] = cells[technique].plus(c)
	}
}

// cells are those of a pattern in a scope, to be written.
func (e *edit) cells(p place, pattern string) map[string]cell {
	copied := e.copied[p]
	if copied == nil {
		s := make(scope, len(e.scopes[p])+1)
		maps.Copy(s, e.scopes[p])
		copied = map[string]bool{}
		e.scopes[p], e.copied[p] = s, copied
	}
	s := e.scopes[p]
	if !copied[pattern] {
		cells := make(map[string]cell, len(s[pattern])+1)
		maps.Copy(cells, s[pattern])
		s[pattern], copied[pattern] = cells, true
	}
	return s[pattern]
}

// evidence is what is known about one technique for one pattern as a repository
// sees it: its own, its organisation's without it, and the world's without that.
type evidence struct{ here, org, elsewhere cell }

// view is where the evidence on a pattern is looked up: by scope, then technique.
type view [3]map[string]cell

func (s *snapshot) view(org, repo, pattern string) (v view) {
	for i, p := range places(org, repo) {
		v[i] = s.scopes[p][pattern]
	}
	return v
}

func (v view) of(technique string) evidence {
	all, org, here := v[world][technique], v[organisation][technique], v[repository][technique]
	return evidence{here: here, org: org.without(here), elsewhere: all.without(org)}
}

// times is the scope with every count multiplied.
func (s scope) times(f float64) scope {
	out := make(scope, len(s))
	for pattern, cells := range s {
		row := make(map[string]cell, len(cells))
		for t, c := range cells {
			row[t] = c.times(f)
		}
		out[pattern] = row
	}
	return out
}
