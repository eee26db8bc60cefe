package failure

// ringLines is how many of the last lines are remembered, for what stands above
// a block.
const ringLines = 32

// textLine is a line that is kept.
type textLine struct {
	n     int
	text  string
	score float64 // how telling it is by itself
}

// recentLines remembers the last lines. It reuses its buffers.
type recentLines [ringLines]struct {
	n     int
	text  []byte
	score float64
}

// put remembers a line.
func (r *recentLines) put(n int, text []byte, score float64) {
	e := &r[n%ringLines]
	e.n, e.score = n, score
	e.text = append(e.text[:0], clipText(text)...)
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

// clipText bounds a line to what is kept of it.
func clipText(b []byte) []byte {
	if len(b) > keepText {
		return b[:keepText]
	}
	return b
}
