package failure

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
)

// DefaultMaxLines is the default maximum number of lines of Report.Text: as many as a pull request comment can show.
const DefaultMaxLines = 15

// MaxLong is the maximum number of lines of Report.Long.
const MaxLong = 200

// MaxTests is the maximum number of failed tests that a report names.
const MaxTests = 200

// Span is a range of lines of a log, 1-based and inclusive.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Test is one failed test.
type Test struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"` // as spelled in the log; empty when unknown
	Line int    `json:"line,omitempty"` // 1-based; 0 when unknown
	// package of a Go test, or file of one of Jest's, which are no part of its name; empty when unknown
	Package string `json:"package,omitempty"`
}

// FullName returns the name with the package: tests of different packages or files may have one name.
func (t Test) FullName() string {
	if t.Package == "" {
		return t.Name
	}
	return t.Package + "." + t.Name
}

// otherLines is the maximum number of lines in the text of a place other than the first.
const otherLines = 8

// Place is a possible explanation of the failure in a log.
type Place struct {
	Text   string  `json:"text"`   // its highest-scoring lines
	Line   int     `json:"line"`   // line of the log where Text begins; 0 when Text is not from the log
	Belief float64 `json:"belief"` // probability that this explains the failure, from 0 to 1
}

// Options configure how a log is read. The zero value is right for a log without further context.
type Options struct {
	MaxLines    int               // maximum number of lines of Report.Text; 0: DefaultMaxLines
	Green       io.Reader         // log of a passing run of the same job; nil without one
	Name        string            // name of the check; decides the class where the log leaves it open
	Annotations []view.Annotation // annotations of the check
}

// Report describes the failure in a log.
type Report struct {
	// lines of the log about the failure; ascending, not overlapping, at most 400 lines in total
	Excerpt []Span  `json:"excerpt"`
	Places  []Place `json:"places,omitempty"` // possible explanations, most likely first; one where there is no doubt
	Text    string  `json:"text"`             // text of the first place, without timestamps and colours
	Long    string  `json:"-"`                // text of all places, up to MaxLong lines
	Line    int     `json:"line"`             // line of the log where Text begins; 0 when there is none
	// the same, counted from the line with which GitHub Actions begins the step; 0 when unknown
	StepLine int `json:"step_line,omitempty"`
	// 16 hexadecimal digits, equal for the same failure; empty when nothing was found
	Signature string   `json:"signature"`
	Class     Class    `json:"class"`           // Unknown when nothing was found
	Tests     []Test   `json:"tests,omitempty"` // failed tests in the order of the log, at most MaxTests
	Why       []string `json:"why,omitempty"`   // reasons for choosing these lines, for display
	Bare      bool     `json:"-"`               // the log reports that a step failed without any reason
	Cut       string   `json:"cut,omitempty"`   // why the log was not read to its end, for display; empty when it was
}

// Read reads a log to its end and reports what failed. Memory use is bounded (a few MiB) for any size of the log and
// its lines. A log in gzip or UTF-16 is unpacked. Errors are those of r and of the context; a green log that ends with
// an error counts up to there. The report has an empty excerpt when nothing was found.
func Read(ctx context.Context, r io.Reader, opts Options) (Report, error) {
	rd := newLogReader()
	rd.notes = failureMessages(opts.Annotations)
	if opts.Green != nil {
		rd.green = readGreen(newSource(ctx, opts.Green))
	}
	log := newSource(ctx, r)
	lines := newLineReader(log)
	if lines.junit() {
		rep, err := readJUnit(lines.r, opts)
		rep.Cut = cmp.Or(rep.Cut, log.cut)
		return rep, err
	}
	for {
		raw, n, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Report{}, err
		}
		rd.take(raw, n)
		if len(raw) == 0 && rd.idle() {
			rd.skipBlank(lines.skipBlank())
		}
	}
	rd.close()
	rep := rd.report(opts)
	rep.Cut = log.cut
	return rep, nil
}

// CheckFailure returns the report of a failed check in the form that a task stores.
func CheckFailure(name, url string, rep Report) sia.CheckFailure {
	f := sia.CheckFailure{Check: name, URL: url, Excerpt: rep.Text, Line: rep.Line, Signature: rep.Signature,
		Class: string(rep.Class)}
	for _, p := range rep.Places[min(1, len(rep.Places)):] {
		f.Others = append(f.Others, p.Text)
	}
	for _, t := range rep.Tests {
		if !slices.Contains(f.Tests, t.Name) {
			f.Tests = append(f.Tests, t.Name)
		}
	}
	return f
}
