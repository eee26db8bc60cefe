package failure

import (
	"bytes"
	"math/bits"
	"regexp"
)

// Bounds of what the reader remembers of a whole log.
const (
	ringLines   = 32   // last lines, for what stands above a block
	maxKept     = 192  // blocks; the weakest give way
	maxTests    = 200  // failed tests
	maxStanding = 3000 // lines for which a heading holds
	minGeneral  = 8    // worth of a line that opens a block by itself
	absorbs     = 10   // how much heavier a rule may be that matches inside a block without ending it
)

// general is the rule of what no tool's format covers.
var general = rule{name: "lines that look like an error", extent: cluster, weight: 20, class: Unknown}

// aboveRule is the rule of what stands above a line that says that something failed.
var aboveRule = rule{name: "what stands above the result", extent: single, weight: 48, class: Unknown}

// endRule is the rule of what stands above the end of a step that failed.
var endRule = rule{name: "what stands above the end of the failed step", extent: single, weight: 26, class: Unknown}

// exitRule is the rule of the line with which GitHub Actions ends a failed step.
var exitRule = rule{name: "the end of the failed step", extent: single, weight: 5, class: Unknown, exit: true}

// maxCommand bounds a command that a CI system echoes when it has failed, in lines.
const maxCommand = 60

// maxAbove bounds the paragraph above a result, in lines.
const maxAbove = 15

// reader follows a log line by line and remembers the blocks that tell of
// failures. What it remembers is bounded.
type reader struct {
	set   *ruleset
	clean cleaner
	green *fingerprints // of a green log; nil when there is none

	open      *block
	kept      []*block
	order     int
	tests     []Test
	seen      map[string]bool
	ring      [ringLines]textLine
	total     int // lines read
	step      int
	inRun     bool // between a step's heading and the end of its settings
	ended     []ending
	closed    bool // the job tidies up
	inCommand int  // line at which a command of several lines began
	heads     [headings]int
}

// ending is where a step failed.
type ending struct {
	line int
	step int
	text string
}

// take takes the next raw line.
func (r *reader) take(raw []byte, n int) {
	r.total = n
	l := r.clean.clean(raw, n)
	if r.frames(&l) {
		return
	}
	if r.inCommand > 0 && n-r.inCommand < maxCommand {
		return
	}
	h := r.set.look(l.text)
	worth := r.worth(&l, h)
	known := r.green != nil && r.green.has(l.text)
	if known {
		worth -= 20
	}
	m, lift := r.matched(&l, h, known)
	r.place(&l, m, worth, known, h.result)
	if lift != nil && r.open != nil && r.open.head == n && r.open.lift == nil {
		r.open.lift = lift
	}
	r.remember(&l, worth)
	if l.frame == ciError {
		r.close()
		r.fail(&l)
	}
}

// frames follows what the CI system says. It reports whether the line is not
// output that could tell of a failure.
func (r *reader) frames(l *line) bool {
	switch l.frame {
	case stepStart:
		r.close()
		r.step++
		r.inRun = true
		r.remember(l, 0)
		return true
	case ciError:
		r.close()
	case stepPassed:
		r.close()
		if r.inCommand > 0 {
			r.unfail()
		}
		r.step++
	case stepFailed:
		r.close()
		r.exit(l)
		if r.inCommand > 0 {
			r.inCommand = 0
			return true
		}
		r.fail(l)
		r.remember(l, 0)
		return true
	case cleanup:
		r.close()
		r.step++
		r.closed = true
		return true
	case longCommand:
		r.close()
		r.fail(l)
		r.inCommand = l.n
		return true
	case echoed:
		if hasPrefix(l.text, "##[endgroup]") {
			r.inRun = false
		}
		if hasPrefix(l.text, "$ ") {
			r.close()
			r.step++
		}
		r.remember(l, 0)
		return true
	}
	return false
}

// fail marks the blocks of the step that has failed.
func (r *reader) fail(l *line) {
	for _, b := range r.kept {
		if b.step == r.step && !b.failed {
			b.failed, b.far = true, l.n-b.end
		}
	}
	if len(r.ended) < 8 {
		r.ended = append(r.ended, ending{line: l.n, step: r.step, text: string(clipText(l.text))})
		if l.frame != ciError {
			r.above(l, &endRule)
		}
	}
}

