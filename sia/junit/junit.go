// Package junit reads test reports in JUnit's XML, as many test runners write it:
// https://github.com/testmoapp/junitxml. Reports are untrusted: reading takes memory that does not grow with them.
package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits while a report is read.
const (
	maxText  = 8 << 10 // bytes of an attribute, and of a failure's text
	maxDepth = 1000    // nested elements
)

// MaxSuites is the maximum number of suites that a test case names, the outermost ones.
const MaxSuites = 20

// Case is a test case of a report.
type Case struct {
	Suites            []string // names, the outermost first; valid until the next case is read
	Class, Name, File string
	Line              int // in File; 0: unknown
	Start, End        int // lines of the report

	Skipped       bool
	Failed        bool   // and not skipped: node reports why a todo test fails
	Message, Text string // of its first failure
}

// Reader reads the consecutive reports of a stream. Text between them is skipped.
type Reader struct{ in *clipped }

// NewReader returns a Reader of a stream.
func NewReader(r io.Reader) *Reader { return &Reader{newClipped(r)} }

// Next reads the next report and calls each for its test cases, until it returns false. A truncated report, such as
// that of a killed test run, ends where it is truncated. cut is the reason why reading ended before the report did. The
// error is [io.EOF] if there is no further report.
func (r *Reader) Next(each func(Case) bool) (cut string, err error) {
	if err := r.in.skipTo("<testsuite"); err != nil {
		return "", err
	}
	d := xml.NewDecoder(r.in)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var p place
	for {
		start := r.in.line
		token, err := d.RawToken()
		var syntax *xml.SyntaxError
		switch {
		case errors.As(err, &syntax):
			if strings.Contains(syntax.Msg, "unexpected EOF") {
				return "", nil
			}
			return fmt.Sprintf("the XML is broken at line %d; what came before was read", r.in.line), nil
		case errors.Is(err, io.EOF):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("read JUnit report: %w", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if p.depth++; p.depth > maxDepth {
				return fmt.Sprintf("more than %d XML elements are within one another at line %d", maxDepth, start), nil
			}
			p.begin(e, start)
		case xml.CharData:
			p.text(e)
		case xml.EndElement:
			p.depth--
			if c := p.end(e.Name.Local); c != nil {
				c.End = r.in.line
				if !each(*c) {
					return "", nil
				}
			}
			if p.open == 0 {
				return "", nil
			}
		}
	}
}

// place is what is open at a point of a report.
type place struct {
	depth     int      // open elements
	open      int      // open suites
	suites    []string // their names, at most MaxSuites
	test      *Case
	inFailure bool
	said      strings.Builder // the failure's text
}

func (p *place) begin(e xml.StartElement, line int) {
	switch e.Name.Local {
	case "testsuite", "testsuites":
		if p.open++; p.open <= MaxSuites {
			p.suites = append(p.suites, attr(e, "name"))
		}
	case "testcase":
		at, _ := strconv.Atoi(attr(e, "line"))
		p.test = &Case{
			Suites: p.suites, Class: attr(e, "classname"), Name: attr(e, "name"), File: attr(e, "file"), Line: max(0, at),
			Start: line,
		}
	case "skipped":
		if p.test != nil {
			p.test.Skipped, p.test.Failed = true, false
		}
	case "failure", "error":
		if p.test != nil && !p.test.Failed && !p.test.Skipped {
			p.test.Failed, p.test.Message, p.inFailure = true, attr(e, "message"), true
			p.said.Reset()
		}
	}
}

func (p *place) text(s []byte) {
	if p.inFailure {
		p.said.Write(s[:min(len(s), maxText-p.said.Len())])
	}
}

// end ends an element and returns the test case that it ends; nil if it ends none.
func (p *place) end(name string) *Case {
	switch name {
	case "testsuite", "testsuites":
		p.open = max(0, p.open-1)
		p.suites = p.suites[:min(len(p.suites), p.open)]
	case "failure", "error":
		p.inFailure = false
	case "testcase":
		c := p.test
		if c != nil && c.Failed {
			c.Text = p.said.String()
		}
		p.test, p.inFailure = nil, false
		return c
	}
	return nil
}

// attr returns the value of an attribute; empty without the attribute.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}
