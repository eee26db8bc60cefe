package bandit

import (
	"cmp"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// A new technique is on trial: it is chosen in a small share of the decisions after another technique has failed in the
// task, until its verdict. Its outcomes in a repository, for all patterns together, are compared with the expected
// share of resolutions of the fifth best technique of the policy's table there. That one is rarely first in a task
// either, so both are tried on tasks of similar difficulty.
const (
	trialOutcomes = 30  // minimum outcomes before a technique is kept
	keptAbove     = .8  // kept if the probability of being better than the rival is higher
	retiredBelow  = .05 // retired if that probability is lower
	rival         = 5   // place of the technique to beat, from 1
	trialSteps    = 128 // steps of the numerical integration
)

// Verdict is the outcome of a trial. It is final.
type Verdict string

// The verdicts.
const (
	Undecided Verdict = ""        // the trial continues
	Kept      Verdict = "kept"    // an ordinary technique from now on
	Retired   Verdict = "retired" // never chosen again
)

// Trial is the state of the trial of a technique in a repository.
type Trial struct {
	Tally           // in the repository, for all patterns
	Better  float64 // probability that it resolves more than the fifth best, 0–1; 0 when never tried
	Verdict Verdict
}

// arm identifies a technique in a repository.
type arm struct{ org, repo, technique string }

// Trial returns the state of a technique's trial in a repository. The verdict is from the outcome that decided it; the
// counts and the probability are current.
func (l *Learner) Trial(org, repo, technique string) Trial {
	s := l.now.Load()
	t := l.policy.trial(s, arm{org, repo, technique})
	t.Verdict = s.verdicts[arm{org, repo, technique}]
	return t
}

// judge decides the verdict on a technique after one of its outcomes, if possible.
func (e edit) judge(p Policy, a arm) {
	if e.verdicts[a] != Undecided || p.lists(a.technique) {
		return
	}
	t := p.trial(e.snapshot, a)
	var v Verdict
	switch {
	case t.Tried >= trialOutcomes && t.Better > keptAbove:
		v = Kept
	case t.Better < retiredBelow:
		v = Retired
	default:
		return
	}
	e.verdicts = maps.Clone(e.verdicts)
	if e.verdicts == nil {
		e.verdicts = map[arm]Verdict{}
	}
	e.verdicts[a] = v
}

// trial compares a technique with the fifth best.
func (p Policy) trial(s *snapshot, a arm) Trial {
	var t Trial
	var mean, strength float64
	here := s.scopes[place{repository, a.org, a.repo}]
	for _, pattern := range slices.Sorted(maps.Keys(here)) { // sums must not depend on map order
		c := here[pattern].of(a.technique)
		if c.Tried == 0 {
			continue
		}
		fifth := p.fifthBest(s, a, pattern)
		t.Resolved, t.Tried = t.Resolved+c.Resolved, t.Tried+c.Tried
		mean, strength = mean+c.Tried*fifth.mean, strength+c.Tried*fifth.strength
	}
	if t.Tried == 0 {
		return t
	}
	mean, strength = mean/t.Tried, strength/t.Tried
	t.Better = exceeds(1+t.Resolved, 1+max(0, t.Tried-t.Resolved), mean*strength, (1-mean)*strength)
	return t
}

// fifthBest returns the posterior of the fifth best technique of the table for a pattern in a repository, or of the
// last one when there are fewer.
func (p Policy) fifthBest(s *snapshot, a arm, pattern string) posterior {
	v := s.view(a.org, a.repo, pattern)
	var all []posterior
	for _, technique := range p.listed() {
		all = append(all, p.Parameters.posterior(p.Share(pattern, technique), s.weights.opinion.value, v.of(technique)))
	}
	if len(all) == 0 {
		return posterior{mean: p.Rules.Shares.Other, strength: p.Parameters.WeightPrior}
	}
	slices.SortFunc(all, func(a, b posterior) int {
		return cmp.Or(cmp.Compare(b.mean, a.mean), cmp.Compare(b.strength, a.strength))
	})
	return all[min(rival, len(all))-1]
}

// listed returns the techniques that the table ranks for any pattern, sorted.
func (p Policy) listed() []string {
	names := map[string]bool{}
	for _, ranks := range p.Rules.Ranks {
		for technique := range ranks {
			names[technique] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// lists reports whether the table ranks a technique for any pattern.
func (p Policy) lists(technique string) bool {
	for _, ranks := range p.Rules.Ranks {
		if ranks[technique] > 0 {
			return true
		}
	}
	return false
}

// exceeds returns the probability that a draw of Beta(a, b) is larger than one of Beta(c, d), to within 0.01.
func exceeds(a, b, c, d float64) float64 {
	sum, before := 0.0, 0.0
	for i := range trialSteps {
		x := float64(i+1) / trialSteps
		upTo := mathext.RegIncBeta(a, b, x)
		sum += (upTo - before) * mathext.RegIncBeta(c, d, (float64(i)+.5)/trialSteps)
		before = upTo
	}
	return sum
}
