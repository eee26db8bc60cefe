package failure

import (
	"slices"
	"strings"
)

// Bounds of what is remembered of a block.
const (
	maxBlock  = 400 // lines of a block
	keepHead  = 40  // lines with their text kept from its start …
	keepTail  = 20  // … and from its end
	keepPeaks = 5   // of its most telling lines
	keepText  = 400 // bytes of a line that are kept …
	keepLast  = 200 // … and of these, how many are a longer line's last
	maxWait   = 12  // lines that wait to be known as part of a block
)

// block is a run of lines that tells of one failure.
type block struct {
	rule   *rule
	lift   *rule      // a rule that lends its weight and class, or nil
	inner  *rule      // the heaviest other rule that matched inside, or nil
	start  int        // first line
	head   int        // the line that the rule matched
	end    int        // last line
	over   []textLine // what stands right above an error of the network, which may name the place
	indent int        // of the head
	form   formHash   // of the head
	test   int        // index of the failed test that the head names, or -1

	step      int     // the CI step it stands in
	failed    bool    // that step has failed
	far       int     // lines from its end to the end of that step
	nth       int     // paragraphs between it and the end of the step
	marked    bool    // the CI system marks its lines as errors
	states    bool    // its head is a sign of failure beside a sentence, and names no item
	result    bool    // it says that something above has failed, not why
	annotated bool    // an annotation of the check says the same
	known     int     // lines that a green log of the job has, too
	score     float64 // of its most telling line
	traced    int     // stack frames among its lines
	tracedBy  int     // stack frames in the log up to its end

	first []textLine // the first lines
	tail  []textLine // the last ones
	peaks []peakLine // the most telling ones

	extentState
}

// extentState is what a block's extent goes by.
type extentState struct {
	frames      int        // stack frames, or marks that the extent counts
	message     int        // lines of an exception's message
	heading     bool       // a line above ends in a colon, and what it heads is shown under it
	blankBefore bool       // the line before is blank
	waiting     []textLine // lines that belong to it only if a later one does
}

// peakLine is a line and how telling it is.
type peakLine struct {
	n     int
	score float64
}

// add takes a line that belongs to the block.
func (b *block) add(t textLine) {
	b.end = t.n
	if isStackFrame([]byte(strings.TrimLeft(t.text, " \t"))) {
		b.traced++
	}
	b.score = max(b.score, t.score)
	b.peak(t)
	if len(b.first) < keepHead {
		b.first = append(b.first, t)
		return
	}
	if len(b.tail) == keepTail {
		copy(b.tail, b.tail[1:])
		b.tail = b.tail[:keepTail-1]
	}
	b.tail = append(b.tail, t)
}

// prepend takes the line above the block's first.
func (b *block) prepend(t textLine) {
	b.start = t.n
	b.first = append([]textLine{t}, b.first...)
}

// peak remembers the line if it is among the most telling.
func (b *block) peak(t textLine) {
	if len(b.peaks) < keepPeaks {
		b.peaks = append(b.peaks, peakLine{t.n, t.score})
		return
	}
	least := 0
	for i := range b.peaks {
		if b.peaks[i].score < b.peaks[least].score {
			least = i
		}
	}
	if t.score > b.peaks[least].score {
		b.peaks[least] = peakLine{t.n, t.score}
	}
}

// lines returns the lines that were kept, in order.
func (b *block) lines() []textLine {
	return append(b.first[:len(b.first):len(b.first)], b.tail...)
}

// reasons are the lines that say why, where a tool marks them, else all lines that were kept.
func (b *block) reasons() []textLine {
	all := b.lines()
	marked := slices.DeleteFunc(slices.Clone(all), func(l textLine) bool { return !strings.HasPrefix(l.text, pytestMark) })
	if len(marked) > 0 {
		return marked
	}
	return all
}

// lastText is the text of the last line.
func (b *block) lastText() string {
	if n := len(b.tail); n > 0 {
		return b.tail[n-1].text
	}
	return b.first[len(b.first)-1].text
}

// headline is the block with nothing but the line that its rule matched.
func (b *block) headline() *block {
	h := *b
	h.first, h.tail, h.peaks = b.first[min(b.head-b.start, len(b.first)-1):][:1], nil, nil
	h.start, h.end = h.first[0].n, h.first[0].n
	return &h
}

// size is the number of lines from first to last.
func (b *block) size() int { return b.end - b.start + 1 }

// limit is how many lines the block may have.
func (b *block) limit() int {
	if b.rule.max > 0 {
		return b.rule.max
	}
	return maxBlock
}

// class is the class that the block's rules name.
func (b *block) class() Class {
	switch {
	case b.lift != nil:
		return b.lift.class
	case b.states:
		return Unknown
	}
	return b.rule.class
}
