package failure

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/sia-bot/sia/sia/junit"
)

var junitRule = rule{name: "JUnit XML, a failed test", extent: singleLine, weight: 90, class: TestFailure}

// junit reports whether the log is a JUnit XML report.
func (l *lineReader) junit() bool {
	head, _ := l.r.Peek(1024)
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<testsuite")) ||
		bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<testsuite"))
}

// readJUnit reads the failed test cases of JUnit XML reports, up to the first syntax error.
func readJUnit(r io.Reader, opts Options) (Report, error) {
	rd := newLogReader()
	for reports := junit.NewReader(r); ; {
		cut, err := reports.Next(func(c junit.Case) bool {
			rd.addCase(c)
			return true
		})
		ended := errors.Is(err, io.EOF)
		switch {
		case err != nil && !ended:
			return Report{}, err
		case ended, cut != "":
			rep := rd.report(opts)
			rep.Cut = cut
			return rep, nil
		}
	}
}

// addCase records a test case if it failed.
func (r *logReader) addCase(c junit.Case) {
	r.total = c.End
	if !c.Failed {
		return
	}
	name := c.Name
	if c.Class != "" {
		name = c.Class + "." + c.Name
	}
	name = string(clipText([]byte(name)))
	if _, known := r.seen[name]; !known && len(r.tests) < MaxTests {
		r.seen[name] = len(r.tests)
		r.tests = append(r.tests, Test{
			Name: printableText([]byte(name)), File: printableText(clipText([]byte(c.File))), Line: c.Line,
		})
	}
	b := &block{rule: &junitRule, start: c.Start, head: c.Start, test: -1}
	b.add(textLine{n: c.Start, text: name, score: 20})
	said := c.Message
	if text := strings.TrimSpace(c.Text); !strings.HasPrefix(text, said) {
		said += "\n" + text
	} else if text != "" {
		said = text
	}
	for i, l := range strings.Split(said, "\n") {
		if i == maxAbove {
			break
		}
		b.add(textLine{n: min(c.Start+i+1, c.End), text: string(clipText([]byte(l)))})
	}
	b.end = c.End
	r.keep(b)
}
