package failure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// report returns the report of the log read so far.
func (r *logReader) report(opts Options) Report {
	if rep, ok := r.neverStarted(); ok {
		return rep
	}
	r.endByError()
	if r.lastError.line > 0 && len(r.ended) == 0 {
		r.endStep(r.lastError)
	}
	if len(r.ended) == 0 && len(r.kept) > 0 && !r.cleaningUp {
		r.noteAbove(&line{n: r.total + 1}, &lastRule)
	}
	c, tests := r.choose(), r.failedTests()
	if c.best == nil && len(r.ended) > 0 {
		c = choiceOf(r.ended[0].block())
	}
	late := TimedOut(opts.Annotations)
	if late && r.stopped != nil {
		c = choiceOf(r.stopped)
	}
	if noted := annotationReport(opts); noted != nil &&
		(c.best == nil || !c.best.annotated && (c.best.rule == &generalRule || paragraphRules[c.best.rule])) {
		noted.Tests = tests
		if late {
			noted.Class = Timeout
		}
		return *noted
	}
	bs := c.chosenBlocks()
	rep := Report{Excerpt: c.spans(), Class: r.classOf(c, opts.Name), Tests: tests}
	if late {
		rep.Class = Timeout
	}
	if c.best == nil {
		return rep
	}
	rep.Signature = signatureOf(c.places[0].blocks, tests)
	for i, p := range c.places {
		limit := cmp.Or(opts.MaxLines, DefaultMaxLines)
		if i > 0 {
			limit = min(limit, otherLines)
		}
		at := Place{Belief: p.belief}
		at.Text, at.Line = excerptText(c.textBlocks(i), p.best, limit)
		rep.Places = append(rep.Places, at)
	}
	rep.Text, rep.Line = rep.Places[0].Text, rep.Places[0].Line
	rep.StepLine = r.stepLine(rep.Line)
	rep.Long, _ = excerptText(bs, c.best, MaxLong)
	rep.Bare = c.best.rule == &scriptRule || c.best.rule == &exitRule
	for _, b := range bs {
		rep.Why = append(rep.Why, c.whyChosen(b))
	}
	return rep
}

// textBlocks returns the blocks that make up the text of place i: its own, and for the first place also the end of the
// step.
func (c choice) textBlocks(i int) []*block {
	bs := c.places[i].blocks
	if i == 0 && c.exit != nil {
		return append(slices.Clone(bs), c.exit)
	}
	return bs
}

// block returns a block of the line that ends the step.
func (e stepEnding) block() *block {
	b := &block{rule: &exitRule, start: e.line, head: e.line, test: -1, step: e.step, failed: true}
	b.add(textLine{n: e.line, text: e.text})
	return b
}

// whyChosen returns the reasons why a block was chosen, for display.
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
	for i, p := range c.places {
		if i > 0 && slices.Contains(p.blocks, b) {
			fmt.Fprintf(&s, "; place %d", i+1)
		}
	}
	if b.failed && b != c.exit {
		s.WriteString("; in the step that failed")
	}
	if b.annotated {
		s.WriteString("; an annotation of the check says the same")
	}
	return s.String()
}

// excerptText returns the highest-scoring lines of blocks, at most limit, in the order of the log, with "…" where lines
// were left out, and the number of the first line.
func excerptText(bs []*block, best *block, limit int) (string, int) {
	lines, blank := rankedLines(bs, best)
	for n := min(limit, len(lines)); n > 0; n-- {
		some := slices.Clone(lines[:n])
		slices.SortFunc(some, func(a, b textLine) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.order, b.order)) })
		if out := withGaps(some, blank); len(out) <= limit || n == 1 {
			return strings.Join(out[:min(len(out), limit)], "\n"), some[0].n
		}
	}
	return "", 0
}

// withGaps returns the lines' texts with "…" between lines that are not adjacent.
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

// hasGap reports whether there is a non-blank line between two lines.
func hasGap(from, to int, blank map[int]bool) bool {
	for n := from + 1; n < to; n++ {
		if !blank[n] {
			return true
		}
	}
	return false
}

// bestLine returns the number of the highest-scoring line below a block's head; 0 when none has a positive score.
func (b *block) bestLine() (n int) {
	most := 0.0
	for _, l := range b.lines() {
		if l.n > b.head && l.score > most && !isStackFrame([]byte(strings.TrimSpace(l.text))) {
			n, most = l.n, l.score
		}
	}
	return n
}

// rankedLines returns the lines of blocks, the most important first. Blank lines are left out; blank holds their
// numbers. The best block's lines rank highest, then each block's head and highest-scoring line; stack frames rank
// lowest.
func rankedLines(bs []*block, best *block) (lines []textLine, blank map[int]bool) {
	blank = map[int]bool{}
	type said struct { // a JUnit report may have a whole failure on one line
		n    int
		text string
	}
	seen := map[said]bool{}
	others := 0.0
	for _, b := range bs {
		bonus := 0.0
		switch {
		case b == best:
			bonus = 30
		case b.rule == &exitRule:
			bonus = -40
		default:
			others++
		}
		bestLine := b.bestLine()
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
			switch {
			case b == best && l.n == b.head:
				l.score += 40
			case b == best && l.n == bestLine:
				l.score += 30
			case l.n == b.head && b.rule != &exitRule:
				l.score = 40 - 2*others
			case l.n == bestLine && b.rule != &exitRule:
				l.score = 39 - 2*others
			case isStackFrame([]byte(strings.TrimSpace(l.text))):
				l.score -= 15
			}
			l.order = len(lines)
			lines = append(lines, l)
		}
	}
	slices.SortStableFunc(lines, func(a, b textLine) int { return cmp.Compare(b.score, a.score) })
	return lines, blank
}
