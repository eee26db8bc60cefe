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
//
// Techniques on trial are apart from the others: after another one has failed in the task, they have
// a share of decisions (Parameters.Trial) among them, alike. They come last among the options. Only
// where nothing else is left is one of them chosen in any case.
func (l *Learner) Decide(r Request) Decision {
	policy := cmp.Or(r.Policy, &l.policy)
	s, p := l.now.Load(), policy.Parameters
	d := Decision{Policy: policy.ID, Learned: s.learned, Options: options(*policy, s, r)}
	if len(d.Options) == 0 {
		d.Reason = "Nothing is left to try: every technique was used or ruled out."
		return d
	}
	proved := 0 // options that are on no trial: they come first
	for _, o := range d.Options {
		if !o.trial {
			proved++
		}
	}
	slices.SortStableFunc(d.Options, func(a, b Option) int {
		switch {
		case a.trial == b.trial:
			return cmp.Compare(b.Score, a.Score)
		case a.trial:
			return 1
		}
		return -1
	})
	chosen := d.throw(p, r, proved)
	d.Choice, d.Propensity, d.Explored = d.Options[chosen].Technique, d.Options[chosen].Propensity, chosen > 0
	if !r.Terse {
		d.explain(r, chosen, s.weights)
	}
	return d
}

// throw fills in with which probability each option is chosen, and chooses one. The first proved
// options are on no trial.
func (d *Decision) throw(p Parameters, r Request, proved int) (chosen int) {
	dice, onTrial := r.dice(), len(d.Options)-proved
	trial := 0.0
	switch {
	case proved == 0:
		trial = 1
	case onTrial > 0:
		trial = p.Trial
	}
	for i := proved; i < len(d.Options); i++ {
		d.Options[i].Propensity = trial / float64(onTrial)
	}
	rest := 1 - trial
	among := min(proved, max(p.ExploreAmong, r.Left))
	for i := range among {
		d.Options[i].Propensity = rest * p.Explore / float64(among)
	}
	if proved > 0 {
		d.Options[0].Propensity += rest * (1 - p.Explore)
	}
	switch {
	case onTrial > 0 && dice.Float64() >= rest:
		return proved + dice.IntN(onTrial)
	case dice.Float64() < p.Explore:
		return dice.IntN(among)
	}
	return 0
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
		trial := slices.Contains(r.Trials, c.Technique)
		if trial && r.Attempt == 0 {
			continue // never the first of a task
		}
		prior := policy.Share(r.Pattern, c.Technique)
		if c.Rank > 0 {
			prior = policy.Rules.Shares.of(c.Rank)
		}
		e := v.of(c.Technique)
		e.imported = c.Imported.sound()
		if z, rated := z[c.Technique]; rated {
			e.here = e.here.plus(cell{heard: 1, z: z}) // what the model says today is part of what it usually says
		}
		post := policy.Parameters.posterior(prior, s.weights.opinion.value, e)
		o := Option{
			Technique: c.Technique, Mean: post.mean, strength: post.strength, trial: trial, Z: z[c.Technique],
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
