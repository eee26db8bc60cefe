package bandit

import (
	"cmp"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// A technique that nobody has tried yet is on trial: it is chosen in a small share of the decisions
// that come after another technique has failed in the task, until it has proved itself or not. Its
// outcomes in a repository, of all patterns together, are compared with what the fifth best
// technique of the policy's table is expected to resolve there. That one is seldom the first in a
// task either, so the two meet tasks that are about as hard.
const (
	trialOutcomes = 30  // before a technique is kept
	keptAbove     = .8  // chance that it is better than the fifth best: it is kept
	retiredBelow  = .05 // the same: it is retired
	rival         = 5   // the place of the technique that it has to beat, from 1
	trialSteps    = 128 // of the integral
)

// Verdict is the outcome of a trial. Once it is spoken it stays.
type Verdict string

// The verdicts.
const (
	Undecided Verdict = ""        // the trial goes on
	Kept      Verdict = "kept"    // it is a technique like any other from now on
	Retired   Verdict = "retired" // it is not chosen any more
)

// Trial is how a technique that is not in the policy's table has fared in a repository.
type Trial struct {
	Tally           // in the repository, of all patterns
	Better  float64 // chance that it resolves more than the fifth best, 0–1; 0 when it was never tried
	Verdict Verdict
}

// arm is a technique in a repository.
type arm struct{ org, repo, technique string }

// Trial says how a technique has fared in a repository, as outcomes up to now tell. The verdict was
// spoken after the outcome that decided it; the counts and the chance are of now.
func (l *Learner) Trial(org, repo, technique string) Trial {
	s := l.now.Load()
	t := l.policy.trial(s, arm{org, repo, technique})
	t.Verdict = s.verdicts[arm{org, repo, technique}]
	return t
}

// judge speaks the verdict on a technique after one of its outcomes.
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
	for _, pattern := range slices.Sorted(maps.Keys(here)) { // sums must not depend on the order of a map
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

// fifthBest is the belief about the technique of the table that takes the fifth place for a pattern
// in a repository, or the last when there are fewer.
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

// listed are the techniques that the table ranks for any pattern, by name.
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

// exceeds is the chance that a draw of Beta(a, b) is larger than one of Beta(c, d), to within 0.01.
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
