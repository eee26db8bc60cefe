package failure

// ringLines is the number of recent lines remembered, for use above a block.
const ringLines = 32

// textLine is a kept line.
type textLine struct {
	n     int
	text  string
	score float64 // score of the line alone
	order int     // order among chosen lines with the same number
}

// recentLines is a ring buffer of the last lines. It reuses its buffers.
type recentLines [ringLines]struct {
	n      int
	text   []byte
	score  float64
	indent int
	form   formHash
	result bool
}

// put adds a line.
func (r *recentLines) put(n int, text []byte, score float64, form formHash, result bool) {
	e := &r[n%ringLines]
	e.n, e.score, e.form, e.result, e.indent = n, score, form, result, indentOf(text)
	e.text = appendClipped(e.text[:0], text)
}

// repeat adds line n as a copy of the line above it.
func (r *recentLines) repeat(n int) {
	above := &r[(n-1)%ringLines]
	r.put(n, above.text, above.score, above.form, above.result)
}

// forget removes all lines.
func (r *recentLines) forget() {
	for i := range r {
		r[i].n = 0
	}
}

// at returns the text of line n and reports whether the line is still remembered.
func (r *recentLines) at(n int) ([]byte, bool) {
	if n < 1 || r[n%ringLines].n != n {
		return nil, false
	}
	return r[n%ringLines].text, true
}

// line returns line n as a textLine.
func (r *recentLines) line(n int) textLine {
	text, _ := r.at(n)
	return textLine{n: n, text: string(text), score: r[n%ringLines].score}
}

// hasText reports whether line n is remembered and not blank.
func (r *recentLines) hasText(n int) bool {
	text, ok := r.at(n)
	return ok && len(text) > 0
}

// related reports whether line n and the one below belong together: the lower one is indented, or both have the same
// form, or the upper one has a positive score.
func (r *recentLines) related(n, below int) bool {
	up, low := &r[n%ringLines], &r[below%ringLines]
	return low.indent > 0 || up.form != 0 && up.form == low.form || up.score > 0
}

// isResult reports whether line n only reports that something above it has failed.
func (r *recentLines) isResult(n int) bool { return r[n%ringLines].result }

// passed reports whether line n reports that something has passed.
func (r *recentLines) passed(n int) bool {
	text, _ := r.at(n)
	return passes(text)
}

// sameForm reports whether two lines have the same form.
func (r *recentLines) sameForm(n, m int) bool {
	f := r[n%ringLines].form
	return f != 0 && f == r[m%ringLines].form
}

// clipText truncates a line to keepText bytes.
func clipText(b []byte) []byte {
	if len(b) > keepText {
		return appendClipped(nil, b)
	}
	return b
}

// clipMark replaces the omitted middle of a long line.
const clipMark = " … "

// appendClipped appends a line truncated to keepText bytes. A long line keeps its beginning and its end, where build
// tools print the cause.
func appendClipped(to, b []byte) []byte {
	if len(b) <= keepText {
		return append(to, b...)
	}
	to = append(to, b[:keepText-keepLast-len(clipMark)]...)
	to = append(to, clipMark...)
	return append(to, b[len(b)-keepLast:]...)
}
