package coder

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// belief is the knowledge about a candidate from the view of the request's place.
type belief struct {
	Option
	curve            vector  // probability of resolving a task, by class
	hoped            vector  // the same with optimism
	success, failure float64 // expected cost of either, in credits
}

// usual returns the geometric mean of the candidates' known costs, 1 credit when none is known.
func usual(cs []Candidate) float64 {
	sum, n := 0.0, 0.0
	for _, c := range cs {
		if c.priced() {
			sum += math.Log(c.Cost)
			n++
		}
	}
	return math.Exp(sum / max(1, n))
}

func (c Candidate) priced() bool { return c.Cost > 0 && !math.IsInf(c.Cost, 1) }

// observer is one request's view of a snapshot.
type observer struct {
	*Learner
	*snapshot
	places              [levels]place
	common              vector  // frequency of each class of difficulty
	unknownAbility      float64 // ability of an unknown coder
	usual               float64 // usual cost, in credits
	brief               bool    // no intervals
	changedInstructions bool    // with other instructions than the failed attempts
}

// beliefs returns the beliefs about the candidates, in order, and the probability of each class of difficulty of the
// task, given the failed coders.
func (l *Learner) beliefs(s *snapshot, r Request) ([]belief, vector) {
	ps := places(r.Kind, r.Org, r.Repo)
	ob := observer{Learner: l, snapshot: s, places: ps, common: l.common(s, ps), usual: usual(r.Candidates),
		brief: r.Terse, changedInstructions: r.Changed}
	ob.unknownAbility = l.scale.ability(l.p.Share, &ob.common)
	bs := make([]belief, 0, len(r.Candidates))
	spread := make([]vector, 0, 2*len(r.Candidates)) // curves at the ends of the intervals
	for _, c := range r.Candidates {
		if c.Coder == "" || slices.ContainsFunc(bs, func(b belief) bool { return b.Coder == c.Coder }) {
			continue
		}
		b, low, high := ob.believe(c)
		bs, spread = append(bs, b), append(spread, low, high)
	}
	after := ob.common
	for _, f := range r.Failed {
		var curve vector
		if i := slices.IndexFunc(bs, func(b belief) bool { return b.Coder == f }); i >= 0 {
			curve = bs[i].curve
		} else {
			b, _, _ := ob.believe(Candidate{Coder: f})
			curve = b.curve
		}
		for g := range after {
			after[g] = max(tiny, after[g]*(1-curve[g]))
		}
		after = after.shares()
	}
	for i := range bs {
		b := &bs[i]
		if slices.Contains(r.Failed, b.Coder) {
			ob.again(b)
		} else {
			b.Chance = clamp(dot(&b.curve, &after), tiny, 1)
			b.Low, b.High = dot(&spread[2*i], &after), dot(&spread[2*i+1], &after)
		}
		b.Cost = b.Chance*b.success + (1-b.Chance)*b.failure
		b.Index = b.Cost / b.Chance
	}
	return bs, after
}

// again sets the belief about a coder that has failed on this task.
func (ob *observer) again(b *belief) {
	t, share, w := ob.snapshot.again, ob.p.Again, ob.p.WeightAgain
	if ob.changedInstructions {
		t, share = ob.snapshot.changed, ob.p.Changed
	}
	b.Chance = (w*share + t.Resolved) / (w + t.Tried)
	for g := range b.curve {
		b.curve[g] = b.Chance
	}
	b.hoped = b.curve
	if !ob.brief {
		won, lost := (w+t.Tried)*b.Chance, (w+t.Tried)*(1-b.Chance)
		b.Low, b.High = mathext.InvRegIncBeta(won, lost, 0.1), mathext.InvRegIncBeta(won, lost, 0.9)
	}
}

// believe returns the belief about a candidate, updated from the widest scope to the narrowest: each scope is the prior
// of the next. low and high are the curves at the ends of the 80 % interval of the ability.
func (ob *observer) believe(c Candidate) (b belief, low, high vector) {
	ability, strength := ob.unknownAbility, ob.p.WeightUnknown
	if c.Prior > 0 && c.Prior < 1 {
		expected := Tally{Resolved: ob.p.WeightTable * c.Prior, Tried: ob.p.WeightTable}
		if t := c.Imported; t.Resolved >= 0 && t.Resolved <= t.Tried && t.Tried < math.Inf(1) {
			expected = Tally{Resolved: expected.Resolved + t.Resolved, Tried: expected.Tried + t.Tried}
			b.Imported = t
		}
		share := clamp(expected.Resolved/expected.Tried, minShare, maxShare)
		ability, strength = ob.scale.ability(share, &ob.common), expected.Tried
	} else if c.priced() {
		ability += ob.p.PriceSlope * math.Log(c.Cost/ob.usual)
	}
	chain, most := ob.chain(ob.places, c.Coder), ob.p.most()
	b.Coder, b.curve = c.Coder, ob.scale.curve(ability)
	information := 0.0
	for i := range chain {
		n := chain[i].tried.sum()
		if i > 0 {
			strength = less(strength, most[i])
		}
		if n > 0 || i == len(chain)-1 {
			ability, information = ob.scale.fit(ability, chain[i].with(strength, &ob.common, &b.curve))
			b.curve = ob.scale.curve(ability)
			strength += n
		}
	}
	sd := 1 / math.Sqrt(information)
	b.hoped = b.curve
	if ob.p.Optimism > 0 {
		b.hoped = ob.scale.curve(ability + ob.p.Optimism*sd)
	}
	if !ob.brief {
		low, high = ob.scale.curve(ability-z80*sd), ob.scale.curve(ability+z80*sd)
	}
	ob.price(&b, c, &chain)
	b.Here, b.Org = chain[repository].tally(), chain[organisation].tally()
	chain[world].add(&chain[kindred], 1)
	b.Elsewhere = chain[world].tally()
	return b, low, high
}

// z80 is half the width of an 80 % interval in standard deviations.
const z80 = 1.2816

// price sets the expected costs of a success and a failure, in the same way.
func (ob *observer) price(b *belief, c Candidate, chain *[levels]cell) {
	cost := ob.usual
	if c.priced() {
		cost = c.Cost
	}
	share := dot(&b.curve, &ob.common)
	b.success = cost / (share + ob.p.Failure*(1-share))
	b.failure = ob.p.Failure * b.success
	won, lost, most := ob.p.WeightCost, ob.p.WeightCost, ob.p.most()
	for i := range chain {
		if i > 0 {
			won, lost = less(won, most[i]), less(lost, most[i])
		}
		b.success = chain[i].success.mean(b.success, won)
		b.failure = chain[i].failure.mean(b.failure, lost)
		won += chain[i].success.n
		lost += chain[i].failure.n
	}
}

// most returns the maximum weight of a wider scope, by the level for which it is the prior.
func (p Parameters) most() [levels]float64 {
	return [levels]float64{kindred: p.WeightKind, organisation: p.WeightGlobal, repository: p.WeightOrg}
}
