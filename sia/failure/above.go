package failure

import "bytes"

// maxAbove is the maximum number of lines taken from above a line.
const maxAbove = 15

// maxChained is the maximum number of lines taken from above a result that stands above another result.
const maxChained = 4

// aboveRule is the rule for the paragraph above a message that something failed.
var aboveRule = rule{name: "what stands above the result", extent: singleLine, weight: 48, class: Unknown}

// endRule is the rule for the paragraph above the end of a step that failed.
var endRule = rule{name: "what stands above the end of the failed step", extent: singleLine, weight: 26, class: Unknown}

// lastRule is the rule for the paragraph at the end of a log that does not say how its last step ended. What failed has
// ended the log.
var lastRule = rule{name: "what stands at the end of the log", extent: singleLine, weight: 30, class: Unknown}

// stoppedRule is the rule for the last output of a step before the job was canceled.
var stoppedRule = rule{name: "what ran when the job was ended", extent: singleLine, class: Timeout}

// lastOutput returns a line and the remembered lines above it as one block.
func (r *logReader) lastOutput(l *line) *block {
	start := l.n
	for start > 1 && l.n-start < maxAbove-1 {
		if _, ok := r.ring.at(start - 1); !ok {
			break
		}
		start--
	}
	b := &block{rule: &stoppedRule, start: start, head: l.n, test: -1, step: r.step}
	for n := start; n < l.n; n++ {
		b.add(r.ring.line(n))
	}
	b.add(textLine{n: l.n, text: string(l.text)})
	return b
}

// noteAbove records the paragraph above a message that something has failed. Often it explains the failure in a format
// that no rule covers. It returns the block that holds the paragraph; nil when there is none.
func (r *logReader) noteAbove(l *line, ru *rule) *block {
	start, end := r.paragraphAbove(l.n)
	i := len(r.kept) - 1
	for i >= 0 && r.kept[i].start >= l.n {
		i-- // content of the line itself, such as its status
	}
	for ; i >= 0 && r.kept[i].result && r.kept[i].step == r.step && r.kept[i].end >= start &&
		r.kept[i].start <= end+1; i-- {
		// One result above another: the explanation of both stands above the first.
		start, end = r.paragraphAbove(r.kept[i].start)
		start = max(start, end-maxChained+1)
	}
	if ru != &aboveRule {
		defer r.noteFurther(ru, start)
	}
	var before *block // the block that reaches into the paragraph
	if i >= 0 && r.kept[i].end >= start {
		before = r.kept[i]
	}
	switch {
	case start > end:
	case before == nil && r.ring.passed(end):
	case before == nil:
		b := &block{rule: ru, start: start, head: start, test: -1, step: r.step, failed: ru == &endRule}
		for n := start; n <= end; n++ {
			b.add(r.ring.line(n))
		}
		r.keep(b)
		return b
	case before.rule == &generalRule && !before.result:
		for n := before.end + 1; n <= end && before.size() < maxAbove; n++ {
			before.add(r.ring.line(n))
		}
		for before.start > start && before.head-before.start < 2 {
			before.prepend(r.ring.line(before.start - 1))
		}
		return before
	}
	return nil
}

// maxFurther is the number of paragraphs recorded at the end of a step in addition to the last one.
const maxFurther = 2

// noteFurther records the paragraphs above the one that begins at line n, which stands at the end of a failed step. A
// summary or advice may stand between the explanation and the end.
func (r *logReader) noteFurther(ru *rule, n int) {
	for nth := 1; nth <= maxFurther; nth++ {
		start, end := r.wholeParagraph(n)
		for _, b := range r.kept {
			if b.step == r.step && b.start <= end && b.end >= start && b.rule != ru {
				return
			}
		}
		if start > end {
			return
		}
		b := &block{rule: ru, start: start, head: start, test: -1, step: r.step, failed: ru == &endRule, nth: nth}
		for l := start; l <= end; l++ {
			b.add(r.ring.line(l))
		}
		r.keep(b)
		n = start
	}
}

// wholeParagraph returns the lines above line n, up to a blank line or one that is equal to the next one.
func (r *logReader) wholeParagraph(n int) (start, end int) {
	end = n - 1
	for n-end < 5 && !r.ring.hasText(end) {
		end--
	}
	start = end + 1
	var below []byte
	for end-start+1 < maxAbove && r.ring.hasText(start-1) {
		text, _ := r.ring.at(start - 1)
		if bytes.Equal(text, below) {
			break
		}
		below = text
		start--
	}
	return start, end
}

// paragraphAbove returns the remembered part of the last paragraph above line n; start > end when there is none.
func (r *logReader) paragraphAbove(n int) (start, end int) {
	end = n - 1
	for n-end < 5 {
		if text, ok := r.ring.at(end); !ok || len(text) > 0 && !ruler.Match(text) {
			break
		}
		end--
	}
	for from := end; from-end < maxAbove && r.ring.hasText(end) &&
		(r.ring.isResult(end) || end < from && r.ring.sameForm(end, end+1)); {
		end--
		if !r.ring.hasText(end) && r.ring.hasText(end-1) {
			end--
		}
	}
	start = end + 1
	if start > 1 && r.ring.hasText(start-1) {
		start--
	}
	for end-start+1 < maxAbove && r.ring.hasText(start-1) && r.ring.related(start-1, start) {
		start--
	}
	return start, end
}
