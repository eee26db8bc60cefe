package testrun

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// JUnit parses JUnit's XML, as written by many runners: https://github.com/testmoapp/junitxml. There may be several
// consecutive reports. A test is named by its class, if any, and its name. A truncated report counts up to its end. At
// most maxTests+1 tests are read.
func JUnit(out []byte) Results {
	found := Results{}
	out = withoutControls(out)
	for {
		i := bytes.Index(out, []byte("<testsuite"))
		if i < 0 || len(found) > maxTests {
			return found
		}
		n := junitReport(out[i:], found)
		out = out[i+max(n, 1):]
	}
}

// junitControl matches a character reference to a control character, except tabs and line breaks.
var junitControl = lazyregexp.New(`&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]));`)

// withoutControls replaces characters that XML does not allow by U+FFFD, such as terminal colors. Some reporters write
// them, and Go's decoder stops there.
func withoutControls(out []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, junitControl.ReplaceAll(out, []byte("\uFFFD")))
}

// junitEnd matches the end of a report.
var junitEnd = lazyregexp.New(`</testsuites?>\s*$|<testsuites?\b[^>]*/>\s*$`)

// junitClosed reports whether the output ends with a complete report.
func junitClosed(out []byte) bool { return junitEnd.Match(out) }

// Limits of the suite names in a test's name: each of a report's tests repeats them.
const (
	maxSuites    = 20   // outermost suites
	maxSuiteName = 200  // characters of a suite's name
	maxNested    = 1000 // nesting of elements; reading stops at deeper ones
)

// junitReport parses one report, and returns the number of bytes read.
func junitReport(out []byte, found Results) int {
	d := xml.NewDecoder(bytes.NewReader(out))
	d.Strict = false
	d.CharsetReader = nil
	var suites []string // names of the open suites
	var test string
	var outcome Outcome
	depth := 0
	for {
		token, err := d.Token()
		if err != nil || depth > maxNested || len(found) > maxTests {
			return int(d.InputOffset())
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			switch e.Name.Local {
			case "testsuite", "testsuites":
				suites = append(suites, text.Clip(attribute(e, "name"), maxSuiteName))
			case "testcase":
				test, outcome = attribute(e, "name"), Passed
				if class := attribute(e, "classname"); class != "" && class != "test" {
					test = class + "." + test
				} else if len(suites) > 1 { // node nests suites instead of using classes
					test = strings.Join(append(named(suites[:min(len(suites), maxSuites)]), test), " > ")
				}
			case "failure", "error":
				if outcome != Skipped { // node reports why a todo test fails
					outcome = Failed
				}
			case "skipped":
				outcome = Skipped
			}
		case xml.EndElement:
			depth--
			switch e.Name.Local {
			case "testcase":
				found.add(test, outcome)
				test = ""
			case "testsuite", "testsuites":
				if suites = suites[:max(len(suites)-1, 0)]; len(suites) == 0 {
					return int(d.InputOffset())
				}
			}
		}
	}
}

// named returns the names that are not empty.
func named(all []string) (out []string) {
	for _, s := range all {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}
