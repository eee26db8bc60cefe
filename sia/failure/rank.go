package failure

import (
	"cmp"
	"math"
	"slices"
)

// kind identifies blocks about the same kind of failure. They form one place.
type kind struct {
	rule  *rule
	step  int
	form  formHash
	start int // first line of a block that is the only one of its kind; else 0
	noted bool
}

// kind returns the block's kind. Blocks of one kind match the same rule in the same step, and have the same form where
// no tool's rule matches. Annotated blocks are a separate kind.
func (b *block) kind() kind {
	switch {
	case b.rule != &generalRule && !paragraphRules[b.rule]:
		return kind{rule: b.rule, step: b.step, noted: b.annotated}
	case b.rule == &generalRule && b.form != 0:
		return kind{rule: b.rule, step: b.step, form: b.form, noted: b.annotated}
	}
	return kind{rule: b.rule, start: b.start}
}

// paragraphRules holds the rules for paragraphs that count because of their position.
var paragraphRules = map[*rule]bool{&aboveRule: true, &endRule: true, &lastRule: true}

// ranks returns how well the blocks explain the failure, as logarithms: a block's probability is proportional to the
// exponential of its rank.
func (r *logReader) ranks() map[*block]float64 {
	rank := make(map[*block]float64, len(r.kept))
	above := map[kind]int{}
	for _, b := range r.kept {
		k := b.kind()
		k.start = 0 // paragraphs follow one another, too
		rank[b] = r.rank(b) + laterOfKind*log2(above[k])
		above[k]++
	}
	return rank
}

// The weights of a block's features: a conditional logit over the blocks of each labelled log, fitted with the rules of
// single tools and without them (docs/failing-logs.md). A weight was kept only if omitting it made the results on logs
// of other repositories worse. The weights of cleanup, of a green log, of annotations and of a passed step were set by
// hand, because no labelled log has these features.
const (
	byWeight      = 0.066 // per point of its rule's weight
	isTestFailure = 1.15  // it is a failed test in a test runner's own format
	byDistance    = -0.15 // per doubling of the lines to the end of its step
	wordsDistance = -0.20 // the same in addition, for words that are common in logs of passing runs
	bySize        = 0.55  // per doubling of its lines, stack frames not counted
	noErrorWords  = -1.71 // a paragraph without words of an error
	inFailedStep  = 2.12
	inLaterStep   = -1.01 // the step is not the first that failed; the first failure may have caused it
	isResultOnly  = -1.26 // it reports that something above has failed, not why
	paragraphUp   = -1.24 // per paragraph between it and the end of the step
	laterOfKind   = -0.88 // per doubling of the blocks of its kind above it
	inCleanup     = -3.0
	inPassedStep  = -5.0 // in GitHub Actions, a later step was the first to fail
	inGreenLog    = -4.0 // most of it is in a green log of the job
	hasAnnotation = 3.0  // an annotation has the same message
)

// rank returns how well a block explains the failure, without regard to others of its kind above it.
func (r *logReader) rank(b *block) float64 {
	distance := log2(r.linesAfter(b))
	s := byWeight*b.rule.weight + byDistance*distance + bySize*math.Log2(float64(max(1, b.size()-b.traced))) +
		paragraphUp*float64(b.nth)
	words := b.rule == &generalRule || b.rule.soft
	if words {
		s += wordsDistance * distance
	}
	for _, t := range []struct {
		is     bool
		weight float64
	}{
		{!words && !b.rule.result && (b.class() == TestFailure || b.states), isTestFailure},
		{paragraphRules[b.rule] && b.score <= 0, noErrorWords},
		{b.failed, inFailedStep}, {b.failed && len(r.ended) > 0 && b.step != r.ended[0].step, inLaterStep},
		{!b.failed && len(r.ended) > 0 && r.ended[0].actions && b.step < r.ended[0].step, inPassedStep},
		{b.result, isResultOnly}, {b.step == noStep, inCleanup},
		{b.known > 0 && b.known*2 >= b.size(), inGreenLog}, {b.annotated, hasAnnotation},
	} {
		if t.is {
			s += t.weight
		}
	}
	return s
}

// log2 returns the binary logarithm of n+1.
func log2(n int) float64 { return math.Log2(1 + float64(n)) }

// dropWeakest drops the lowest-ranking blocks, so that half of the capacity is free again. Of equals, the later ones
// are dropped.
func (r *logReader) dropWeakest() {
	type ranked struct {
		*block
		rank float64
	}
	byRank := make([]ranked, len(r.kept))
	for i, b := range r.kept {
		byRank[i] = ranked{b, r.rank(b)}
	}
	slices.SortStableFunc(byRank, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	weak := make(map[*block]bool, len(byRank))
	for _, b := range byRank[maxKept/2:] {
		weak[b.block] = true
	}
	r.kept = slices.DeleteFunc(r.kept, func(b *block) bool { return weak[b] })
}
