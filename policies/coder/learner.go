package coder

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Learner decides which coder makes the next attempt, and learns from outcomes. It is safe for concurrent use:
// decisions read an immutable snapshot and never block, and batches of outcomes are processed in sequence. Its state is
// a function of the parameters and the sequence of calls, so replaying a log restores it.
type Learner struct {
	p     Parameters
	scale scale
	now   atomic.Pointer[snapshot]
	write sync.Mutex
	seen  history // guarded by write
}

// New returns a learner without outcomes.
func New(p Parameters) *Learner {
	l := &Learner{p: p, scale: newScale(p), seen: newHistory(p.Tasks)}
	l.now.Store(&snapshot{scopes: map[place]*scope{}})
	return l
}

// Observe learns from outcomes in order. One call with many outcomes has the same effect as many calls, but is faster,
// which matters for replay. An outcome without a coder is ignored. A second outcome of a coder that had failed on the
// task only counts for the share of tasks resolved when asked again.
func (l *Learner) Observe(os ...Outcome) {
	l.write.Lock()
	defer l.write.Unlock()
	e := l.now.Load().edit()
	for _, o := range os {
		if o.Coder == "" {
			continue
		}
		e.learned++
		if r := l.seen.of(o); slices.Contains(o.Failed, o.Coder) || r.failed(o.Coder) {
			t := &e.again
			if o.Changed {
				t = &e.changed
			}
			t.Tried++
			if o.Resolved {
				t.Resolved++
			}
		} else {
			l.learn(e, r, o)
		}
		e.addCost(o)
		for range l.p.Revise {
			l.revise(e, l.seen.turn(), func(*record) {})
		}
	}
	l.now.Store(e.snapshot)
}

// learn adds an outcome to its task and its coder.
func (l *Learner) learn(e *edit, r *record, o Outcome) {
	l.revise(e, r, func(r *record) {
		for _, f := range o.Failed {
			r.note(try{coder: f})
		}
		r.note(try{coder: o.Coder, resolved: o.Resolved, heard: true})
	})
}

// addCost adds the cost of an outcome.
func (e *edit) addCost(o Outcome) {
	if !(o.Cost > 0) || math.IsInf(o.Cost, 1) {
		return
	}
	for _, p := range places(o.Kind, o.Org, o.Repo) {
		c := e.cell(p, o.Coder)
		b := &c.failure
		if o.Resolved {
			b = &c.success
		}
		*b = b.plus(costSum{1, o.Cost}, 1)
	}
}

// revise recomputes a task's difficulty after a change to its record, by the current abilities of the coders that tried
// it, and then their abilities. It is a step of incremental expectation maximisation (Neal & Hinton 1998).
func (l *Learner) revise(e *edit, r *record, change func(*record)) {
	e.count(r, -1)
	change(r)
	v := l.common(e.snapshot, places(r.kind, r.org, r.repo))
	for g := range v {
		v[g] = math.Log(v[g])
	}
	for _, t := range r.tries {
		s := l.standing(t.coder)
		if t.resolved {
			v.add(&s.yes, 1)
		} else {
			v.add(&s.no, 1)
		}
	}
	top := slices.Max(v[:])
	for g := range v {
		v[g] = math.Exp(v[g] - top)
	}
	r.difficulty = v.shares()
	e.count(r, 1)
	for _, t := range r.tries {
		if t.counts() {
			l.assess(e, t.coder)
		}
	}
}

// standing returns the overall ability of a coder.
func (l *Learner) standing(coder string) *standing {
	s := l.seen.standings[coder]
	if s == nil {
		s = &standing{}
		s.set(&l.scale, l.scale.ability(l.p.Share, &l.scale.prior))
		l.seen.standings[coder] = s
	}
	return s
}

// assess recomputes the overall ability of a coder.
func (l *Learner) assess(e *edit, coder string) {
	s, c := l.standing(coder), e.cell(place{}, coder)
	prior := l.scale.curve(l.scale.ability(l.p.Share, &l.scale.prior))
	b, _ := l.scale.fit(s.ability, c.with(l.p.WeightUnknown, &l.scale.prior, &prior))
	s.set(&l.scale, b)
}

// common returns the frequency of each class of difficulty among the tasks of a place, from the widest scope to the
// narrowest, as for coders.
func (l *Learner) common(s *snapshot, ps [levels]place) vector {
	seen := s.tasks(ps)
	v, strength, most := l.scale.prior, l.p.WeightTasks, l.p.most()
	for i := range seen {
		if i > 0 {
			strength = less(strength, most[i])
		}
		n := seen[i].sum()
		for g := range v {
			v[g] = max(tiny, (strength*v[g]+seen[i][g])/(strength+n))
		}
		strength += n
	}
	return v
}

// Discount multiplies a coder's evidence in all scopes by a factor in 0–1, such as .25 for a model that changed.
func (l *Learner) Discount(coder string, factor float64) {
	l.write.Lock()
	defer l.write.Unlock()
	e := l.now.Load().edit()
	for p, s := range e.scopes {
		if known := s.coders[coder]; known != nil {
			var c cell
			c.add(known, factor)
			*e.cell(p, coder) = c
		}
	}
	l.seen.freeze(coder)
	l.assess(e, coder)
	l.now.Store(e.snapshot)
}
