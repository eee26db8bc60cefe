package failure

import (
	"fmt"
	"io"

	"github.com/sia-bot/sia/sia"
)

// DefaultMaxLines is how many lines an excerpt has at most, unless Options say
// otherwise: what a comment on a pull request can show (document 3 §3.1).
const DefaultMaxLines = 15

// Span is a range of lines of a log, 1-based and inclusive.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Test is one failed test.
type Test struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"` // as the log spells it; empty when it does not say
	Line int    `json:"line,omitempty"` // 1-based; 0 when the log does not say
}

// Annotation is what a check said about a line of the code, as GitHub's check
// run annotations and problem matchers carry it.
type Annotation struct {
	Path    string
	Line    int    // 1-based; 0 when unknown
	Level   string // failure, warning or notice
	Title   string
	Message string
}

// Options say how to read a log. The zero value is right for a log by itself.
type Options struct {
	MaxLines    int          // lines of the excerpt at most; 0 means DefaultMaxLines
	Green       io.Reader    // a log of the same job that passed; nil when there is none
	Name        string       // of the check; a hint for the class
	Annotations []Annotation // of the check, first in weight
}

// Report is what a log says about its failure.
type Report struct {
	Excerpt   []Span   `json:"excerpt"` // ascending, not overlapping
	Text      string   `json:"text"`    // the excerpt's lines without timestamps and colours
	Line      int      `json:"line"`    // the excerpt's first line; 0 when there is no excerpt
	Signature string   `json:"signature"`
	Class     Class    `json:"class"`
	Tests     []Test   `json:"tests,omitempty"`
	Why       []string `json:"why,omitempty"` // why these lines, for people
}

// Read reads a log to its end and reports what failed.
func Read(r io.Reader, opts Options) (Report, error) {
	rd := &reader{set: rules(), seen: map[string]bool{}}
	if opts.Green != nil {
		green, err := readGreen(opts.Green)
		if err != nil {
			return Report{}, fmt.Errorf("read green log: %w", err)
		}
		rd.green = green
	}
	lines := newLineReader(r)
	for {
		raw, n, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Report{}, err
		}
		rd.take(raw, n)
	}
	rd.close()
	return rd.report(opts), nil
}

// report makes the report of what was read.
func (r *reader) report(opts Options) Report {
	bs, best := r.choose()
	if len(bs) == 0 {
		bs = r.ending()
		if len(bs) > 0 {
			best = bs[0]
		}
	}
	rep := Report{Excerpt: spans(bs), Class: classify(best, bs), Tests: r.tests}
	rep.Signature = signature(explaining(bs, best), r.tests)
	if len(bs) > 0 {
		rep.Line = rep.Excerpt[0].Start
	}
	for _, b := range bs {
		rep.Why = append(rep.Why, fmt.Sprintf("lines %d–%d: %s (%.0f)", b.start, b.end, b.rule.name, r.rank(b)))
	}
	return rep
}

// ending is the line that says that a step has failed, for want of anything better.
func (r *reader) ending() []*block {
	if len(r.ended) == 0 {
		return nil
	}
	e := r.ended[0]
	b := &block{rule: &endRule, start: e.line, head: e.line}
	b.add(textLine{n: e.line, text: e.text})
	return []*block{b}
}

// Check is the report of a red check in the form that a task keeps.
func Check(name, url string, rep Report) sia.CheckFailure {
	f := sia.CheckFailure{Check: name, URL: url, Excerpt: rep.Text, Line: rep.Line, Signature: rep.Signature, Class: string(rep.Class)}
	for _, t := range rep.Tests {
		f.Tests = append(f.Tests, t.Name)
	}
	return f
}
