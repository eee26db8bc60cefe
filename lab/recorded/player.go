package recorded

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sia-bot/sia/policies/coder"
)

// attempts is the maximum number of attempts at a task.
const attempts = 5

// credits is the number of credits for a USD.
const credits = 100

// player chooses the coder of the next attempt.
type player interface {
	// next returns an index into the models, -1 to stop. The models in failed have failed.
	next(t *Task, failed []int) int
	// learn records its result.
	learn(t *Task, failed []int, model int)
}

// score is the result of a task.
type score struct {
	net, cost float64 // USD
	resolved  bool
	attempts  int
}

// play lets a player play a task with a value in USD.
func play(p player, t *Task, value float64) (s score) {
	failed := make([]int, 0, attempts)
	for s.attempts < attempts && !s.resolved {
		m := p.next(t, failed)
		if m < 0 {
			break
		}
		s.attempts++
		s.cost += t.Runs[m].Cost
		s.resolved = t.Runs[m].Resolved
		p.learn(t, failed, m)
		failed = append(failed, m)
	}
	s.net = -s.cost
	if s.resolved {
		s.net += value
	}
	return s
}

// order plays models in a fixed order. It skips models without an outcome.
type order []int

func (o order) next(t *Task, failed []int) int {
	for _, m := range o {
		if t.Runs[m].Known && !slices.Contains(failed, m) {
			return m
		}
	}
	return -1
}

func (order) learn(*Task, []int, int) {}

// record is a model's result on some tasks.
type record struct{ resolved, cost float64 } // means; cost in USD

func records(t Table, tasks []*Task) []record {
	out := make([]record, len(t.Models))
	for m := range out {
		n := 0.0
		for _, task := range tasks {
			if run := task.Runs[m]; run.Known {
				n++
				out[m].cost += run.Cost
				if run.Resolved {
					out[m].resolved++
				}
			}
		}
		out[m].cost /= max(1, n)
		out[m].resolved /= max(1, n)
	}
	return out
}

// by returns the models in an order.
func by(rs []record, less func(a, b record) int) order {
	o := make(order, len(rs))
	for m := range o {
		o[m] = m
	}
	slices.SortStableFunc(o, func(a, b int) int { return less(rs[a], rs[b]) })
	return o
}

func strongest(a, b record) int { return cmp.Compare(b.resolved, a.resolved) }
func cheapest(a, b record) int  { return cmp.Compare(a.cost, b.cost) }

// best returns the greedy order: repeatedly the model with the least cost per
// resolved task on the unresolved tasks, until that exceeds the value.
func best(t Table, tasks []*Task, value float64) (o order) {
	left := slices.Clone(tasks)
	for len(o) < attempts {
		next, least := -1, math.Inf(1)
		for m, r := range records(t, left) {
			if index := r.cost / r.resolved; r.resolved > 0 && index < least && !slices.Contains(o, m) {
				next, least = m, index
			}
		}
		if next < 0 || least > value {
			break
		}
		o = append(o, next)
		left = slices.DeleteFunc(left, func(task *Task) bool { return task.Runs[next].Resolved })
	}
	return o
}

// chance plays a random order, another one for each task.
type chance struct {
	*rand.Rand
	models int
	now    order
}

func (c *chance) next(t *Task, failed []int) int {
	if len(failed) == 0 {
		c.now = c.Perm(c.models)
	}
	return c.now.next(t, failed)
}

func (*chance) learn(*Task, []int, int) {}

// ours asks a learner.
type ours struct {
	learner *coder.Learner
	models  []string
	value   float64   // USD
	prices  []float64 // stated cost of an attempt in USD, by model; nil: none
	online  bool      // learns while it plays
	seed    uint64
}

func (o *ours) next(t *Task, failed []int) int {
	org, repo, _ := strings.Cut(t.Repo, "/")
	r := coder.Request{Task: t.Name, Org: org, Repo: repo, Value: credits * o.value, Left: math.Inf(1),
		Attempt: len(failed), Tries: attempts - len(failed), Failed: o.names(failed), Seed: o.seed, Terse: true,
		Candidates: make([]coder.Candidate, 0, len(o.models))}
	for m, name := range o.models {
		if !t.Runs[m].Known || slices.Contains(failed, m) {
			continue // the table has no second attempt of the same coder
		}
		c := coder.Candidate{Coder: name}
		if o.prices != nil {
			c.Cost = credits * o.prices[m]
		}
		r.Candidates = append(r.Candidates, c)
	}
	return slices.Index(o.models, o.learner.Decide(r).Choice)
}

func (o *ours) learn(t *Task, failed []int, m int) {
	if o.online {
		o.learner.Observe(o.outcome(t, failed, m))
	}
}

func (o *ours) outcome(t *Task, failed []int, m int) coder.Outcome {
	org, repo, _ := strings.Cut(t.Repo, "/")
	return coder.Outcome{Task: t.Name, Org: org, Repo: repo, Coder: o.models[m], Cost: credits * t.Runs[m].Cost,
		Resolved: t.Runs[m].Resolved, Failed: o.names(failed)}
}

func (o *ours) names(models []int) []string {
	out := make([]string, len(models))
	for i, m := range models {
		out[i] = o.models[m]
	}
	return out
}

// train reports all outcomes of some tasks to the learner.
func (o *ours) train(tasks []*Task) {
	var all []coder.Outcome
	for _, t := range tasks {
		var failed []int
		for m, run := range t.Runs {
			if !run.Known {
				continue
			}
			all = append(all, o.outcome(t, failed, m))
			if !run.Resolved {
				failed = append(failed, m)
			}
		}
	}
	o.learner.Observe(all...)
}
