package failure

import (
	"slices"
	"strings"
)

// Limits on what is remembered of a block.
const (
	maxBlock  = 400 // lines in a block
	keepHead  = 40  // first lines kept with their text …
	keepTail  = 20  // … and last lines
	keepPeaks = 5   // highest-scoring lines
	keepText  = 400 // bytes kept of a line …
	keepLast  = 200 // … of which this many are the end of a longer line
	maxWait   = 12  // lines held back until a later line shows that they belong to the block
)

// block is a run of lines about one failure.
type block struct {
	rule   *rule
	lift   *rule      // rule that overrides the class, or nil
	inner  *rule      // the heaviest other rule that matched inside, or nil
	start  int        // first line
	head   int        // the line that the rule matched
	end    int        // last line
	over   []textLine // lines right above a network error, which may name the host
	indent int        // indentation of the head
	form   formHash   // form of the head
	test   int        // index of the failed test that the head names, or -1

	step      int     // CI step that contains it
	failed    bool    // the step has failed
	distance  int     // lines from its end to the end of the failed step
	nth       int     // number of paragraphs between it and the end of the step
	marked    bool    // the CI system marks its lines as errors
	states    bool    // its head is a sign of failure followed by a sentence, not by the name of an item
	result    bool    // it reports that something above has failed, not why
	annotated bool    // an annotation of the check has the same message
	known     int     // number of its lines that are also in a green log of the job
	score     float64 // highest score of its lines
	traced    int     // number of stack frames in it
	tracedBy  int     // number of stack frames in the log up to its end

	first []textLine // the first lines
	tail  []textLine // the last lines
	peaks []peakLine // the highest-scoring lines

	extentState
}

// extentState is the state that a block's extent keeps between lines.
type extentState struct {
	frames      int        // number of stack frames, or of marks that the extent counts
	message     int        // number of lines of an exception's message
	heading     bool       // a line above ends in a colon and introduces what follows
	blankBefore bool       // the line before is blank
	waiting     []textLine // lines that belong to it only if a later one does
}

// peakLine is a line number with the line's score.
type peakLine struct {
	n     int
	score float64
}

// add appends a line to the block.
func (b *block) add(t textLine) {
	b.end = t.n
	if isStackFrame([]byte(strings.TrimLeft(t.text, " \t"))) {
		b.traced++
	}
	b.score = max(b.score, t.score)
	b.recordPeak(t)
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

// prepend adds the line above the block's first line.
func (b *block) prepend(t textLine) {
	b.start = t.n
	b.first = append([]textLine{t}, b.first...)
}

// recordPeak remembers the line if its score is among the highest.
func (b *block) recordPeak(t textLine) {
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

// reasons returns the lines that pytest marks as the reason, else all kept lines.
func (b *block) reasons() []textLine {
	all := b.lines()
	marked := slices.DeleteFunc(slices.Clone(all), func(l textLine) bool { return !strings.HasPrefix(l.text, pytestMark) })
	if len(marked) > 0 {
		return marked
	}
	return all
}

// lastText returns the text of the last line.
func (b *block) lastText() string {
	if n := len(b.tail); n > 0 {
		return b.tail[n-1].text
	}
	return b.first[len(b.first)-1].text
}

// headline returns a copy of the block with only the line that its rule matched.
func (b *block) headline() *block {
	h := *b
	h.first, h.tail, h.peaks = b.first[min(b.head-b.start, len(b.first)-1):][:1], nil, nil
	h.start, h.end = h.first[0].n, h.first[0].n
	return &h
}

// size returns the number of lines from first to last.
func (b *block) size() int { return b.end - b.start + 1 }

// limit returns the maximum number of lines of the block.
func (b *block) limit() int {
	if b.rule.max > 0 {
		return b.rule.max
	}
	return maxBlock
}

// class returns the class that the block's rules name.
func (b *block) class() Class {
	switch {
	case b.lift != nil:
		return b.lift.class
	case b.states:
		return Unknown
	}
	return b.rule.class
}
