package failure

import "bytes"

// Limits on what the reader remembers of a whole log.
const (
	maxKept    = 192 // blocks; the lowest-ranking are dropped
	maxEndings = 8   // failed steps
)

// maxListItems is the number of commas above which a long line is a list.
const maxListItems = 20

// minGeneral is the minimum score of a line that opens a block without a rule.
const minGeneral = 7

// absorbMargin is the margin by which a rule must outweigh an open block's rule to begin a block of its own inside it.
const absorbMargin = 10

// maxLinesAbove is the number of lines remembered above a network error.
const maxLinesAbove = 2

// bareLocation matches a line with nothing but a place in code: the error stands below it.
var bareLocation = re(`^\s*(/|[A-Za-z]:[\\/])?[^\s:]+\.[A-Za-z]\w{0,9}(:\d+){1,2}:?$`)

// generalRule is the rule for lines that look like an error in no tool's format.
var generalRule = rule{name: "lines that look like an error", extent: errorCluster, weight: 20, class: Unknown}

// logReader reads a log line by line and remembers blocks about failures, in bounded memory.
type logReader struct {
	set   *ruleset
	clean lineCleaner
	green *fingerprints // fingerprints of a green log; nil without one
	notes []string      // messages of the check's annotations

	line        line // the current line
	networkRule bool // a network rule has a keyword on it
	open        *block
	kept        []*block
	ring        recentLines
	total       int // number of lines read
	traced      int // number of stack frames among them

	tests    []Test
	seen     map[string]int    // full name → index in tests
	listed   map[int]bool      // indices of tests that only a tree of tests names
	below    int               // index of the test of a file, in the open block, that the lines are about; -1 for none
	packaged int               // number of tests above the end of the last package of Go
	heads    [headingKinds]int // line of the last heading of each kind
	items    map[*rule]int     // number of failed items in the step itemStep, by the rule that finds them
	itemStep int

	stepState
}

// newLogReader returns a reader at the beginning of a log.
func newLogReader() *logReader {
	return &logReader{set: compiledRules(), seen: map[string]int{}, listed: map[int]bool{}, below: -1}
}

// take processes the next raw line.
func (r *logReader) take(raw []byte, n int) {
	r.total = n
	l := &r.line
	*l = r.clean.clean(raw, n)
	if r.follow(l) {
		return
	}
	if r.repeats(l) {
		return
	}
	frame := isStackFrame(bytes.TrimLeft(l.text, " \t"))
	if frame {
		r.traced++
	}
	h := r.set.look(l.text)
	r.networkRule = h.networkRule
	score := r.lineScore(l, h)
	count, counts := 0, false
	if h.score != 0 {
		count, counts = failureCount(l.text)
	}
	if counts && count == 0 {
		score -= 16
	}
	known := r.green != nil && !l.blank() && r.green.has(l.text)
	if known {
		score -= 20
	}
	if r.noted(l.text) {
		score += 30
	}
	m, lift, test := r.matched(l, h, known, count)
	if known {
		m, lift = nil, nil
	}
	if m == nil && count > 0 {
		h.result = true
	}
	r.placeLine(l, m, score, known, h.result)
	if b := r.open; b != nil && b.end == n {
		if b.test < 0 {
			b.test = test
		}
		if b.head == n && b.lift == nil {
			b.lift = lift
		}
		switch {
		case test >= 0 && r.tests[test].Package != "":
			r.below = test
		case frame && r.below >= 0:
			r.tests[r.below].place([]textLine{{text: string(l.text)}})
		}
	}
	if known {
		r.ring.put(n, nil, 0, 0, false)
	} else {
		r.ring.put(n, l.text, score, formOf(l.text), h.result)
	}
	switch {
	case l.frame == ciError:
		r.lastError, r.outputAfterError = r.ending(l), false
	case !l.blank():
		r.outputAfterError = true
	}
}

// repeats reports whether a line is equal to the line above it. Such a line is skipped.
func (r *logReader) repeats(l *line) bool {
	above, ok := r.ring.at(l.n - 1)
	if !ok || l.blank() || l.frame != noFrame || len(l.text) >= keepText || !bytes.Equal(above, l.text) {
		return false
	}
	r.ring.repeat(l.n)
	return true
}

// idle reports whether a blank line would change nothing but the number of lines.
func (r *logReader) idle() bool {
	return r.open == nil && r.inCommand == 0 && r.settings == 0 && r.heading.n == 0 && r.group == 0
}

// skipBlank processes n blank lines. The reader must be idle.
func (r *logReader) skipBlank(n int) {
	for i := max(0, n-ringLines); i < n; i++ {
		r.ring.put(r.total+i+1, nil, 0, 0, false)
	}
	r.total += n
	r.output += n
}

// pytestMark begins the lines that pytest prints about an error, among those of the test's code.
const pytestMark = "E   "

// lineScore returns the score of a line without regard to its surroundings.
func (r *logReader) lineScore(l *line, h keywordHits) float64 {
	w := h.score
	if w > 0 && quotesCode(bytes.TrimLeft(l.text, " \t")) {
		w = 0
	}
	if l.red {
		w += 6
	}
	if hasPrefix(l.text, pytestMark) {
		w += 10
	}
	if l.frame == ciError {
		w += 20
	}
	if w > 0 && len(l.text) > 600 {
		// Long lines hold many words: lists of files, dumps, progress.
		w /= 2
		if bytes.Count(l.text, []byte(", ")) > maxListItems {
			w = 0
		}
	}
	return w
}

