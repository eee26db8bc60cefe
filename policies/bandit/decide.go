package bandit

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// Decide chooses a technique among the unused candidates. It changes nothing and does no I/O: the same request to a
// learner in the same state has the same answer. Techniques without a name and repeated ones are ignored.
//
// The best option is the one with the highest score: the log odds of its posterior mean, adjusted by the current
// confidence. In a share of decisions (Parameters.Explore) the choice is uniform among the best few, the best included.
//
// Techniques on trial are separate: after another technique has failed in the task, they share equally in a share of
// decisions (Parameters.Trial). They come last among the options and are chosen in any case only when nothing else is
// left.
func (l *Learner) Decide(r Request) Decision {
	policy := cmp.Or(r.Policy, &l.policy)
	s, p := l.now.Load(), policy.Parameters
	d := Decision{Policy: policy.ID, Learned: s.learned, Options: options(*policy, s, r)}
	if len(d.Options) == 0 {
		d.Reason = "Nothing is left to try: every technique was used or ruled out."
		return d
	}
	proven := 0 // number of options not on trial: they come first
	for _, o := range d.Options {
		if !o.trial {
			proven++
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
	chosen := d.draw(p, r, proven)
	d.Choice, d.Propensity, d.Explored = d.Options[chosen].Technique, d.Options[chosen].Propensity, chosen > 0
	if !r.Terse {
		d.explain(r, chosen, s.weights)
	}
	return d
}

// draw sets the probability of each option and draws one. The first proven options are not on trial.
func (d *Decision) draw(p Parameters, r Request, proven int) (chosen int) {
	random, onTrial := r.random(), len(d.Options)-proven
	trial := 0.0
	switch {
	case proven == 0:
		trial = 1
	case onTrial > 0:
		trial = p.Trial
	}
	for i := proven; i < len(d.Options); i++ {
		d.Options[i].Propensity = trial / float64(onTrial)
	}
	rest := 1 - trial
	among := min(proven, max(p.ExploreAmong, r.Left))
	for i := range among {
		d.Options[i].Propensity = rest * p.Explore / float64(among)
	}
	if proven > 0 {
		d.Options[0].Propensity += rest * (1 - p.Explore)
	}
	switch {
	case onTrial > 0 && random.Float64() >= rest:
		return proven + random.IntN(onTrial)
	case random.Float64() < p.Explore:
		return random.IntN(among)
	}
	return 0
}

// options returns the candidates that may be chosen, with their evidence.
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
			continue // never first in a task
		}
		prior := policy.Share(r.Pattern, c.Technique)
		if c.Rank > 0 {
			prior = policy.Rules.Shares.of(c.Rank)
		}
		e := v.of(c.Technique)
		e.imported = c.Imported.sound()
		if z, rated := z[c.Technique]; rated {
			e.here = e.here.plus(cell{heard: 1, z: z}) // the current confidence is part of the average
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

// random returns the request's random source, determined by task, attempt and seed.
func (r Request) random() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(r.Task))
	return rand.New(rand.NewPCG(r.Seed^h.Sum64(), uint64(r.Attempt)))
}
