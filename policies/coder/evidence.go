package coder

import (
	"maps"
	"math"
)

// cell is the evidence on one coder in one scope. Difficulty is uncertain, so a try counts in each class by the
// posterior of its task.
type cell struct {
	counts
	success, failure costSum
}

// counts are tries and successes by class.
type counts struct{ tried, resolved vector }

// with returns the counts plus weight pseudo-outcomes, on tasks with class frequencies pi, resolved according to curve:
// a prior of that weight.
func (c counts) with(weight float64, pi, curve *vector) counts {
	for g, w := range pi {
		c.tried[g] += weight * w
		c.resolved[g] += weight * w * curve[g]
	}
	return c
}

// costSum is the sum of the costs of attempts.
type costSum struct{ n, credits float64 }

// add adds the evidence of d, times f.
func (c *cell) add(d *cell, f float64) {
	c.tried.add(&d.tried, f)
	c.resolved.add(&d.resolved, f)
	c.success = c.success.plus(d.success, f)
	c.failure = c.failure.plus(d.failure, f)
}

func (b costSum) plus(c costSum, f float64) costSum {
	return costSum{b.n + f*c.n, b.credits + f*c.credits}
}

// mean returns the mean cost with a prior mean that counts like weight attempts.
func (b costSum) mean(prior, weight float64) float64 {
	return (weight*prior + max(0, b.credits)) / (weight + max(0, b.n))
}

// tasks returns the tasks from the view of a place, by level and class, each level without the next one.
func (s *snapshot) tasks(ps [levels]place) (out [levels]vector) {
	for i, p := range ps {
		sc := s.scopes[p]
		if sc == nil {
			break
		}
		out[i].add(&sc.tasks, 1)
		if i > 0 {
			out[i-1].add(&sc.tasks, -1)
		}
	}
	for i := range out {
		for g, n := range out[i] {
			out[i][g] = max(0, n)
		}
	}
	return out
}

// less returns a scope's weight as a prior of a narrower one, given its strength, and never more than most. Two places
// differ, even if one is well known.
func less(strength, most float64) float64 { return 1 / (1/most + 1/strength) }

// tally returns the counts over all classes.
func (c *cell) tally() Tally {
	return Tally{Tried: whole(c.tried.sum()), Resolved: whole(c.resolved.sum())}
}

// scope is the evidence of one place. Scopes reachable from a snapshot are immutable.
type scope struct {
	coders map[string]*cell
	tasks  vector // number of tasks by class
}

// place identifies a scope. The zero place is everything.
type place struct {
	level           level
	kind, org, repo string
}

type level byte

const (
	world        level = iota // every kind of task, everywhere
	kindred                   // one kind of task
	organisation              // one kind of task in one organisation
	repository                // one kind of task in one repository
	levels
)

// places returns the scopes in which an outcome counts, each within the previous one.
func places(kind, org, repo string) [levels]place {
	return [levels]place{{}, {level: kindred, kind: kind}, {level: organisation, kind: kind, org: org},
		{level: repository, kind: kind, org: org, repo: repo}}
}

// snapshot is the state of the learner after some outcome. It is immutable.
type snapshot struct {
	scopes  map[place]*scope
	again   Tally // coders that had failed on the same task, with the same instructions
	changed Tally // the same with other instructions
	learned int   // number of outcomes
}

// edit is a new snapshot under construction, with copy on write.
type edit struct {
	*snapshot
	scoped map[place]bool
	celled map[cellKey]bool
}

type cellKey struct {
	place
	coder string
}

func (s *snapshot) edit() *edit {
	c := *s
	c.scopes = maps.Clone(s.scopes)
	return &edit{snapshot: &c, scoped: map[place]bool{}, celled: map[cellKey]bool{}}
}

// scope returns the scope of a place for modification.
func (e *edit) scope(p place) *scope {
	if e.scoped[p] {
		return e.scopes[p]
	}
	s := &scope{coders: map[string]*cell{}}
	if old := e.scopes[p]; old != nil {
		s.coders, s.tasks = maps.Clone(old.coders), old.tasks
	}
	e.scopes[p], e.scoped[p] = s, true
	return s
}

// cell returns a coder's cell of a place for modification.
func (e *edit) cell(p place, coder string) *cell {
	s, k := e.scope(p), cellKey{p, coder}
	if e.celled[k] {
		return s.coders[coder]
	}
	c := &cell{}
	if old := s.coders[coder]; old != nil {
		*c = *old
	}
	s.coders[coder], e.celled[k] = c, true
	return c
}

// chain returns the evidence on one coder from the view of a place: each level without the next one, so that nothing
// counts twice.
func (s *snapshot) chain(ps [levels]place, coder string) (out [levels]cell) {
	for i, p := range ps {
		sc := s.scopes[p]
		if sc == nil {
			break
		}
		c := sc.coders[coder]
		if c == nil {
			break
		}
		out[i].add(c, 1)
		if i > 0 {
			out[i-1].add(c, -1)
		}
	}
	for i := range out {
		out[i].floor()
	}
	return out
}

// whole removes rounding errors from a count.
func whole(x float64) float64 {
	if n := math.Round(x); math.Abs(x-n) < 1e-6 {
		return n
	}
	return x
}

// floor clamps counts that rounding left below zero.
func (c *cell) floor() {
	for g := range classes {
		c.tried[g] = max(0, c.tried[g])
		c.resolved[g] = max(0, min(c.resolved[g], c.tried[g]))
	}
}
