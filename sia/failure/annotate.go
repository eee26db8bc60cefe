package failure

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/view"
)

// Limits on annotations.
const (
	maxNotes = 50 // annotations read
	minNote  = 8  // minimum length of a message searched for in the log, in bytes
)

// emptyMessage matches messages that report a failure without its cause.
var emptyMessage = lazyregexp.New(`^(Process completed with exit code|The process .* failed with exit code|` +
	`The operation was canceled|Error: Process completed)`)

// failureMessages returns the first lines of the annotations with level "failure".
func failureMessages(as []view.Annotation) []string {
	var out []string
	for _, a := range as {
		first, _, _ := strings.Cut(strings.TrimSpace(a.Message), "\n")
		if a.Level == "failure" && len(first) >= minNote && !emptyMessage.MatchString(first) && len(out) < maxNotes {
			out = append(out, first)
		}
	}
	return out
}

// noted reports whether a line contains the message of an annotation.
func (r *logReader) noted(text []byte) bool {
	for _, note := range r.notes {
		if bytes.Contains(text, []byte(note)) {
			return true
		}
	}
	return false
}

// annotated reports whether a line of the block contains the message of an annotation.
func (r *logReader) annotated(b *block) bool {
	return len(r.notes) > 0 && slices.ContainsFunc(b.lines(), func(l textLine) bool { return r.noted([]byte(l.text)) })
}

// annotationReport returns a report made of the annotations alone, or nil when none of them names a cause. Its text has
// no line in the log.
func annotationReport(opts Options) *Report {
	limit := opts.MaxLines
	if limit == 0 {
		limit = DefaultMaxLines
	}
	rep := &Report{Excerpt: []Span{}}
	b := &block{rule: &noteRule}
	var lines []string
	for _, a := range opts.Annotations {
		if a.Level != "failure" || len(lines) == limit || len(failureMessages([]view.Annotation{a})) == 0 {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(a.Message), "\n")
		l := printableText(clipText([]byte(first)))
		if a.Path != "" && a.Path != ".github" {
			l = fmt.Sprintf("%s:%d: %s", a.Path, a.Line, l)
		}
		lines = append(lines, l)
		b.add(textLine{n: len(lines), text: l})
	}
	if len(lines) == 0 {
		return nil
	}
	c := choiceOf(b)
	rep.Text = strings.Join(lines, "\n")
	rep.Places = []Place{{Text: rep.Text, Belief: 1}}
	rep.Class = newLogReader().classOf(c, opts.Name)
	rep.Signature = signatureOf(c.places[0].blocks, nil)
	rep.Why = []string{fmt.Sprintf("%d annotations of the check; the log says nothing clearer", len(lines))}
	return rep
}

var noteRule = rule{name: "an annotation", extent: singleLine, weight: 70, class: Unknown}
