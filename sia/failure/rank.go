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
}

// kind is the block's kind: what matches the same rule in its step, and where no tool's rule matches, has the
// same form, too.
func (b *block) kind() kind {
	switch {
	case b.rule != &generalRule && !isParagraph[b.rule]:
		return kind{rule: b.rule, step: b.step}
	case b.rule == &generalRule && b.form != 0:
		return kind{rule: b.rule, step: b.step, form: b.form}
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

// The weights of what speaks for a block and against it. They were fitted on labelled logs: a conditional
// logit over the blocks of each log, every repository counting alike, with the rules of single tools and
// without them (docs/failing-logs.md). Those of tidying up, of a green log and of annotations were
// set by hand, for no labelled log has either.
const (
	ofWords       = 0.24  // its rule is of words that are in many logs that passed, too
	ofTest        = 0.77  // … of a failed test
	ofFormat      = -0.04 // … of another format
	ofResult      = -1.63
	ofErrorWords  = -0.24 // no rule covers it, but its words look like an error
	aboveResult   = -0.73
	aboveEnd      = -0.36
	atEndOfLog    = -1.79
	byWeight      = 0.036 // for each point of its rule's weight above 60
	byWords       = 0.012 // for each point of its most telling line, up to 30
	noWords       = -0.74 // it counts for where it stands, and no line speaks of an error
	inFailedStep  = 1.03
	inPassedStep  = -1.26
	inTidyingUp   = -3.0
	byDistance    = -0.11  // for each doubling of the lines to the end of its step
	wordsDistance = -0.125 // the same once more, of words
	bySize        = 0.33   // for each doubling of its lines
	warning       = -0.81
	saysResult    = -1.09 // it says that something above has failed, not why
	explains      = 0.20
	paragraphUp   = -0.96 // for each paragraph between it and the end of the step
	laterOfKind   = -0.54 // for each doubling of those of its kind above it
	inGreenToo    = -4.0  // most of it is in a green log of the job
	onNote        = 3.0   // an annotation says the same
)

// base is the weight of the block's rule, and its distance from the end of its step.
func (b *block) base(far int) float64 {
	switch b.rule {
	case &generalRule:
		return ofErrorWords + wordsDistance*log2(far)
	case &aboveRule:
		return aboveResult + b.wordless()
	case &endRule:
		return aboveEnd + b.wordless()
	case &lastRule:
		return atEndOfLog + b.wordless()
	}
	s := byWeight * (b.rule.weight - 60)
	switch {
	case b.rule.soft:
		return s + ofWords + wordsDistance*log2(far)
	case b.rule.result:
		return s + ofResult
	case b.class() == TestFailure:
		return s + ofTest
	}
	return s + ofFormat
}

// wordless is what a paragraph loses when nothing in it speaks of an error.
func (b *block) wordless() float64 {
	if b.score > 0 {
		return 0
	}
	return noWords
}

// rank is how well a block explains the failure, but for others of its kind above it.
func (r *logReader) rank(b *block) float64 {
	far := r.afterBlock(b)
	s := b.base(far) + byWords*min(b.score, 30) + byDistance*log2(far) + bySize*math.Log2(float64(b.size())) +
		paragraphUp*float64(b.nth)
	for _, t := range []struct {
		is     bool
		weight float64
	}{
		{b.failed, inFailedStep}, {!b.failed && len(r.ended) > 0, inPassedStep}, {b.step == noStep, inTidyingUp},
		{b.warns, warning}, {b.result, saysResult}, {b.explains, explains},
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
