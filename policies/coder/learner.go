package coder

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Learner decides which coder makes the next attempt, and learns from outcomes. It is
// safe for concurrent use: decisions read an immutable snapshot and never wait,
// and batches of outcomes are learned from one after the other. Its state is a
// function of the parameters and of the order of the calls. So a replayed log restores it.
type Learner struct {
	p     Parameters
	scale scale
	now   atomic.Pointer[snapshot]

	write sync.Mutex
	seen  history // guarded by write
}

// New is a learner that has seen nothing yet.
func New(p Parameters) (*Learner, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("choice of coder: %w", err)
	}
	l := &Learner{p: p, scale: newScale(p), seen: history{at: map[taskKey]*record{}, abilities: map[string]*standing{}}}
	l.now.Store(&snapshot{scopes: map[place]*scope{}})
	return l, nil
}

// history is what only learning needs: the recent tasks, and how able coders are overall.
type history struct {
	at        map[taskKey]*record
	order     []taskKey // a ring, in the order in which they were first seen
	oldest    int       // the ring's beginning, when it is full
	next      int       // the task that is revised next
	abilities map[string]*standing
}

type taskKey struct{ org, repo, kind, task string }

// record is a task with who tried it.
type record struct {
	key        taskKey
	tries      []try
	difficulty vector // posterior over classes, as it was counted; zero: not counted yet
}

type try struct {
	coder    string
	resolved bool
	counted  bool // was an outcome; else it is only known to have failed
}

// standing is how able a coder is, all places together.
type standing struct {
	ability float64
	yes, no vector // log likelihood of a success and of a failure, by class
}

// Observe learns from outcomes, in their order. Many at once or one after the other
// come to the same; many at once are faster, which replaying wants. An outcome
// without a coder counts as nothing.
func (l *Learner) Observe(os ...Outcome) {
	l.write.Lock()
	defer l.write.Unlock()
	e := l.now.Load().edit()
	for _, o := range os {
		if o.Coder != "" {
			l.learn(e, o)
		}
	}
	l.now.Store(e.snapshot)
}

func (l *Learner) learn(e *edit, o Outcome) {
	e.learned++
	ps := places(o.Kind, o.Org, o.Repo)
	r := l.record(taskKey{o.Org, o.Repo, o.Kind, o.Task})
	if slices.Contains(o.Failed, o.Coder) || r.failed(o.Coder) {
		e.again.Tried++
		if o.Resolved {
			e.again.Resolved++
		}
	} else {
		for _, f := range o.Failed {
			r.note(try{coder: f})
		}
		l.count(e, r, -1)
		r.note(try{coder: o.Coder, resolved: o.Resolved, counted: true})
		l.revise(e, r)
		l.count(e, r, 1)
		l.refit(e, o.Coder)
	}
	if o.Cost > 0 && !math.IsInf(o.Cost, 1) {
		for _, p := range ps {
			c := e.cell(p, o.Coder)
			if o.Resolved {
				c.success = c.success.plus(bill{1, o.Cost}, 1)
			} else {
				c.failure = c.failure.plus(bill{1, o.Cost}, 1)
			}
		}
	}
	for range min(l.p.Revise, len(l.seen.order)) {
		old := l.seen.at[l.seen.order[l.seen.next%len(l.seen.order)]]
		l.seen.next++
		l.count(e, old, -1)
		l.revise(e, old)
		l.count(e, old, 1)
		for _, t := range old.tries {
			if t.counted {
				l.refit(e, t.coder)
			}
		}
	}
}

func (r *record) failed(coder string) bool {
	return slices.ContainsFunc(r.tries, func(t try) bool { return t.coder == coder && t.counted && !t.resolved })
}

// note adds a try. One that was only known to have failed may turn out to be an outcome.
func (r *record) note(t try) {
	i := slices.IndexFunc(r.tries, func(u try) bool { return u.coder == t.coder })
	switch {
	case i < 0:
		r.tries = append(r.tries, t)
	case t.counted:
		r.tries[i] = t
	}
}

// record is the task's, a new one when it was not seen or is too long ago.
func (l *Learner) record(k taskKey) *record {
	h := &l.seen
	if r := h.at[k]; r != nil {
		return r
	}
	r := &record{key: k}
	h.at[k] = r
	if len(h.order) < l.p.Tasks {
		h.order = append(h.order, k)
		return r
	}
	delete(h.at, h.order[h.oldest])
	h.order[h.oldest] = k
	h.oldest = (h.oldest + 1) % len(h.order)
	return r
}

// count adds a task's tries to all its scopes, or takes them away.
func (l *Learner) count(e *edit, r *record, f float64) {
	if r.difficulty.sum() == 0 {
		return
	}
	for _, p := range places(r.key.kind, r.key.org, r.key.repo) {
		e.scope(p).tasks.add(&r.difficulty, f)
		for _, t := range r.tries {
			if !t.counted {
				continue
			}
			c := e.cell(p, t.coder)
			c.tried.add(&r.difficulty, f)
			if t.resolved {
				c.resolved.add(&r.difficulty, f)
			}
		}
	}
}

// revise is the posterior of a task's difficulty, given all that is known of it.
func (l *Learner) revise(e *edit, r *record) {
	pi := l.common(e.snapshot)
	var v vector
	for g := range v {
		v[g] = math.Log(pi[g])
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
	sum := 0.0
	for g := range v {
		v[g] = math.Exp(v[g] - top)
		sum += v[g]
	}
	for g := range v {
		r.difficulty[g] = v[g] / sum
	}
}

func (l *Learner) standing(coder string) *standing {
	s := l.seen.abilities[coder]
	if s == nil {
		pi := l.scale.prior
		s = &standing{}
		s.set(&l.scale, l.scale.ability(l.p.Share, &pi))
		l.seen.abilities[coder] = s
	}
	return s
}

func (s *standing) set(sc *scale, ability float64) {
	s.ability = ability
	c := sc.curve(ability)
	for g, p := range c {
		s.yes[g], s.no[g] = math.Log(p), math.Log1p(-p)
	}
}

// refit finds out how able a coder is, all places together.
func (l *Learner) refit(e *edit, coder string) {
	s := l.standing(coder)
	all := e.cell(place{}, coder)
	tried, resolved := all.tried, all.resolved
	prior := l.scale.curve(l.scale.ability(l.p.Share, &l.scale.prior))
	for g, w := range l.scale.prior {
		tried[g] += l.p.WeightUnknown * w
		resolved[g] += l.p.WeightUnknown * w * prior[g]
	}
	b, _ := l.scale.fit(s.ability, &tried, &resolved)
	s.set(&l.scale, b)
}

// common is how common each class of difficulty is among the tasks that were seen.
func (l *Learner) common(s *snapshot) vector {
	v := l.scale.prior
	sc := s.scopes[place{}]
	if sc == nil {
		return v
	}
	w, n := l.p.WeightTasks, sc.tasks.sum()
	for g := range v {
		v[g] = (w*v[g] + max(0, sc.tasks[g])) / (w + n)
	}
	return v
}

// errDiscount is what a wrong factor is answered with.
var errDiscount = errors.New("a discount is a factor from 0 to 1")
