package failure

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxStanding is how many lines below a list's heading the list may go on.
const maxStanding = 3000

// maxMatch bounds how much of a line the rules look at, in bytes.
const maxMatch = 2000

// matched looks for rules that begin at a line. m is the heaviest one, nil for none. lift is a rule
// that lends m its weight and class, nil for none. test is the index of the failed test that the
// line names, -1 for none.
func (r *logReader) matched(l *line, h keywordHits, known bool, count int) (m, lift *rule, test int) {
	test = -1
	if !h.any {
		return nil, nil, test
	}
	text := l.text
	if len(text) > maxMatch {
		text = text[:maxMatch]
	}
	for i, set := range h.rules {
		for set != 0 {
			ru := &r.set.rules[i*64+bits.TrailingZeros64(set)]
			set &= set - 1
			if ru.needs != noHeading && (r.heads[ru.needs] == 0 || l.n-r.heads[ru.needs] > maxStanding) {
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
			if ru.item && (count > 0 || wholeRun.Match(text)) {
				continue
			}
			if ru.opens != noHeading {
				r.heads[ru.opens] = l.n
				return lift, nil, test
			}
			if ru.class == TestFailure && ru.needs != numberedList && !known {
				test = r.noteTest(ru, text)
			}
			if !ru.soft {
				return ru, lift, test
			}
			// Words that say what is the matter lend their weight to the block
			// that a tool's own format makes of the line.
			if lift == nil {
				lift = ru
			}
		}
	}
	return lift, nil, test
}

// byRun is what runners print beside a test's name that differs from run to run: how long it took, when, and which of
// how many it was. TAP has it in a comment.
var byRun = lazyregexp.New(`^(\[(xUnit\.net )?[ \d:.]+s?\] +|\d+:\d\d \+\d+( ~\d+)?( -\d+)?: |\d+/\d+ Test +#\d+: )|` +
	` +([(\[]<? ?[\d.]+ ?m?s[)\]]|# time=\S+( \{)?)$`)

// noteTest notes the failed test that a line names and returns its index, or -1
// when the line names none or too many are known.
func (r *logReader) noteTest(ru *rule, text []byte) int {
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
	return r.addTest(t)
}

// testName is the name that a line gives a test, without what is said beside it.
func testName(b []byte) string {
	name := printableText(clipText(byRun.ReplaceAll(b, nil)))
	if strings.Contains(name, "::") {
		name, _, _ = strings.Cut(name, " - ") // a summary says why behind the name
	}
	return name
}

// addTest notes a failed test and returns its index, or -1 when it has no name or is known.
func (r *logReader) addTest(t Test) int {
	if t.Name == "" || len(r.tests) == MaxTests {
		return -1
	}
	if r.seen[t.Name] {
		if t.File != "" {
			r.placeTest(t)
		}
		return -1
	}
	if known := r.completeName(t.Name); known >= 0 {
		return known
	}
	r.seen[t.Name] = true
	r.tests = append(r.tests, t)
	return len(r.tests) - 1
}

// placeTest gives a known test the place that a later line names.
func (r *logReader) placeTest(named Test) {
	for i := range r.tests {
		if t := &r.tests[i]; t.File == "" && t.Name == named.Name {
			t.File, t.Line = named.File, named.Line
		}
	}
}

// completeName gives a known test the full name that a summary uses: "tests/a.py::test_b" for
// "test_b". It returns the test's index, or -1 when no known test has such a name.
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
			r.seen[full] = true
			return i
		}
	}
	return -1
}

// codeLocation is a place in code as compilers, Python, .NET, Perl and Dart write it:
// a path with an extension, and a line.
var codeLocation = lazyregexp.New(`([\w@+./\\-]*\w\.[A-Za-z]\w{0,9})(?::|:line |", line | line |` +
	`\((?:\d+,)?)(\d+)\b|([\w@+./\\-]*\w\.[A-Za-z]\w{0,9}) (\d+):\d+\b`)

// testPath recognises paths of tests.
var testPath = lazyregexp.New(`(?i)test|spec`)

// installed recognises paths of packages and of a language's own library, in which a stack only passes.
var installed = lazyregexp.New(`(^|[/\\])((site|dist)-packages|node_modules|gems|go[/\\]pkg[/\\]mod|rustlib|` +
	`\.cargo[/\\](registry|git)|(lib|Lib)[/\\]python\d[\d.]*|go(/[\d.]+/x64)?/src|rustc/[0-9a-f]{40})[/\\]|` +
	`^(node:|/usr/(lib|share)/|/rustc/)`)

// locateTest fills in the place of a failed test. It is the first place in the block that looks
// like a test's file, else the first place of any kind; one in an installed package only where there is no other.
// What could not be loaded is where the reason says.
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

// place fills in the place that lines name for a test.
func (t *Test) place(ls []textLine) {
	like, own := false, false
	for _, l := range ls {
		m := codeLocation.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		file, at := m[1]+m[3], m[2]+m[4]
		isOwn := !installed.MatchString(file)
		isLike := isOwn && testPath.MatchString(file)
		if t.File == "" || isOwn && !own || isLike && !like {
			t.File, t.Line = file, parseDecimal([]byte(at))
			like, own = isLike, isOwn
		}
		if like {
			return
		}
	}
}

// maxSuites is how many lines the name of a test has at most in a numbered list.
const maxSuites = 8

// nestedName is the name of a test in a numbered list. Mocha prints it on several lines: the suites from the
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

// parseDecimal reads a decimal number; 0 when it is none or absurdly large.
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
