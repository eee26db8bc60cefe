package testrun

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// JUnit reads JUnit's XML, as many runners write it: https://github.com/testmoapp/junitxml. Several
// reports may stand one after the other. A test is named by its class, where it has one, and its name. What is
// cut short counts as far as it goes. After maxTests tests one more is read, and no others.
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

// junitControl is a control character by its number, but for tabs and line breaks.
var junitControl = lazyregexp.New(`&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]));`)

// withoutControls has U+FFFD in place of what XML has no characters for, such as what colours a terminal. Some
// reporters write it as tests say it, and Go's decoder stops there.
func withoutControls(out []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, junitControl.ReplaceAll(out, []byte("\uFFFD")))
}

// junitEnd is the end of a report.
var junitEnd = lazyregexp.New(`</testsuites?>\s*$|<testsuites?\b[^>]*/>\s*$`)

// junitClosed reports whether the output has a report, and ends with one that is whole.
func junitClosed(out []byte) bool { return junitEnd.Match(out) }

// Bounds of the suites that a test is named by: each of a report's tests repeats them.
const (
	maxSuites    = 20   // the outermost
	maxSuiteName = 200  // characters of each
	maxNested    = 1000 // elements within one another; a report that has more ends there
)

// junitReport reads one report, and returns how many bytes it took.
func junitReport(out []byte, found Results) int {
	d := xml.NewDecoder(bytes.NewReader(out))
	d.Strict = false
	d.CharsetReader = nil
	var suites []string // names of the suites that are open
	var test string
	var came Outcome
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
				test, came = attribute(e, "name"), Passed
				if class := attribute(e, "classname"); class != "" && class != "test" {
					test = class + "." + test
				} else if len(suites) > 1 { // node nests suites in place of classes
					test = strings.Join(append(named(suites[:min(len(suites), maxSuites)]), test), " > ")
				}
			case "failure", "error":
				if came != Skipped { // node tells why a test fails that is to be done
					came = Failed
				}
			case "skipped":
				came = Skipped
			}
		case xml.EndElement:
			depth--
			switch e.Name.Local {
			case "testcase":
				found.add(test, came)
				test = ""
			case "testsuite", "testsuites":
				if suites = suites[:max(len(suites)-1, 0)]; len(suites) == 0 {
					return int(d.InputOffset())
				}
			}
		}
	}
}

// named are the names that are not empty.
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