// exit notes the exit of a step whose status says why it failed.
func (r *reader) exit(l *line) {
	if l.actions {
		b := &block{rule: &exitRule, start: l.n, head: l.n, step: r.step, order: r.order}
		r.order++
		b.add(textLine{n: l.n, text: string(clipText(l.text))})
		r.keep(b)
	}
	for _, e := range exitStatuses {
		if bytes.HasSuffix(bytes.TrimRight(l.text, "."), []byte(e.suffix)) {
			b := &block{rule: e.rule, start: l.n, head: l.n, step: r.step, order: r.order}
			r.order++
			b.add(textLine{n: l.n, text: string(clipText(l.text))})
			r.keep(b)
		}
	}
}

// exitStatuses are exit statuses that say why a command failed: those of
// timeout(1), of a missing command (POSIX shell, 2.8.2), and of signals, to
// which shells add 128.
var exitStatuses = []struct {
	suffix string
	rule   *rule
}{
	{" 124", &rule{name: "exit status 124, a timeout", weight: 66, class: Timeout}},
	{" 127", &rule{name: "exit status 127, a missing command", weight: 30, class: ConfigError}},
	{" 134", &rule{name: "exit status 134, an abort", weight: 40, class: Crash}},
	{" 137", &rule{name: "exit status 137, killed", weight: 62, class: OutOfMemory}},
	{" 139", &rule{name: "exit status 139, a segmentation fault", weight: 62, class: Crash}},
}

// unfail takes back that a step has failed, once the end of a long command says
// that it passed.
func (r *reader) unfail() {
	r.inCommand = 0
	if len(r.ended) > 0 {
		r.ended = r.ended[:len(r.ended)-1]
	}
	for _, b := range r.kept {
		if b.step == r.step {
			b.failed = false
		}
	}
}

func clipText(b []byte) []byte {
	if len(b) > keepText {
		return b[:keepText]
	}
	return b
}

// worth is how telling a line is by itself.
func (r *reader) worth(l *line, h hits) float64 {
	w := h.worth
	if l.red {
		w += 6
	}
	if l.frame == ciError {
		w += 20
	}
	if w > 0 && len(l.text) > 600 {
		w /= 2
	}
	return w
}

// matched is the heaviest rule that the line begins.
func (r *reader) matched(l *line, h hits, known bool) (m, lift *rule) {
	if !h.any {
		return nil, nil
	}
	for i, set := range h.rules {
		for set != 0 {
			ru := &r.set.rules[i*64+bits.TrailingZeros64(set)]
			set &= set - 1
			if ru.needs != noHeading && (r.heads[ru.needs] == 0 || l.n-r.heads[ru.needs] > maxStanding) {
				continue
			}
			if ru.soft && h.warns || !ru.match.Match(l.text) {
				continue
			}
			if ru.opens != noHeading {
				r.heads[ru.opens] = l.n
				continue
			}
			if ru.class == TestFailure && !known {
				r.note(ru.match, l.text)
			}
			if !ru.soft {
				return ru, lift
			}
			// Words that say what is the matter lend their weight to the block
			// that the tool's own format makes of the line.
			if lift == nil {
				lift = ru
			}
		}
	}
	return lift, nil
}

// note notes the failed test that a line names.
func (r *reader) note(match *regexp.Regexp, text []byte) {
	i := match.SubexpIndex(groupTest)
	if i < 0 || len(r.tests) >= maxTests {
		return
	}
	m := match.FindSubmatch(text)
	t := Test{Name: string(clipText(m[i]))}
	if t.Name == "" || r.seen[t.Name] {
		return
	}
	if i := match.SubexpIndex(groupFile); i >= 0 {
		t.File = string(clipText(m[i]))
	}
	if i := match.SubexpIndex(groupLine); i >= 0 {
		t.Line = atoi(m[i])
	}
	r.seen[t.Name] = true
	r.tests = append(r.tests, t)
}

