package coder

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// belief is what is known of one candidate, as the request's place sees it.
type belief struct {
	Option
	curve, brave     vector // chance by class: expected, and with optimism
	success, failure float64
	sd               float64
	again            bool
}

// Decide chooses who makes the next attempt.
func (l *Learner) Decide(r Request) Decision {
	s := l.now.Load()
	d := Decision{Learned: s.learned}
	beliefs, after := l.beliefs(s, r)
	search := &search{beliefs: beliefs, value: r.Value, left: r.Left, tries: max(1, min(r.Tries, 10)), beam: l.p.Beam}
	search.rank(after)
	slices.SortStableFunc(beliefs, func(a, b belief) int { return cmp.Compare(b.net, a.net) })
	among := 0
	for i := range beliefs {
		if !math.IsInf(beliefs[i].net, -1) && (r.Value <= 0 || beliefs[i].net > 0) {
			among++
		}
	}
	for _, b := range beliefs {
		d.Options = append(d.Options, b.Option)
	}
	if among == 0 {
		d.Stop = true
		d.Propensity = 1
		return d
	}
	l.propensities(d.Options[:among])
	chosen := 0
	u := r.dice().Float64()
	for i, o := range d.Options[:among] {
		if u -= o.Propensity; u < 0 {
			chosen = i
			break
		}
	}
	c := d.Options[chosen]
	d.Choice, d.Propensity, d.Explored = c.Coder, c.Propensity, chosen > 0
	return d
}

func (l *Learner) propensities(os []Option) {
	sum := 0.0
	scale := l.p.ExploreLoss * max(os[0].Cost, 1e-9)
	for i := range os {
		os[i].Propensity = math.Exp(-(os[0].net - os[i].net) / scale)
		sum += os[i].Propensity
	}
	for i := range os {
		os[i].Propensity *= l.p.Explore / sum
	}
	os[0].Propensity += 1 - l.p.Explore
}

// beliefs are the candidates, and the difficulty of the task given who failed.
func (l *Learner) beliefs(s *snapshot, r Request) ([]belief, vector) {
	ps := places(r.Kind, r.Org, r.Repo)
	pi := l.common(s)
	usual, known := 0.0, 0.0
	for _, c := range r.Candidates {
		if c.Cost > 0 {
			usual += math.Log(c.Cost)
			known++
		}
	}
	if known > 0 {
		usual = math.Exp(usual / known)
	}
	out := make([]belief, 0, len(r.Candidates))
	var general float64 = l.scale.ability(l.p.Share, &pi)
	after := pi
	for _, c := range r.Candidates {
		if c.Coder == "" || slices.ContainsFunc(out, func(b belief) bool { return b.Coder == c.Coder }) {
			continue
		}
		b := l.believe(s.chain(ps, c.Coder), c, general, &pi, usual)
		b.again = slices.Contains(r.Failed, c.Coder)
		out = append(out, b)
	}
	for _, f := range r.Failed {
		i := slices.IndexFunc(out, func(b belief) bool { return b.Coder == f })
		var curve vector
		if i >= 0 {
			curve = out[i].curve
		} else {
			curve = l.believe(s.chain(ps, f), Candidate{Coder: f}, general, &pi, usual).curve
		}
		for g := range after {
			after[g] *= 1 - curve[g]
		}
	}
	n := after.sum()
	for g := range after {
		after[g] /= n
	}
	again := (l.p.WeightAgain*l.p.Again + s.again.Resolved) / (l.p.WeightAgain + s.again.Tried)
	for i := range out {
		b := &out[i]
		if b.again {
			for g := range b.curve {
				b.curve[g] = again
				b.brave[g] = again
			}
		}
		b.Chance = dot(&b.curve, &after)
		b.Cost = b.Chance*b.success + (1-b.Chance)*b.failure
		b.Index = b.Cost / b.Chance
		b.Worth = (r.Value <= 0 || b.Index <= r.Value) && b.Cost <= r.Left
	}
	return out, after
}

func (l *Learner) believe(chain [levels]cell, c Candidate, general float64, pi *vector, usual float64) belief {
	share, weight := general, l.p.WeightUnknown
	if c.Prior > 0 && c.Prior < 1 {
		share, weight = l.scale.ability(c.Prior, pi), l.p.WeightTable
	} else if c.Cost > 0 && usual > 0 {
		share += l.p.PriceSlope * math.Log(c.Cost/usual)
	}
	weights := [levels]float64{weight, l.p.WeightKind, l.p.WeightGlobal, l.p.WeightOrg}
	b := belief{Option: Option{Coder: c.Coder}}
	ability, info := share, 0.0
	dirty := true
	var curve vector
	for i := range chain {
		if dirty {
			curve = l.scale.curve(ability)
		}
		dirty = chain[i].tried.sum() > 0
		if !dirty && i > 0 {
			continue
		}
		tried, resolved := chain[i].tried, chain[i].resolved
		for g, w := range pi {
			tried[g] += weights[i] * w
			resolved[g] += weights[i] * w * curve[g]
		}
		was := info
		ability, info = l.scale.fit(ability, &tried, &resolved)
		info = max(info, was)
		dirty = true
	}
	b.curve = l.scale.curve(ability)
	b.sd = 1 / math.Sqrt(info)
	b.brave = b.curve
	if l.p.Optimism > 0 {
		b.brave = l.scale.curve(ability + l.p.Optimism*b.sd)
	}
	// costs
	cost := c.Cost
	if !(cost > 0) {
		cost = usual
	}
	m := dot(&b.curve, pi)
	b.success = cost / (m + l.p.Failure*(1-m))
	b.failure = l.p.Failure * b.success
	cw := [levels]float64{l.p.WeightCost, l.p.WeightCost, l.p.WeightCost, l.p.WeightCost}
	for i := range chain {
		b.success = chain[i].success.mean(b.success, cw[i])
		b.failure = chain[i].failure.mean(b.failure, cw[i])
	}
	b.Here, b.Org = chain[repository].tally(), chain[organisation].tally()
	e := chain[world]
	e.add(&chain[sort], 1)
	b.Elsewhere = e.tally()
	return b
}

func whole(x float64) float64 {
	if n := math.Round(x); math.Abs(x-n) < 1e-6 {
		return n
	}
	return x
}

// dice are the request's own: the same task, attempt and seed throw the same.
func (r Request) dice() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(r.Task))
	return rand.New(rand.NewPCG(r.Seed^h.Sum64(), uint64(r.Attempt)))
}
