package failure

import (
	"cmp"
	"math"
	"slices"
)

// kind is what blocks have in common that tell of one sort of failure. They make one place.
type kind struct {
	rule  *rule
	step  int
	form  formHash
	start int // of a block that is the only one of its kind
	noted bool
}

// kind is the block's kind: what matches the same rule in its step, and where no tool's rule matches, has the
// same form, too. What an annotation of the check names is another kind than what it doesn't.
func (b *block) kind() kind {
	switch {
	case b.rule != &generalRule && !isParagraph[b.rule]:
		return kind{rule: b.rule, step: b.step, noted: b.annotated}
	case b.rule == &generalRule && b.form != 0:
		return kind{rule: b.rule, step: b.step, form: b.form, noted: b.annotated}
	}
	return kind{rule: b.rule, start: b.start}
}

// isParagraph are the rules of what counts for where it stands.
var isParagraph = map[*rule]bool{&aboveRule: true, &endRule: true, &lastRule: true}

// ranks are how well the blocks explain the failure, as logarithms: the blocks of a log share the belief
// in proportion to their exponentials.
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

// The weights of what speaks for a block and against it: a conditional logit over the blocks of each labelled
// log, fitted with the rules of single tools and without them (docs/failing-logs.md). A weight stays only
// if leaving it out made logs of other repositories read worse. Those of tidying up, of a green log and of
// annotations were set by hand, for no labelled log has either, and so was that of a step that passed.
const (
	byWeight      = 0.066 // for each point of its rule's weight
	ofTest        = 1.15  // a test runner's own format tells of a failed test
	byDistance    = -0.15 // for each doubling of the lines to the end of its step
	wordsDistance = -0.20 // the same once more, of words that are in many logs that passed, too
	bySize        = 0.55  // for each doubling of its lines that are no stack frames
	noWords       = -1.71 // it counts for where it stands, and no line speaks of an error
	inFailedStep  = 2.12
	inLaterStep   = -1.01 // that step is not the first that failed: what failed first may have made others fail
	saysResult    = -1.26 // it says that something above has failed, not why
	paragraphUp   = -1.24 // for each paragraph between it and the end of the step
	laterOfKind   = -0.88 // for each doubling of those of its kind above it
	inTidyingUp   = -3.0
	inPassedStep  = -5.0 // GitHub Actions says that a later step was the first to fail
	inGreenToo    = -4.0 // most of it is in a green log of the job
	onNote        = 3.0  // an annotation says the same
)

// rank is how well a block explains the failure, but for others of its kind above it.
func (r *logReader) rank(b *block) float64 {
	far := log2(r.afterBlock(b))
	s := byWeight*b.rule.weight + byDistance*far + bySize*math.Log2(float64(max(1, b.size()-b.traced))) +
		paragraphUp*float64(b.nth)
	words := b.rule == &generalRule || b.rule.soft
	if words {
		s += wordsDistance * far
	}
	for _, t := range []struct {
		is     bool
		weight float64
	}{
		{!words && !b.rule.result && (b.class() == TestFailure || b.states), ofTest},
		{isParagraph[b.rule] && b.score <= 0, noWords},
		{b.failed, inFailedStep}, {b.failed && len(r.ended) > 0 && b.step != r.ended[0].step, inLaterStep},
		{!b.failed && len(r.ended) > 0 && r.ended[0].actions && b.step < r.ended[0].step, inPassedStep},
		{b.result, saysResult}, {b.step == noStep, inTidyingUp},
		{b.known > 0 && b.known*2 >= b.size(), inGreenToo}, {b.annotated, onNote},
	} {
		if t.is {
			s += t.weight
		}
	}
	return s
}

// log2 is the logarithm of one more than n.
func log2(n int) float64 { return math.Log2(1 + float64(n)) }

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
