package coder

import (
	"math"
	"slices"
)

// history is the state that only learning needs: recent tasks, and the overall abilities of coders.
type history struct {
	records   map[taskKey]*record
	order     []taskKey // ring buffer of at most size tasks, in order of first occurrence
	size      int
	oldest    int // start of the ring, once it is full
	next      int // next task to be revised
	standings map[string]*standing
}

type taskKey struct{ org, repo, kind, task string }

// record is a task with its tries.
type record struct {
	taskKey
	tries      []try
	difficulty vector // posterior over classes as counted; zero: not counted yet
}

// try is one coder's attempt at a task. If heard is false, there was no outcome, and it is only known to have failed.
// If it is frozen, its contribution to its coder is final.
type try struct {
	coder                   string
	resolved, heard, frozen bool
}

func (t try) counts() bool { return t.heard && !t.frozen }

// standing is the overall ability of a coder.
type standing struct {
	ability float64
	yes, no vector // log likelihood of a success and of a failure, by class
}

func (s *standing) set(sc *scale, ability float64) {
	s.ability = ability
	for g, p := range sc.curve(ability) {
		p = clamp(p, tiny, 1-tiny)
		s.yes[g], s.no[g] = math.Log(p), math.Log1p(-p)
	}
}

func newHistory(size int) history {
	return history{records: map[taskKey]*record{}, size: size, standings: map[string]*standing{}}
}

// of returns the record of an outcome's task, a new one for a new or forgotten task.
func (h *history) of(o Outcome) *record {
	k := taskKey{o.Org, o.Repo, o.Kind, o.Task}
	if r := h.records[k]; r != nil {
		return r
	}
	r := &record{taskKey: k}
	h.records[k] = r
	if len(h.order) < h.size {
		h.order = append(h.order, k)
		return r
	}
	delete(h.records, h.order[h.oldest])
	h.order[h.oldest] = k
	h.oldest = (h.oldest + 1) % h.size
	return r
}

// turn returns the next task to be revised. There must be at least one.
func (h *history) turn() *record {
	h.next++
	return h.records[h.order[h.next%len(h.order)]]
}

// freeze excludes a coder's tries so far from revisions.
func (h *history) freeze(coder string) {
	for _, r := range h.records {
		for i := range r.tries {
			if r.tries[i].coder == coder {
				r.tries[i].frozen = true
			}
		}
	}
}

// failed reports whether there was an outcome with a failure of the coder.
func (r *record) failed(coder string) bool {
	return slices.ContainsFunc(r.tries, func(t try) bool { return t.coder == coder && t.heard && !t.resolved })
}

// note adds a try. A try that was only known to have failed may get an outcome later, and a success may be followed by
// another outcome when a task is reopened.
func (r *record) note(t try) {
	i := slices.IndexFunc(r.tries, func(u try) bool { return u.coder == t.coder })
	switch {
	case i < 0:
		r.tries = append(r.tries, t)
	case t.heard:
		r.tries[i] = t
	}
}

// count adds a task's tries to all its scopes, or removes them with f = -1.
func (e *edit) count(r *record, f float64) {
	if r.difficulty.sum() == 0 {
		return
	}
	for _, p := range places(r.kind, r.org, r.repo) {
		e.scope(p).tasks.add(&r.difficulty, f)
		for _, t := range r.tries {
			if !t.counts() {
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
