package failure

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxList is the maximum length of a list below its heading, in lines.
const maxList = 3000

// maxMatch is the length of the prefix of a line that the rules match, in bytes.
const maxMatch = 2000

// matched finds the rules that match a line. m is the heaviest one, nil for none. lift is a rule that overrides the
// class of m, nil for none. test is the index of the failed test that the line names, -1 for none.
func (r *logReader) matched(l *line, h keywordHits, known bool, count int) (m, lift *rule, test int) {
	test = -1
	if !h.any {
		return nil, nil, test
	}
	text := l.text
	if len(text) > maxMatch {
		text = text[:maxMatch]
	}
	r.endPackage(text)
	for i, set := range h.rules {
		for set != 0 {
			ru := &r.set.rules[i*64+bits.TrailingZeros64(set)]
			set &= set - 1
			if ru.needs != noHeading && (r.heads[ru.needs] == 0 || l.n-r.heads[ru.needs] > maxList) {
				continue
			}
			if (ru.soft || ru.errs) && h.warns || ru.match != nil && !ru.match.Match(text) {
				continue
			}
			if ru.errs && isStackFrame(bytes.TrimLeft(text, " \t")) {
				continue
			}
			if ru.under != nil {
				if above, ok := r.ring.at(l.n - 1); !ok || !ru.under.Match(above) {
					continue
				}
			}
			if ru.item && (count > 0 || runResult.Match(text)) {
				continue
			}
			if ru.opens != noHeading {
				r.heads[ru.opens] = l.n
				return lift, nil, test
			}
			if ru.class == TestFailure && ru.needs != numberedList && !known && len(r.tests) < MaxTests &&
				!r.hasItems(ru) {
				test = r.noteTest(ru, l, text)
			}
			if !ru.soft {
				return ru, lift, test
			}
			// Words that name the cause decide the class of the block that a tool's own format begins.
			if lift == nil {
				lift = ru
			}
		}
	}
	return lift, nil, test
}

// runDetails matches text next to a test's name that varies from run to run: duration, time, and position among the
// tests. TAP has it in a comment. Bazel gives the machine's path of the log.
var runDetails = lazyregexp.New(`^(\[(xUnit\.net )?[ \d:.]+s?\] +|\d+:\d\d \+\d+( ~\d+)?( -\d+)?: |` +
	`\d+/\d+ Test +#\d+: )| +([(\[]<? ?[\d.]+ ?m?s[)\]]|# time=\S+( \{)?|\(see /.*\))$`)

// noteTest records the failed test that a line names and returns its index, or -1 when the line names none or too many
// are recorded. text has at most maxMatch bytes of the line. Jest prints the names of its tests below the file's.
func (r *logReader) noteTest(ru *rule, l *line, text []byte) int {
	match := ru.match
	i := match.SubexpIndex(groupTest)
	if i < 0 {
		return -1
	}
	m := match.FindSubmatch(text)
	t := Test{Name: testName(m[i])}
	if ru.item && (statement.MatchString(t.Name) || unloadedWords.MatchString(t.Name)) {
		return -1
	}
	if i := match.SubexpIndex(groupFile); i >= 0 {
		t.File = printableText(clipText(m[i]))
	}
	if i := match.SubexpIndex(groupLine); i >= 0 {
		t.Line = parseDecimal(m[i])
	}
	if b := r.open; b != nil && b.rule.item && b.test >= 0 && l.indent > b.indent {
		if file := r.tests[b.test].Name; scriptName.MatchString(file) {
			t.Package = file
		}
	}
	recorded := len(r.tests)
	test := r.addTest(t)
	r.listed[test] = listedTest.Match(text) && (test == recorded || r.listed[test])
	return test
}

// testName returns the name of a test on a line, without the text around it.
func testName(b []byte) string {
	name := printableText(clipText(runDetails.ReplaceAll(b, nil)))
	if strings.Contains(name, "::") {
		name, _, _ = strings.Cut(name, " - ") // a summary gives the reason after the name
	}
	return name
}

// addTest records a failed test, or the location of one recorded without. It returns the test's index, or -1 when it
// has no name or too many are recorded.
func (r *logReader) addTest(t Test) int {
	if known, ok := r.seen[t.FullName()]; ok {
		if at := &r.tests[known]; at.File == "" {
			at.File, at.Line = t.File, t.Line
		}
		return known
	}
	if t.Name == "" || len(r.tests) == MaxTests {
		return -1
	}
	if known := r.completeName(t.Name); known >= 0 {
		return known
	}
	r.tests = append(r.tests, t)
	r.seen[t.FullName()] = len(r.tests) - 1
	return len(r.tests) - 1
}

// listedTest matches a failed test in the tree of tests that Jest and Vitest print. The name lacks the suites there.
var listedTest = lazyregexp.New(`^\s*(✗|✘|✖|✕|×) `)

