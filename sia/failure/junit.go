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

// Bounds of what is remembered of a JUnit XML report while it is read.
const (
	maxSaid  = 8 << 10 // bytes of what a failure says
	maxDepth = 64      // elements within one another
)

var junitRule = rule{name: "JUnit XML, a failed test", extent: singleLine, weight: 90, class: TestFailure}

// junit reports whether the log is a JUnit XML report.
func (l *lineReader) junit() bool {
	head, _ := l.r.Peek(1024)
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<testsuite")) ||
		bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<testsuite"))
}

// junitCase is what is kept of a testcase element as the JUnit tools write it
// (https://github.com/testmoapp/junitxml describes the dialects).
type junitCase struct {
	name, class, file string
	line              int
	start             int           // its line in the report
	failed            *junitFailure // nil while nothing tells that it failed
}

type junitFailure struct {
	message string
	text    strings.Builder
}

// readJUnit reads the failed test cases of a JUnit XML report. What follows
// broken XML is not read.
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
	var c *junitCase    // the one that is read
	var f *junitFailure // being read
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
			if f != nil && f.text.Len() < maxSaid {
				f.text.Write(e[:min(len(e), maxSaid-f.text.Len())])
			}
		case xml.EndElement:
			depth = max(0, depth-1)
			switch e.Name.Local {
			case "testcase":
				if c != nil {
					rd.takeCase(c, at())
				}
				c, f = nil, nil
			case "failure", "error":
				f = nil
			}
		}
	}
}

// syntaxAtEnd reports whether XML is broken only in that it ends too soon, as the report of a test
// run that was killed does.
func syntaxAtEnd(err *xml.SyntaxError) bool { return strings.Contains(err.Msg, "unexpected EOF") }

func newJUnitCase(e xml.StartElement, start int) *junitCase {
	line, _ := strconv.Atoi(attr(e, "line"))
	return &junitCase{name: attr(e, "name"), class: attr(e, "classname"), file: attr(e, "file"), line: max(0, line),
		start: start}
}

// attr is the value of an attribute, bounded; empty when there is none.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value[:min(len(a.Value), maxSaid)]
		}
	}
	return ""
}

// takeCase notes a test case if it failed.
func (r *logReader) takeCase(c *junitCase, end int) {
	r.total = end
	if c.failed == nil {
		return
	}
	name := c.name
	if c.class != "" {
		name = c.class + "." + c.name
	}
	name = string(clipText([]byte(name)))
	if len(r.tests) < MaxTests && !r.seen[name] {
		r.seen[name] = true
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
