package bandit

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// Decide chooses a technique among the candidates that were not used. It changes
// nothing and does no I/O: the same request to a learner in the same state has the
// same answer. Techniques without a name and repeated ones are passed over.
//
// The best option is the one with the highest score, the log odds of its posterior
// mean moved by today's confidence. In a share of decisions (Parameters.Explore)
// chance picks uniformly among the best few, the best included.
func (l *Learner) Decide(r Request) Decision {
	policy := cmp.Or(r.Policy, &l.policy)
	s, p := l.now.Load(), policy.Parameters
	d := Decision{Policy: policy.ID, Learned: s.learned, Options: options(*policy, s, r)}
	if len(d.Options) == 0 {
		d.Reason = "Nothing is left to try: every technique was used or ruled out."
		return d
	}
	slices.SortStableFunc(d.Options, func(a, b Option) int { return cmp.Compare(b.Score, a.Score) })
	among := min(len(d.Options), max(p.ExploreAmong, r.Left))
	for i := range among {
		d.Options[i].Propensity = p.Explore / float64(among)
	}
	d.Options[0].Propensity += 1 - p.Explore

	chosen := 0
	if dice := r.dice(); dice.Float64() < p.Explore {
		chosen = dice.IntN(among)
	}
	d.Choice, d.Propensity, d.Explored = d.Options[chosen].Technique, d.Options[chosen].Propensity, chosen > 0
	if !r.Terse {
		d.explain(r, chosen, s.weights)
	}
	return d
}

// options are the candidates that may be chosen, with their evidence.
func options(policy Policy, s *snapshot, r Request) []Option {
	v := s.view(r.Org, r.Repo, r.Pattern)
	z := standardise(r.Confidence)
	out := make([]Option, 0, len(r.Candidates))
	for _, c := range r.Candidates {
		taken := func(o Option) bool { return o.Technique == c.Technique }
		if c.Technique == "" || slices.Contains(r.Used, c.Technique) || slices.ContainsFunc(out, taken) {
			continue
		}
		prior := c.Prior
		if !(prior > 0 && prior <= 1) {
			prior = policy.Share(r.Pattern, c.Technique)
		}
		e := v.of(c.Technique)
		e.imported = c.Imported.sound()
		if z, rated := z[c.Technique]; rated {
			e.here = e.here.plus(cell{heard: 1, z: z}) // what the model says today is part of what it usually says
		}
		post := policy.Parameters.posterior(prior, s.weights.opinion.value, e)
		o := Option{
			Technique: c.Technique, Mean: post.mean, strength: post.strength, Z: z[c.Technique],
			Here: e.here.Tally, Org: e.org.Tally, Elsewhere: e.elsewhere.Tally,
			Imported: e.imported,
		}
		o.Score = logit(o.Mean) + s.weights.confidence.value*o.Z
		if c.Odds > 0 && !math.IsInf(c.Odds, 1) {
			o.Score += math.Log(c.Odds)
		}
		out = append(out, o)
	}
	return out
}

// dice are the request's own: the same task, attempt and seed throw the same.
func (r Request) dice() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(r.Task))
	return rand.New(rand.NewPCG(r.Seed^h.Sum64(), uint64(r.Attempt)))
}