// failedTests returns the failed tests, each once: without the names of files whose failed tests are named, and without
// names in a tree of tests where the details give the whole name.
func (r *logReader) failedTests() (out []Test) {
	for i, t := range r.tests {
		if !slices.ContainsFunc(r.tests, func(o Test) bool {
			return o.Package == t.Name || r.listed[i] && o.Package == t.Package &&
				(strings.HasSuffix(o.Name, " › "+t.Name) || strings.HasSuffix(o.Name, " > "+t.Name))
		}) {
			out = append(out, t)
		}
	}
	return out
}

var goTestName = lazyregexp.New(`^(?:Test|Example|Fuzz|Benchmark)`)

// endPackage records the package of the failed Go tests above, if the line is the one with which "go test" ends it. The
// next package may have tests of the same names.
func (r *logReader) endPackage(text []byte) {
	after, ok := bytes.CutPrefix(text, []byte("FAIL\t"))
	if !ok || r.packaged == len(r.tests) {
		return
	}
	name, _, _ := bytes.Cut(after, []byte("\t"))
	for ; r.packaged < len(r.tests); r.packaged++ {
		if t := &r.tests[r.packaged]; goTestName.MatchString(t.Name) {
			t.Package = printableText(clipText(bytes.TrimSpace(name)))
			delete(r.seen, t.Name)
		}
	}
}

// completeName changes the name of a recorded test to the full name that a summary uses: "tests/a.py::test_b" for
// "test_b". It returns the test's index, or -1 when no recorded test matches.
func (r *logReader) completeName(full string) int {
	i := strings.LastIndex(full, "::")
	if i < 0 {
		return -1
	}
	short := full[i+len("::"):]
	for i := range r.tests {
		t := &r.tests[i]
		if t.Name == short || strings.HasSuffix(t.Name, "."+short) &&
			strings.HasSuffix(strings.ReplaceAll(full, "::", "."), t.Name) {
			t.Name = full
			r.seen[full] = i
			return i
		}
	}
	return -1
}

// codeLocation matches a place in code as compilers, Python, .NET, Perl and Dart write it: a path with an extension,
// and a line.
var codeLocation = lazyregexp.New(`([\w@+./\\-]*\w\.[A-Za-z]\w{0,9})(?::|:line |", line | line |` +
	`\((?:\d+,)?)(\d+)\b|([\w@+./\\-]*\w\.[A-Za-z]\w{0,9}) (\d+):\d+\b`)

// testPath matches paths of tests.
var testPath = lazyregexp.New(`(?i)test|spec`)

// installedPath matches paths of installed packages and of a language's standard library.
var installedPath = lazyregexp.New(`(^|[/\\])((site|dist)-packages|node_modules|gems|go[/\\]pkg[/\\]mod|rustlib|` +
	`\.cargo[/\\](registry|git)|(lib|Lib)[/\\]python\d[\d.]*|go(/[\d.]+/x64)?/src|rustc/[0-9a-f]{40})[/\\]|` +
	`^(node:|/usr/(lib|share)/|/rustc/)`)

// locateTest sets the location of a block's failed test: the first location in the block that looks like a test's file,
// else the first of any kind. One in an installed package is used only where there is no other. A file that could not
// be loaded is located at the reason.
func (r *logReader) locateTest(b *block) {
	if b.rule.needs == numberedList {
		b.test = r.addTest(Test{Name: nestedName(b)})
	}
	if b.test < 0 || r.tests[b.test].File != "" {
		return
	}
	t := &r.tests[b.test]
	if b.unloaded() {
		t.place(b.reasons())
	}
	if t.File == "" {
		t.place(b.lines())
	}
}

// place sets the test's location to one that the lines name, if it is better than the present one.
func (t *Test) place(ls []textLine) {
	own := t.File != "" && !installedPath.MatchString(t.File)
	like := own && testPath.MatchString(t.File)
	for _, l := range ls {
		if like {
			return
		}
		m := codeLocation.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		file, at := m[1]+m[3], m[2]+m[4]
		isOwn := !installedPath.MatchString(file)
		isLike := isOwn && testPath.MatchString(file)
		if t.File == "" || isOwn && !own || isLike && !like {
			t.File, t.Line = file, parseDecimal([]byte(at))
			like, own = isLike, isOwn
		}
	}
}

// maxSuites is the maximum number of lines of a test's name in a numbered list.
const maxSuites = 8

// nestedName returns the name of a test in a numbered list. Mocha prints it on several lines: the suites from the
// outermost to the innermost, which many tests may share, then the test, which ends in a colon.
func nestedName(b *block) string {
	ls := b.lines()
	name := ""
	if m := b.rule.match.FindStringSubmatch(ls[0].text); m != nil {
		name = testName([]byte(m[b.rule.match.SubexpIndex(groupTest)]))
	}
	if strings.HasSuffix(name, ":") {
		return strings.TrimSuffix(name, ":")
	}
	full := name
	for _, l := range ls[1:min(len(ls), maxSuites)] {
		t := strings.TrimSpace(l.text)
		if t == "" {
			break
		}
		full += " › " + strings.TrimSuffix(t, ":")
		if strings.HasSuffix(t, ":") {
			return full
		}
	}
	return name
}

// parseDecimal parses a decimal number. It returns 0 for anything else and for numbers above about 1e9.
func parseDecimal(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || n > 1e8 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
