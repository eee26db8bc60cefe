package coder_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sia-bot/sia/policies/coder"
)

// practised returns a learner with outcomes of 24 coders in 50 repositories, and requests for it.
func practised(b *testing.B, outcomes int) (*coder.Learner, []coder.Request) {
	l, dice := newLearner(b, shipped(b)), rand.New(rand.NewPCG(1, 1))
	var all []coder.Candidate
	for i := range 24 {
		all = append(all, coder.Candidate{Coder: fmt.Sprint("coder-", i), Cost: math.Exp(4 * dice.Float64())})
	}
	var os []coder.Outcome
	var rs []coder.Request
	for task := 0; len(os) < outcomes; task++ {
		repo := dice.IntN(50)
		r := coder.Request{Task: fmt.Sprint(task), Org: fmt.Sprint(repo / 10), Repo: fmt.Sprint(repo),
			Kind:       fmt.Sprint(repo % 3),
			Candidates: all, Value: 100 * math.Exp(3*dice.Float64()), Left: math.Inf(1)}
		hard := dice.NormFloat64()
		for i, c := range dice.Perm(24)[:5] {
			r.Attempt, r.Tries = i, 5-i
			o := coder.Outcome{Task: r.Task, Org: r.Org, Repo: r.Repo, Kind: r.Kind, Coder: all[c].Coder, Cost: all[c].Cost,
				Resolved: dice.NormFloat64()+float64(c)/12 > 1+hard, Failed: r.Failed}
			if os = append(os, o); len(rs) < 1000 {
				rs = append(rs, r)
			}
			if o.Resolved {
				break
			}
			r.Failed = append(r.Failed[:i:i], o.Coder)
		}
	}
	l.Observe(os...)
	return l, rs
}

func BenchmarkDecide100k(b *testing.B) {
	l, rs := practised(b, 100_000)
	i := 0
	for b.Loop() {
		l.Decide(rs[i%len(rs)])
		i++
	}
}

// One outcome costs a copy of the changed state and the revision of two earlier tasks.
func BenchmarkObserve(b *testing.B) {
	l, rs := practised(b, 10_000)
	i := 0
	for b.Loop() {
		r := rs[i%len(rs)]
		l.Observe(coder.Outcome{Task: fmt.Sprint("new", i/3), Org: r.Org, Repo: r.Repo, Kind: r.Kind,
			Coder: r.Candidates[i%24].Coder, Cost: 3})
		i++
	}
}
