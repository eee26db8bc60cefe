package coder

import (
	"maps"
	"math"
)

// cell is the evidence on one coder in one scope. Difficulty is never known for
// sure, so that a try counts in each class by the posterior of its task.
type cell struct {
	counts
	success, failure costSum
}

// counts are tries and successes by class.
type counts struct{ tried, resolved vector }

// with are the counts after as many more outcomes, on tasks as common as in pi,
// resolved as the curve says: a prior of that weight.
func (c counts) with(weight float64, pi, curve *vector) counts {
	for g, w := range pi {
		c.tried[g] += weight * w
		c.resolved[g] += weight * w * curve[g]
	}
	return c
}

// costSum sums what attempts cost.
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

// mean is the mean cost when a prior mean counts like so many attempts.
func (b costSum) mean(prior, weight float64) float64 {
	return (weight*prior + max(0, b.credits)) / (weight + max(0, b.n))
}

// tasks are the tasks that a place sees, by level and class, in the same way.
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

// less is a scope's weight as a prior of a narrower one: what it rests on, and never
// more than most. Two places differ, however much is known of the one.
func less(strength, most float64) float64 { return 1 / (1/most + 1/strength) }

// tally are the counts behind the classes.
func (c *cell) tally() Tally {
	return Tally{Tried: whole(c.tried.sum()), Resolved: whole(c.resolved.sum())}
}

// scope is the evidence of one place. What is reachable from a snapshot never changes.
type scope struct {
	coders map[string]*cell
	tasks  vector // by class: how many tasks were seen
}

// place names a scope. The zero place is everything.
type place struct {
	level           level
	kind, org, repo string
}

type level byte

const (
	world        level = iota // every kind of task, everywhere
	kindred                   // one kind of task
	organisation              // of that kind in one organisation
	repository                // and in one repository
	levels
)

// places are the scopes that an outcome counts in, each within the one before.
func places(kind, org, repo string) [levels]place {
	return [levels]place{{}, {level: kindred, kind: kind}, {level: organisation, kind: kind, org: org},
		{level: repository, kind: kind, org: org, repo: repo}}
}

// snapshot is all that was learned up to some outcome. It is immutable.
type snapshot struct {
	scopes  map[place]*scope
	again   Tally // what coders did that had failed on the same task, by the same instructions
	changed Tally // the same by other instructions than before
	learned int   // outcomes
}

// edit is a snapshot in the making: what it has not copied yet is shared.
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

// scope is one that may be changed.
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

// cell is one that may be changed.
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

// chain is the evidence on one coder as a place sees it: each level without what
// the next one has, so that nothing counts twice.
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

// whole takes rounding errors away from what was a count.
func whole(x float64) float64 {
	if n := math.Round(x); math.Abs(x-n) < 1e-6 {
		return n
	}
	return x
}

// floor takes back what rounding left below zero.
func (c *cell) floor() {
	for g := range classes {
		c.tried[g] = max(0, c.tried[g])
		c.resolved[g] = max(0, min(c.resolved[g], c.tried[g]))
	}
}
