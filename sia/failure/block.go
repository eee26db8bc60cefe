package failure

// Bounds of what is remembered of a block.
const (
	maxBlock = 400 // lines of a block
	keepHead = 40  // lines whose text is kept from its start …
	keepTail = 20  // … and from its end
	keepText = 400 // bytes of a line that are kept
)

// textLine is a line that is kept.
type textLine struct {
	n     int
	text  string
	score float64 // how telling it is by itself
}

// block is a run of lines that tells of one failure.
type block struct {
	rule   *rule
	start  int
	end    int // last line that belongs to it
	head   int // the line that the rule matched
	indent int // of the head

	step     int    // the CI step it stands in
	group    uint64 // job and step of the line, where lines name them
	failed   bool   // that step has failed
	red      bool
	far      int     // lines from its end to the end of its step, when that failed
	lift     *rule   // a rule that lends its weight and class
	inner    *rule   // the heaviest rule that matched inside
	explains bool    // it stands right above such a block
	result   bool    // it says that something above has failed, not why
	score    float64 // of its most telling line
	known    int     // lines that a green log of the job has too
	order    int

	peaks []peak     // its most telling lines
	first []textLine // the first lines
	tail  []textLine // the last ones, a ring

	// State of the extent.
	frames      int
	message     int
	blankBefore bool
	waiting     []textLine // blank lines, and what comes after them, not yet known to belong
}

// add takes a line that belongs to the block.
func (b *block) add(t textLine) {
	b.end = t.n
	b.score = max(b.score, t.score)
	b.peak(t)
	if len(t.text) > keepText {
		t.text = t.text[:keepText]
	}
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

// peak is a line and how telling it is.
type peak struct {
	n     int
	score float64
}

// keepPeaks is how many of its most telling lines a block remembers.
const keepPeaks = 5

// peak remembers the line if it is among the most telling.
func (b *block) peak(t textLine) {
	if len(b.peaks) < keepPeaks {
		b.peaks = append(b.peaks, peak{t.n, t.score})
		return
	}
	least := 0
	for i := range b.peaks {
		if b.peaks[i].score < b.peaks[least].score {
			least = i
		}
	}
	if t.score > b.peaks[least].score {
		b.peaks[least] = peak{t.n, t.score}
	}
}

// lines returns the lines that were kept, in order.
func (b *block) lines() []textLine {
	return append(b.first[:len(b.first):len(b.first)], b.tail...)
}

// limit is how many lines the block may have.
func (b *block) limit() int {
	if b.rule.max > 0 {
		return b.rule.max
	}
	return maxBlock
}

// size is the number of lines from first to last.
func (b *block) size() int { return b.end - b.start + 1 }
