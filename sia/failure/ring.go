package failure

// ringLines is how many of the last lines are remembered, for what stands above
// a block.
const ringLines = 32

// textLine is a line that is kept.
type textLine struct {
	n     int
	text  string
	score float64 // how telling it is by itself
	order int     // among the chosen lines of one number
}

// recentLines remembers the last lines. It reuses its buffers.
type recentLines [ringLines]struct {
	n      int
	text   []byte
	score  float64
	indent int
	form   formHash
	result bool
}

// put remembers a line.
func (r *recentLines) put(n int, text []byte, score float64, form formHash, result bool) {
	e := &r[n%ringLines]
	e.n, e.score, e.form, e.result, e.indent = n, score, form, result, indentOf(text)
	e.text = appendClipped(e.text[:0], text)
}

// repeat remembers line n, which is the one above it once more.
func (r *recentLines) repeat(n int) {
	above := &r[(n-1)%ringLines]
	r.put(n, above.text, above.score, above.form, above.result)
}

// forget forgets all lines.
func (r *recentLines) forget() {
	for i := range r {
		r[i].n = 0
	}
}

// at is the text of line n, and whether it is still remembered.
func (r *recentLines) at(n int) ([]byte, bool) {
	if n < 1 || r[n%ringLines].n != n {
		return nil, false
	}
	return r[n%ringLines].text, true
}

// line is line n as a block keeps it.
func (r *recentLines) line(n int) textLine {
	text, _ := r.at(n)
	return textLine{n: n, text: string(text), score: r[n%ringLines].score}
}

// said reports whether line n is remembered and not blank.
func (r *recentLines) said(n int) bool {
	text, ok := r.at(n)
	return ok && len(text) > 0
}

// related reports whether line n and the one below tell of one thing: the lower one is indented, or
// the upper one has the same form, or speaks of an error, too.
func (r *recentLines) related(n, below int) bool {
	up, low := &r[n%ringLines], &r[below%ringLines]
	return low.indent > 0 || up.form != 0 && up.form == low.form || up.score > 0
}

// relays reports whether line n says that something above it has failed.
func (r *recentLines) relays(n int) bool { return r[n%ringLines].result }

// passed reports whether line n says that something has passed.
func (r *recentLines) passed(n int) bool {
	text, _ := r.at(n)
	return passes(text)
}

// alike reports whether two lines have one form.
func (r *recentLines) alike(n, m int) bool {
	f := r[n%ringLines].form
	return f != 0 && f == r[m%ringLines].form
}

// clipText bounds a line to what is kept of it.
func clipText(b []byte) []byte {
	if len(b) > keepText {
		return appendClipped(nil, b)
	}
	return b
}

// clipMark stands for what was left out of a long line.
const clipMark = " … "

// appendClipped appends what is kept of a line: of a long one its beginning and its end, where build
// tools say what was the matter.
func appendClipped(to, b []byte) []byte {
	if len(b) <= keepText {
		return append(to, b...)
	}
	to = append(to, b[:keepText-keepLast-len(clipMark)]...)
	to = append(to, clipMark...)
	return append(to, b[len(b)-keepLast:]...)
}
