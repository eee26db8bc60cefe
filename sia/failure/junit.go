package failure

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxXML bounds a JUnit report, in bytes: the decoder holds one element's text
// at a time.
const maxXML = 32 << 20

var junitRule = rule{name: "JUnit XML, a failed test", extent: singleLine, weight: 90, class: TestFailure}

// junit reports whether the log is a JUnit XML report, and returns it.
func (l *lineReader) junit() (io.Reader, bool) {
	head, _ := l.r.Peek(1024)
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(head, []byte("<testsuite")) ||
		bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<testsuite")) {
		return io.LimitReader(l.r, maxXML), true
	}
	return nil, false
}

// junitCase is a testcase element as the JUnit tools write it
// (https://github.com/testmoapp/junitxml describes the dialects).
type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr"`
	Line      int           `xml:"line,attr"`
	Failure   *junitFailure `xml:"failure"`
	Error     *junitFailure `xml:"error"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// readJUnit reads the failed test cases of a JUnit XML report. What follows
// broken XML is not read.
func readJUnit(r io.Reader, opts Options) (Report, error) {
	rd := newLogReader()
	d := xml.NewDecoder(r)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		start, _ := d.InputPos()
		token, err := d.Token()
		var syntax *xml.SyntaxError
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &syntax):
			return rd.report(opts), nil
		case err != nil:
			return Report{}, fmt.Errorf("read JUnit report: %w", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "testcase" {
			continue
		}
		var c junitCase
		if d.DecodeElement(&c, &e) != nil {
			continue // the next token says whether the report goes on
		}
		end, _ := d.InputPos()
		rd.takeCase(c, start, end)
	}
}

// takeCase notes a test case that failed.
func (r *logReader) takeCase(c junitCase, start, end int) {
	f := cmp.Or(c.Failure, c.Error)
	r.total = end
	if f == nil {
		return
	}
	name := c.Name
	if c.ClassName != "" {
		name = c.ClassName + "." + c.Name
	}
	if len(r.tests) < maxTests && !r.seen[name] {
		r.seen[name] = true
		r.tests = append(r.tests, Test{
			Name: printableText([]byte(name)), File: printableText([]byte(c.File)), Line: max(0, c.Line),
		})
	}
	b := &block{rule: &junitRule, start: start, head: start, test: -1}
	b.add(textLine{n: start, text: name, score: 20})
	said := strings.TrimSpace(f.Message)
	if text := strings.TrimSpace(f.Text); !strings.HasPrefix(text, said) {
		said += "\n" + text
	} else if text != "" {
		said = text
	}
	for i, l := range strings.Split(said, "\n") {
		if i == maxAbove {
			break
		}
		b.add(textLine{n: min(start+i+1, end), text: string(clipText([]byte(l)))})
	}
	b.end = end
	r.keep(b)
}