// placeLine adds the line to the open block, or opens a block.
func (r *logReader) placeLine(l *line, m *rule, score float64, known, result bool) {
	if l.frame == ciError {
		r.reopen(l)
	}
	if b := r.open; b != nil {
		switch r.placement(b, l, m, score, result) {
		case lastInside:
			r.extend(b, l, score, known, result)
			r.close()
			return
		case insideBlock:
			r.extend(b, l, score, known, result)
			return
		case maybeInside:
			b.waiting = append(b.waiting, textLine{n: l.n, text: string(clipText(l.text)), score: score})
			if len(b.waiting) > maxWait {
				r.close()
			}
			return
		}
		r.close()
	}
	if m == nil {
		if score < minGeneral {
			return
		}
		m = &generalRule
	}
	if m.item && r.isOneTooMany(m) {
		return
	}
	r.begin(m, l, score, known, m.result || result)
	if r.open.result {
		r.noteAbove(l, &aboveRule)
	}
}

// maxItems is the maximum number of failed items that one rule finds in a step. Later ones never rank among the first.
const maxItems = 2000

// isOneTooMany counts the items that a rule finds in a step, and reports whether there are enough already.
func (r *logReader) isOneTooMany(m *rule) bool {
	if r.items == nil || r.itemStep != r.step {
		r.items, r.itemStep = map[*rule]int{}, r.step
	}
	full := r.hasItems(m)
	r.items[m]++
	return full
}

// hasItems reports whether a rule has found the maximum number of items in the present step.
func (r *logReader) hasItems(m *rule) bool { return r.itemStep == r.step && r.items[m] >= maxItems }

// reopen reopens the block of the line above if the CI system marks both lines as errors: it marks each line of a
// message separately.
func (r *logReader) reopen(l *line) {
	if n := len(r.kept); n > 0 && r.open == nil && r.kept[n-1].marked && r.kept[n-1].end == l.n-1 {
		r.open, r.kept = r.kept[n-1], r.kept[:n-1]
	}
}

// placement returns the placement of a line, matched by rule m or nil, relative to the open block.
func (r *logReader) placement(b *block, l *line, m *rule, score float64, result bool) placement {
	p := outsideBlock
	if b.size() < b.limit() {
		p = b.rule.extent(b, l)
	}
	b.blankBefore = l.blank()
	switch {
	case b.marked && l.frame == ciError && b.size() < b.limit():
		if m != nil && (b.inner == nil || b.inner.weight < m.weight) {
			b.inner = m
		}
		return insideBlock
	case m == nil:
		if p == outsideBlock && b.rule == &generalRule && score >= minGeneral {
			return insideBlock
		}
		return p
	case p != outsideBlock && m.lifts:
		b.lift = m
		return insideBlock
	case p != outsideBlock && m != b.rule && (b.rule.absorbs || m.weight < b.rule.weight+absorbMargin):
		if !result && (b.inner == nil || b.inner.weight < m.weight) {
			b.inner = m
		}
		return p
	case m == b.rule && (p == insideBlock || (m.joins || m.soft) && !b.blankBefore && b.size() < b.limit()):
		return insideBlock
	}
	return outsideBlock
}

// begin opens a block at a line and includes the lines above that belong to it.
func (r *logReader) begin(m *rule, l *line, score float64, known, result bool) {
	b := &block{rule: m, start: l.n, head: l.n, indent: max(0, l.indent), test: -1, step: r.step, form: formOf(l.text)}
	b.marked = l.frame == ciError
	b.states = m.item && statement.Match(itemName(m, l.text))
	if r.cleaningUp {
		b.step = noStep
	}
	for l.n-b.start < m.above && r.ring.hasText(b.start-1) {
		b.start--
	}
	for m.grows != nil && l.n-b.start < maxAbove {
		if above, ok := r.ring.at(b.start - 1); !ok || !m.grows.Match(above) {
			break
		}
		b.start--
	}
	if above, ok := r.ring.at(b.start - 1); ok && bareLocation.Match(above) {
		b.start--
	}
	for n := b.start; n < l.n; n++ {
		b.add(r.ring.line(n))
	}
	if r.networkRule {
		for n := max(1, b.start-maxLinesAbove); n < b.start; n++ {
			b.over = append(b.over, r.ring.line(n))
		}
	}
	r.open, r.below = b, -1
	r.extend(b, l, score, known, result)
}

// extend adds the waiting lines and then a line to the open block.
func (r *logReader) extend(b *block, l *line, score float64, known, result bool) {
	for _, w := range b.waiting {
		b.add(w)
	}
	b.waiting = b.waiting[:0]
	b.add(textLine{n: l.n, text: string(clipText(l.text)), score: score})
	b.result = b.result || result && (b.rule != &generalRule || b.end == b.head)
	if known {
		b.known++
	}
}

// close ends the open block and keeps it, unless its rule rejects it.
func (r *logReader) close() {
	b := r.open
	if b == nil {
		return
	}
	r.open = nil
	b.waiting = nil
	if u := b.rule.unless; u != nil && (b.size() >= b.limit() || u.MatchString(b.lastText())) {
		return
	}
	r.keep(b)
}

// keep adds a block to the kept ones.
func (r *logReader) keep(b *block) {
	b.tracedBy = r.traced
	r.locateTest(b)
	// The reason for a failed script without a failed test stands above it.
	b.result = b.result || b.rule.item && b.inner == nil && scriptName.MatchString(b.item())
	b.annotated = r.annotated(b)
	r.kept = append(r.kept, b)
	if len(r.kept) > maxKept {
		r.dropWeakest()
	}
}
