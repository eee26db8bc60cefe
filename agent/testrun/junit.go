package testrun

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/sia-bot/sia/sia/junit"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// JUnit parses JUnit's XML as [ReadJUnit] does.
func JUnit(out []byte) Results {
	found, _ := ReadJUnit(bytes.NewReader(out)) // memory does not fail
	return found
}

// ReadJUnit reads the consecutive reports in JUnit's XML of a stream. A test is named by its class, if any, and its
// name. A truncated report counts up to its end. At most maxTests+1 tests are read.
func ReadJUnit(r io.Reader) (Results, error) {
	found := Results{}
	for reports := junit.NewReader(r); len(found) <= maxTests; {
		_, err := reports.Next(func(c junit.Case) bool {
			found.add(junitName(c), junitOutcome(c))
			return len(found) <= maxTests
		})
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return found, err
		}
	}
	return found, nil
}

// maxSuiteName limits a suite's name in characters: each of a report's tests repeats it.
const maxSuiteName = 200

func junitName(c junit.Case) string {
	switch {
	case c.Class != "" && c.Class != "test":
		return c.Class + "." + c.Name
	case len(c.Suites) > 1: // node nests suites instead of using classes
		var names []string
		for _, s := range c.Suites {
			if s != "" {
				names = append(names, text.Clip(s, maxSuiteName))
			}
		}
		return strings.Join(append(names, c.Name), " > ")
	}
	return c.Name
}

func junitOutcome(c junit.Case) Outcome {
	switch {
	case c.Skipped:
		return Skipped
	case c.Failed:
		return Failed
	}
	return Passed
}

// junitEnd matches the end of a report.
var junitEnd = lazyregexp.New(`</testsuites?>\s*$|<testsuites?\b[^>]*/>\s*$`)

// junitClosed reports whether the output ends with a complete report.
func junitClosed(out []byte) bool { return junitEnd.Match(out) }
