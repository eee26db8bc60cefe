package recorded

import (
	"math"
	"strings"

	"github.com/sia-bot/sia/policies/coder"
)

// attempts is how many attempts a task has at most.
const attempts = 5

// credits is what a USD is.
const credits = 100

// player says who makes the next attempt: an index into the models, or -1 to stop.
// The first failed attempts are in failed, in their order.
type player interface {
	next(t *Task, failed []int) int
	learn(t *Task, failed []int, model int, run Run)
}

// score is what came of a task.
type score struct {
	net, cost float64 // USD
	resolved  bool
	attempts  int
}

func playTask(p player, t *Task, value float64) (s score) {
	failed := make([]int, 0, attempts)
	for s.attempts < attempts {
		m := p.next(t, failed)
		if m < 0 {
			break
		}
		run := t.Runs[m]
		s.attempts++
		s.cost += run.Cost
		p.learn(t, failed, m, run)
		if run.Resolved {
			s.resolved = true
			s.net = value
			break
		}
		failed = append(failed, m)
	}
	s.net -= s.cost
	return s
}

func play(p player, tasks []Task, value float64) []score {
	out := make([]score, len(tasks))
	for i := range tasks {
		out[i] = playTask(p, &tasks[i], value)
	}
	return out
}

// fixed plays an order, and the unlearning part of a player.
type fixed []int

func (f fixed) next(t *Task, failed []int) int {
	n := len(failed)
	for _, m := range f {
		if !t.Runs[m].Known {
			continue
		}
		if n == 0 {
			return m
		}
		n--
	}
	return -1
}

func (fixed) learn(*Task, []int, int, Run) {}

// hindsight is the order that takes, again and again, the model with the least cost per
// task that it resolves among those that are left unresolved, until that exceeds the value.
func hindsight(t Table, tasks []Task, value float64) (order fixed) {
	left := make([]bool, len(tasks))
	for i := range left {
		left[i] = true
	}
	for len(order) < attempts {
		best, index := -1, math.Inf(1)
		for m := range t.Models {
			cost, won := 0.0, 0.0
			for i, task := range tasks {
				if left[i] {
					cost += task.Runs[m].Cost
					if task.Runs[m].Resolved {
						won++
					}
				}
			}
			if won > 0 && cost/won < index {
				best, index = m, cost/won
			}
		}
		if best < 0 || index > value {
			break
		}
		order = append(order, best)
		for i, task := range tasks {
			if task.Runs[best].Resolved {
				left[i] = false
			}
		}
	}
	return order
}

// ours asks a learner.
type ours struct {
	learner  *coder.Learner
	table    Table
	value    float64 // USD
	prior    []float64
	teaching bool
	seed     uint64
}

func (o *ours) next(t *Task, failed []int) int {
	org, repo, _ := strings.Cut(t.Repo, "/")
	r := coder.Request{Task: t.Name, Org: org, Repo: repo, Value: credits * o.value, Left: math.Inf(1),
		Attempt: len(failed), Tries: attempts - len(failed), Seed: o.seed, Terse: true}
	for m, name := range o.table.Models {
		if !t.Runs[m].Known {
			continue
		}
		skip := false
		for _, f := range failed {
			skip = skip || f == m
		}
		if !skip {
			c := coder.Candidate{Coder: name}
			if o.prior != nil {
				c.Cost = credits * o.prior[m]
			}
			r.Candidates = append(r.Candidates, c)
		}
	}
	for _, f := range failed {
		r.Failed = append(r.Failed, o.table.Models[f])
	}
	d := o.learner.Decide(r)
	for m, name := range o.table.Models {
		if name == d.Choice {
			return m
		}
	}
	return -1
}

func (o *ours) learn(t *Task, failed []int, m int, run Run) {
	if o.teaching {
		o.learner.Observe(outcome(o.table, t, failed, m, run))
	}
}

func outcome(table Table, t *Task, failed []int, m int, run Run) coder.Outcome {
	org, repo, _ := strings.Cut(t.Repo, "/")
	o := coder.Outcome{Task: t.Name, Org: org, Repo: repo, Coder: table.Models[m], Cost: credits * run.Cost, Resolved: run.Resolved}
	for _, f := range failed {
		o.Failed = append(o.Failed, table.Models[f])
	}
	return o
}

// train tells a learner all outcomes of tasks.
func train(l *coder.Learner, table Table, tasks []Task) {
	var all []coder.Outcome
	for i := range tasks {
		var failed []int
		for m, run := range tasks[i].Runs {
			if run.Known {
				all = append(all, outcome(table, &tasks[i], failed, m, run))
				if !run.Resolved {
					failed = append(failed, m)
				}
			}
		}
	}
	l.Observe(all...)
}
