package coder

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// Decide chooses the coder of the next attempt. It changes nothing and does no I/O: the same request to a learner in
// the same state has the same answer. Candidates without a name and repeated ones are ignored.
//
// The best option is the first coder of the sequence with the highest expected net value: see plan. Without a value it
// is the one with the least cost per success. In a share of decisions (Parameters.Explore) the choice is random among
// the options that justify their cost, with probabilities that decrease with the expected loss. Other coders may work
// concurrently: see race.
//
// A sole candidate is chosen regardless of the budget when the value of a task is unknown.
func (l *Learner) Decide(r Request) Decision {
	s := l.now.Load()
	d := Decision{Learned: s.learned}
	bs, after := l.beliefs(s, r)
	if len(bs) == 1 && !(r.Value > 0) {
		r.Left = math.Inf(1)
	}
	for i := range bs {
		b := &bs[i]
		b.Worth = b.Cost <= r.Left && (!(r.Value > 0) || b.Index <= r.Value)
	}
	newPlan(l.p, r, bs, after).rank()
	slices.SortStableFunc(bs, func(a, b belief) int {
		return cmp.Or(cmp.Compare(b.net, a.net), cmp.Compare(b.Chance, a.Chance))
	})
	worth := 0 // number of options that justify their cost; they come first
	for _, b := range bs {
		d.Options = append(d.Options, b.Option)
		if b.net > 0 || (!(r.Value > 0) && !math.IsInf(b.net, -1)) {
			worth++
		}
	}
	chosen := l.choose(d.Options[:worth], r)
	if chosen < 0 {
		d.Propensity = 1
	} else {
		c := d.Options[chosen]
		d.Choice, d.Propensity, d.Explored = c.Coder, c.Propensity, chosen > 0
		d.race(l.p, r, chosen, bs, after)
	}
	if !r.Terse {
		d.explain(r, chosen)
	}
	return d
}

// DecideBy is Decide with other parameters, such as a repository's. Their parameters of learning are ignored.
func (l *Learner) DecideBy(p Parameters, r Request) Decision {
	p.Spread, p.Hopeless, p.Tasks, p.Revise, p.WeightTasks = l.p.Spread, l.p.Hopeless, l.p.Tasks,
		l.p.Revise, l.p.WeightTasks
	view := &Learner{p: p, scale: l.scale}
	view.now.Store(l.now.Load())
	return view.Decide(r)
}

// choose sets the propensities and draws an option. It returns -1 without options.
func (l *Learner) choose(os []Option, r Request) int {
	if len(os) == 0 {
		return -1
	}
	scale, sum := l.p.ExploreLoss*os[0].Cost, 0.0
	for i := range os {
		os[i].Propensity = math.Exp((os[i].net - os[0].net) / scale)
		sum += os[i].Propensity
	}
	for i := range os {
		os[i].Propensity *= l.p.Explore / sum
	}
	os[0].Propensity += 1 - l.p.Explore
	u := r.random().Float64()
	for i, o := range os {
		if u -= o.Propensity; u < 0 {
			return i
		}
	}
	return 0 // rounding error
}

// random returns the request's random source, determined by task, attempt and seed.
func (r Request) random() *rand.Rand {
	h := fnv.New64a()
	for _, part := range []string{r.Org, r.Repo, r.Task} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(r.Seed^h.Sum64(), uint64(r.Attempt)))
}
