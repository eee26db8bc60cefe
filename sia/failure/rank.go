package failure

import (
	"cmp"
	"slices"
)

// What a block's surroundings add to the weight of its rule, or take away. The figures were set on
// labelled logs of many tools. Their ranking matters more than their size.
const (
	inFailedStep = 25 // it stands in a step that failed …
	inFirst      = 6  // … the first that did
	inPassedStep = -35
	inTidyingUp  = -40
	inGreenToo   = -60 // most of it is in a green log of the job
	inRed        = 3
	onNote       = 40 // an annotation says the same
	resultRank   = 24 // at most, for what says that something above failed
	maxNoise     = 45
	bareItem     = 62 // at most, for the name of what failed without a word why
	maxListed    = 20
	byResult     = 14  // it stands right above such a line
	besideErrors = -20 // a warning of a tool that tells of errors, too
	noWordAbove  = -16 // nothing of what stands there speaks of an error
)

// rank is how well a block explains the failure.
func (r *logReader) rank(b *block) float64 {
	words := 30.0
	if b.rule.soft {
		words = 15 // its rule is of words already
	}
	s := b.rule.weight + min(b.score, words)/3
	if b.lift != nil {
		s += max(0, b.lift.weight-b.rule.weight)
	}
	if b.rule.body && b.size() == 1 {
		s = min(s, generalRule.weight)
	}
	if b.rule.item && b.size() == 1 {
		s = min(s, bareItem)
	}
	if b.rule == &generalRule {
		s += min(b.score, 40)/2 - min(float64(b.far)/40, 10)
	}
	if b.rule == &aboveRule && b.score <= 0 {
		s += noWordAbove
	}
	if b.explains {
		s += byResult
	}
	if b.result && b.inner == nil && b.rule.class != TestFailure {
		s = min(s, resultRank)
	}
	switch {
	case b.step == noStep:
		s += inTidyingUp
	case b.failed:
		s += inFailedStep - b.noise(b.far)
		if len(r.ended) > 0 && b.step == r.ended[0].step {
			s += inFirst
		}
	case len(r.ended) > 0:
		s += inPassedStep
	default:
		s -= b.noise(r.total - b.end)
	}
	if b.rule.soft || b.rule == &generalRule {
		s -= min(float64(r.forms.quiet(b.form))/2, maxListed)
	}
	if b.red {
		s += inRed
	}
	if b.annotated {
		s += onNote
	}
	if b.known > 0 && b.known*2 >= b.size() {
		s += inGreenToo
	}
	return s
}

// noise is what a block's rank loses for standing above the end of its step, far being the distance
// in lines. Words such as "connection refused" are in many logs that passed, too. Failures that a
// job does not survive lose nothing.
func (b *block) noise(far int) float64 {
	if !b.rule.soft && (!containerClasses[b.rule.class] || b.rule == &generalRule || b.rule.tells) {
		return 0
	}
	if b.rule.class == Infrastructure || b.rule.class == OutOfMemory {
		return 0
	}
	if !b.rule.soft && b.confirmed {
		return 0
	}
	return min(float64(far)/4, maxNoise)
}

// dropWeakest forgets the weakest blocks, so that half of the room is free again. Of
// equals the later ones go.
func (r *logReader) dropWeakest() {
	byRank := slices.Clone(r.kept)
	slices.SortStableFunc(byRank, func(a, b *block) int { return cmp.Compare(r.rank(b), r.rank(a)) })
	weak := make(map[*block]bool, len(byRank))
	for _, b := range byRank[maxKept/2:] {
		weak[b] = true
	}
	r.kept = slices.DeleteFunc(r.kept, func(b *block) bool { return weak[b] })
}
