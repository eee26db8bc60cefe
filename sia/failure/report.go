package failure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// report makes the report of what was read.
func (r *logReader) report(opts Options) Report {
	if len(r.ended) == 0 && len(r.kept) > 0 && !r.tidying {
		r.noteAbove(&line{n: r.total + 1}, &lastRule)
	}
	c := r.choose()
	if c.best == nil && len(r.ended) > 0 {
		c.best = r.endingBlock()
		c.alike = []*block{c.best}
	}
	if noted := annotationReport(opts); noted != nil &&
		(c.best == nil || r.rank(c.best) < inFailedStep+generalRule.weight+10) {
		noted.Tests = r.tests
		return *noted
	}
	bs := c.chosenBlocks()
	rep := Report{Excerpt: blockSpans(bs), Class: r.classOf(c, opts.Name), Tests: r.tests}
	if c.best == nil {
		return rep
	}
	rep.Signature = signatureOf(c.explainingBlocks(), r.tests)
	rep.Text, rep.Line = excerptText(c, cmp.Or(opts.MaxLines, DefaultMaxLines))
	rep.StepLine = r.stepLine(rep.Line)
	rep.Long, _ = excerptText(c, MaxLong)
	rep.Bare = c.best.rule == &scriptRule || c.best.rule == &exitRule
	for _, b := range bs {
		rep.Why = append(rep.Why, c.whyChosen(b))
	}
	return rep
}

// endingBlock is the line that ends the first failed step. It is the last resort.
func (r *logReader) endingBlock() *block {
	e := r.ended[0]
	b := &block{rule: &endRule, start: e.line, head: e.line, test: -1, step: e.step, failed: true}
	b.add(textLine{n: e.line, text: e.text})
	return b
}

// whyChosen says for people why a block was chosen.
func (c choice) whyChosen(b *block) string {
	var s strings.Builder
	if b.start == b.end {
		fmt.Fprintf(&s, "line %d: %s", b.start, b.rule.name)
	} else {
		fmt.Fprintf(&s, "lines %d–%d: %s", b.start, b.end, b.rule.name)
	}
	if b.lift != nil {
		s.WriteString(", " + b.lift.name)
	}
	switch {
	case slices.Contains(c.other, b):
		s.WriteString("; nearly as telling")
	case b == c.verdict:
		s.WriteString("; the tool's own verdict")
	case b == c.best && b.explains:
		s.WriteString("; right above the line that says that something failed")
	}
	if b.failed && b != c.exit {
		s.WriteString("; in the step that failed")
	}
	if b.annotated {
		s.WriteString("; an annotation of the check says the same")
	}
	return s.String()
}

// excerptText is the most telling lines of the chosen blocks, at most limit, in the
// order of the log, with "…" where lines were left out; and the first's number.
func excerptText(c choice, limit int) (string, int) {
	lines, blank := c.rankedLines()
	for n := min(limit, len(lines)); n > 0; n-- {
		some := slices.Clone(lines[:n])
		slices.SortFunc(some, func(a, b textLine) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.order, b.order)) })
		if out := withGaps(some, blank); len(out) <= limit || n == 1 {
			return strings.Join(out[:min(len(out), limit)], "\n"), some[0].n
		}
	}
	return "", 0
}

// withGaps are the lines' texts with "…" between lines that are not neighbours.
func withGaps(lines []textLine, blank map[int]bool) []string {
	var out []string
	for i, l := range lines {
		if i > 0 && hasGap(lines[i-1].n, l.n, blank) {
			out = append(out, "…")
		}
		out = append(out, printableText([]byte(l.text)))
	}
	return out
}

// hasGap reports whether a line that is not blank stands between two lines.
func hasGap(from, to int, blank map[int]bool) bool {
	for n := from + 1; n < to; n++ {
		if !blank[n] {
			return true
		}
	}
	return false
}

// rankedLines are the lines of the chosen blocks, the most telling first. Blank lines are left out;
// blank holds their numbers. A block's first line and its neighbours count most, stack frames
// least.
func (c choice) rankedLines() (lines []textLine, blank map[int]bool) {
	blank = map[int]bool{}
	type said struct { // a JUnit report may tell a whole failure on one line
		n    int
		text string
	}
	seen := map[said]bool{}
	for _, b := range c.chosenBlocks() {
		bonus := 0.0
		switch {
		case b == c.best:
			bonus = 30
		case slices.Contains(c.other, b):
			bonus = -10
		case b == c.verdict, b == c.exit:
			bonus = -40
		}
		for i, l := range b.lines() {
			if strings.TrimSpace(l.text) == "" {
				blank[l.n] = true
				continue
			}
			if seen[said{l.n, l.text}] {
				continue
			}
			seen[said{l.n, l.text}] = true
			l.score = max(-10, min(l.score, 20)) + bonus - min(float64(i), 12)
			if l.n == b.head {
				l.score += 40
			}
			if isStackFrame([]byte(strings.TrimSpace(l.text))) {
				l.score -= 15
			}
			l.order = len(lines)
			lines = append(lines, l)
		}
	}
	slices.SortStableFunc(lines, func(a, b textLine) int { return cmp.Compare(b.score, a.score) })
	return lines, blank
}
