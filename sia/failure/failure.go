package failure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sia-bot/sia/sia"
)

// DefaultMaxLines is how many lines an excerpt's text has at most, unless
// Options say otherwise: what a comment on a pull request can show.
const DefaultMaxLines = 15

// MaxLong is how many lines Report.Long has at most.
const MaxLong = 200

// MaxTests is how many failed tests a report names at most.
const MaxTests = 200

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

// Annotation is what a check said about a place in the code
// (https://docs.github.com/rest/checks/runs#list-check-run-annotations).
type Annotation struct {
	Path    string
	Line    int    // 1-based; 0 when unknown
	Level   string // failure, warning or notice
	Title   string
	Message string
}

// otherLines is how many lines the text of a place has at most that is not the first.
const otherLines = 8

// Place is where a log may explain the failure.
type Place struct {
	Text   string  `json:"text"`   // its most telling lines
	Line   int     `json:"line"`   // of the log, where Text begins; 0 when it stands in none
	Belief float64 `json:"belief"` // how likely it is that this is what explains the failure, from 0 to 1
}

// Options say how to read a log. The zero value is right for a log by itself.
type Options struct {
	MaxLines    int          // lines of Report.Text at most; 0 means DefaultMaxLines
	Green       io.Reader    // a log of the same job that passed; nil when there is none
	Name        string       // of the check; decides the class where the log leaves it open
	Annotations []Annotation // of the check
}

// Report is what a log says about its failure.
type Report struct {
	// where the log tells of the failure; ascending, apart from one another, at most 400 lines
	Excerpt []Span  `json:"excerpt"`
	Places  []Place `json:"places,omitempty"` // the same by place, the most likely first; one where there is no doubt
	Text    string  `json:"text"`             // the first place's, without timestamps and colours
	Long    string  `json:"-"`                // the same with up to MaxLong lines, for a reader with more room
	Line    int     `json:"line"`             // of the log, where Text begins; 0 when there is none
	// the same, counted from the line with which GitHub Actions begins the step; 0 when it is not known
	StepLine int `json:"step_line,omitempty"`
	// 16 hexadecimal digits, equal for the same failure; empty when nothing was found
	Signature string   `json:"signature"`
	Class     Class    `json:"class"`           // Unknown when nothing was found
	Tests     []Test   `json:"tests,omitempty"` // failed ones in the order of the log, at most MaxTests
	Why       []string `json:"why,omitempty"`   // why these lines, for people
	Bare      bool     `json:"-"`               // the log says that a step failed, and not a word of why
	Cut       string   `json:"cut,omitempty"`   // why the log was not read to its end, for people; empty when it was
}

// Read reads a log to its end and reports what failed. It remembers a bounded
// part of the log (a few MiB), whatever its size and the length of its lines.
// A log in gzip or UTF-16 is unpacked. Errors are those of the readers and of the context. The report
// has an empty excerpt when nothing was found.
func Read(ctx context.Context, r io.Reader, opts Options) (Report, error) {
	rd := newLogReader()
	rd.notes = failureMessages(opts.Annotations)
	if opts.Green != nil {
		green, err := readGreen(newSource(ctx, opts.Green))
		if err != nil {
			return Report{}, fmt.Errorf("read green log: %w", err)
		}
		rd.green = green
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

// CheckFailure is the report of a red check in the form that a task keeps.
func CheckFailure(name, url string, rep Report) sia.CheckFailure {
	f := sia.CheckFailure{Check: name, URL: url, Excerpt: rep.Text, Line: rep.Line, Signature: rep.Signature,
		Class: string(rep.Class)}
	for _, p := range rep.Places[min(1, len(rep.Places)):] {
		f.Others = append(f.Others, p.Text)
	}
	for _, t := range rep.Tests {
		f.Tests = append(f.Tests, t.Name)
	}
	return f
}
