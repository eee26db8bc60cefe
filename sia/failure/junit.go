package failure

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits while a JUnit XML report is read.
const (
	maxFailureText = 8 << 10 // bytes of a failure's text
	maxDepth       = 64      // nested elements
)

var junitRule = rule{name: "JUnit XML, a failed test", extent: singleLine, weight: 90, class: TestFailure}

// junit reports whether the log is a JUnit XML report.
func (l *lineReader) junit() bool {
	head, _ := l.r.Peek(1024)
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<testsuite")) ||
		bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<testsuite"))
}

// junitCase holds the data of a testcase element as the JUnit tools write it (https://github.com/testmoapp/junitxml
// describes the dialects).
type junitCase struct {
	name, class, file string
	line              int
	start             int           // line of the element in the report
	failed            *junitFailure // nil unless it failed
}

type junitFailure struct {
	message string
	text    strings.Builder
}

// readJUnit reads the failed test cases of a JUnit XML report, up to the first syntax error.
func readJUnit(r io.Reader, opts Options) (Report, error) {
	rd := newLogReader()
	clipped := &clippedXML{r: xmlChars{bufio.NewReader(r)}}
	d := xml.NewDecoder(clipped)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	at := func() int {
		n, _ := d.InputPos()
		return clipped.line(n)
	}
	var c *junitCase    // the test case being read
	var f *junitFailure // its failure being read
	cut := ""
	for depth := 0; ; {
		start := at()
		token, err := d.RawToken()
		var syntax *xml.SyntaxError
		switch {
		case errors.As(err, &syntax):
			if rd.total = at(); !syntaxAtEnd(syntax) {
				cut = fmt.Sprintf("the XML is broken at line %d; what came before was read", rd.total)
			}
			fallthrough
		case errors.Is(err, io.EOF):
			rep := rd.report(opts)
			rep.Cut = cut
			return rep, nil
		case err != nil:
			return Report{}, fmt.Errorf("read JUnit report: %w", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				rep := rd.report(opts)
				rep.Cut = fmt.Sprintf("more than %d XML elements are within one another at line %d", maxDepth, start)
				return rep, nil
			}
			switch e.Name.Local {
			case "testcase":
				c = newJUnitCase(e, start)
			case "failure", "error":
				if c != nil && c.failed == nil {
					f = &junitFailure{message: attr(e, "message")}
					c.failed = f
				}
			}
		case xml.CharData:
			if f != nil && f.text.Len() < maxFailureText {
				f.text.Write(e[:min(len(e), maxFailureText-f.text.Len())])
			}
		case xml.EndElement:
			depth = max(0, depth-1)
			switch e.Name.Local {
			case "testcase":
				if c != nil {
					rd.addCase(c, at())
				}
				c, f = nil, nil
			case "failure", "error":
				f = nil
			}
		}
	}
}

// syntaxAtEnd reports whether the XML is only truncated, like the report of a killed test run.
func syntaxAtEnd(err *xml.SyntaxError) bool { return strings.Contains(err.Msg, "unexpected EOF") }

func newJUnitCase(e xml.StartElement, start int) *junitCase {
	line, _ := strconv.Atoi(attr(e, "line"))
	return &junitCase{name: attr(e, "name"), class: attr(e, "classname"), file: attr(e, "file"), line: max(0, line),
		start: start}
}

// attr returns the value of an attribute, truncated to maxFailureText bytes; empty without the attribute.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value[:min(len(a.Value), maxFailureText)]
		}
	}
	return ""
}

// addCase records a test case if it failed.
func (r *logReader) addCase(c *junitCase, end int) {
	r.total = end
	if c.failed == nil {
		return
	}
	name := c.name
	if c.class != "" {
		name = c.class + "." + c.name
	}
	name = string(clipText([]byte(name)))
	if _, known := r.seen[name]; !known && len(r.tests) < MaxTests {
		r.seen[name] = len(r.tests)
		r.tests = append(r.tests, Test{
			Name: printableText([]byte(name)), File: printableText(clipText([]byte(c.file))), Line: c.line,
		})
	}
	b := &block{rule: &junitRule, start: c.start, head: c.start, test: -1}
	b.add(textLine{n: c.start, text: name, score: 20})
	said := strings.TrimSpace(c.failed.message)
	if text := strings.TrimSpace(c.failed.text.String()); !strings.HasPrefix(text, said) {
		said += "\n" + text
	} else if text != "" {
		said = text
	}
	for i, l := range strings.Split(said, "\n") {
		if i == maxAbove {
			break
		}
		b.add(textLine{n: min(c.start+i+1, end), text: string(clipText([]byte(l)))})
	}
	b.end = end
	r.keep(b)
}