func atoi(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || n > 1e8 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// place puts the line into the open block, or opens one.
func (r *reader) place(l *line, m *rule, worth float64, known, result bool) {
	t := textLine{n: l.n, score: worth}
	if b := r.open; b != nil {
		p := outside
		if b.size() < b.limit() {
			p = b.rule.extent(b, l)
		}
		switch {
		case m == nil:
		case p != outside && m.lifts:
			b.lift, p = m, inside
		case p != outside && m != b.rule && (b.rule.tells || b.rule.takes || m.weight < b.rule.weight+absorbs):
			// It tells more about what the block tells.
			if b.inner == nil || b.inner.weight < m.weight {
				b.inner = m
			}
		case m == b.rule && p == inside:
		default:
			p = outside
		}
		if m == nil && p == outside && worth >= minGeneral && b.rule == &general {
			p = inside
		}
		b.blankBefore = l.blank()
		switch p {
		case inside, last:
			t.text = string(clipText(l.text))
			for _, w := range b.waiting {
				b.add(w)
			}
			b.waiting = b.waiting[:0]
			b.add(t)
			b.red = b.red || l.red
			b.result = b.result || result
			if known {
				b.known++
			}
			if p == last {
				r.close()
			}
			return
		case perhaps:
			t.text = string(clipText(l.text))
			b.waiting = append(b.waiting, t)
			if len(b.waiting) > 12 {
				r.close()
			}
			return
		}
		r.close()
	}
	if m == nil {
		if worth < minGeneral {
			return
		}
		m = &general
	}
	t.text = string(clipText(l.text))
	r.begin(m, l, t, known)
	r.open.result = m.result || result
	if r.open.result {
		r.above(l, &aboveRule)
	}
}

// begin opens a block at a line, with what belongs to it above.
func (r *reader) begin(m *rule, l *line, t textLine, known bool) {
	b := &block{rule: m, start: l.n, head: l.n, indent: max(0, l.indent), step: r.step, group: l.group, red: l.red, order: r.order}
	if r.closed {
		b.step = -1
	}
	r.order++
	from := l.n
	for from > 1 && l.n-from < m.above {
		if above := &r.ring[(from-1)%ringLines]; above.n != from-1 || above.text == "" {
			break
		}
		from--
	}
	for m.grows != nil && from > 1 && l.n-from < maxAbove {
		above := &r.ring[(from-1)%ringLines]
		if above.n != from-1 || !m.grows.MatchString(above.text) {
			break
		}
		from--
	}
	if from < l.n {
		b.start = from
		for i := from; i < l.n; i++ {
			b.add(r.ring[i%ringLines])
		}
	}
	b.add(t)
	if known {
		b.known++
	}
	r.open = b
}

// above notes the paragraph above a line that says that something has failed:
// often it says why, in a form that no rule knows.
func (r *reader) above(l *line, ru *rule) {
	end := l.n - 1
	for end > 0 && l.n-end < 5 && r.ring[end%ringLines].n == end && r.ring[end%ringLines].text == "" {
		end--
	}
	start := end
	for start > 0 && end-start < maxAbove && r.ring[start%ringLines].n == start && r.ring[start%ringLines].text != "" {
		start--
	}
	start++
	if n := len(r.kept); n > 0 && r.kept[n-1].result && r.kept[n-1].rule == &general && r.kept[n-1].end >= start && r.kept[n-1].step == r.step {
		// One result above another: what explains both stands above that.
		end = r.kept[n-1].start - 1
		start = max(start, end-2)
	}
	if start > end {
		return
	}
	b := &block{rule: ru, start: start, head: start, step: r.step, order: r.order, failed: ru == &endRule}
	if n := len(r.kept); n > 0 && r.kept[n-1].end >= start {
		before := r.kept[n-1]
		if before.rule == &general && !before.result {
			before.explains = true
			for i := before.end + 1; i <= end && before.end+1-start < maxAbove; i++ {
				before.add(r.ring[i%ringLines])
			}
			for before.start > start && before.head-before.start < 2 {
				before.start--
				before.first = append([]textLine{r.ring[before.start%ringLines]}, before.first...)
			}
		}
		return
	}
	r.order++
	for i := start; i <= end; i++ {
		b.add(r.ring[i%ringLines])
	}
	r.keep(b)
}

// keep remembers a block.
func (r *reader) keep(b *block) {
	r.kept = append(r.kept, b)
	if len(r.kept) > maxKept {
		r.drop()
	}
}

// close ends the open block.
func (r *reader) close() {
	b := r.open
	if b == nil {
		return
	}
	r.open = nil
	b.waiting = nil
	if u := b.rule.unless; u != nil && (b.size() >= b.limit() || u.MatchString(b.lines()[len(b.lines())-1].text)) {
		return
	}
	r.keep(b)
}

// remember keeps the line for what may come after it.
func (r *reader) remember(l *line, worth float64) {
	e := &r.ring[l.n%ringLines]
	e.n, e.score = l.n, worth
	e.text = string(clipText(l.text))
}

// cluster goes on over further lines that look like errors, and over what is
// indented under them.
func cluster(b *block, l *line) part {
	switch {
	case l.blank(), l.n-b.head > 20:
		return outside
	case l.indent > b.indent:
		return inside
	default:
		return outside
	}
}
