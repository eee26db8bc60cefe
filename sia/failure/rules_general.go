package failure

import "bytes"

// generalRules recognise what tools that know nothing of one another print alike.
func generalRules() []rule {
	return []rule{
		// What failed, after a sign or a word of failure in capitals, or before one.
		{name: "a failed item", keys: keys("✗", "✘", "✖", "✕", "×", "❌", "●", "[-]", "(x)"),
			match: re(`^\s*(\(\d+/\d+\)\s+)?(\[\w+\]\s+)?([-*•]\s+)?(✗|✘|✖|✕|×|❌|●|\[-\]|\(X\)) +` +
				`(?P<test>[^\s\d=:].*?)(\s+[\d.]+m?s.*)?$`),
			extent: toldUnder, weight: 72, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("fail", "not ok", ") error : "),
			match: re(`^\s*(\[\w+\]\s+)?([-*•#=]+\s+)?` +
				`(\[? *(FAIL|Fail|Failed)(ED|URE)? *\]:?|FAIL(ED)?: |FAIL(ED)? +|FAILED|Failure \[|` +
				`\d+\) (Failed|Error) : |(.*: )?Test Failed at |[Tt]est [Ff]ailed:?|Failed (\(TODO\) )?test |not ok \d+( -)?)` +
				`\s*(?P<test>[^\s\d=:].*?)( +[(\[][\d.]+ ?m?s[)\]])?$`),
			extent: toldUnder, weight: 78, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("fail", "[e]", "✗", "❌"),
			match: re(`^\s*(\[\w+\]\s+)?([-*•]\s+)?(test )?(?P<test>[^\s=].*?)[\s.:]+` +
				`(\*{3}Failed|(\*{2,3} ?)?\[?FAIL(ED|URE)?\]?|\[E\]|✗|❌)!?( ?\*{2,3})?( +[(\[]?[\d.]+ ?(m?s|sec)?[)\]]?)?$`),
			extent: toldUnder, weight: 78, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("failed "),
			match:  re(`^\s*Failed (?P<test>(\w{3}|[A-Z]).*?) \[(< )?\d+ m?[smhd]( \d+ m?[smhd])*\]$`),
			extent: toldUnder, weight: 86, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("failed "),
			match:  re(`^failed (?P<test>([A-Z]|\w+\.\w).*?) \((\d+m?[smhd] ?)+\)$`),
			extent: toldUnder, weight: 86, class: TestFailure, item: true},
		{name: "a failed test, numbered", keys: keys(") test ", ") property ", ") doctest ", " › "),
			match:  re(`^\s+\d+\) (?P<test>(test|property|doctest) .+ \(.+\)|.* › .*?)[ ─]*$`),
			extent: indentedLines, weight: 88, class: TestFailure},
		{name: "a failed assertion and its place",
			keys: keys(": failure", ": failed:", ": error: ", ": fatal error: ", "error: in \""),
			match: re(`^(?P<file>[^\s(:]+)[:(](?P<line>\d+)\)?: ` +
				`(Failure$|FAILED:|(FATAL )?ERROR: |(fatal )?error: in "(?P<test>[^"]+)"|` +
				`error: -?\[?[\w.]+[ .]\w+\]? : )`),
			extent: toldUnder, weight: 88, class: TestFailure, joins: true},
		{name: "a failed assertion", keys: keys("assertion failed"), match: re(`(?i)assertion failed`), extent: stackTrace,
			weight: 76, class: TestFailure},
		{name: "a list of failures", keys: keys(" failing", "failures:", "failed tests:", "failed examples:", "there w"),
			match: re(`^\s*(\d+ failing|(Failures|Failed tests|There (was|were) \d+ (failure|error|risky test|warning)s?|` +
				`FAILURES|\d+ failures?):\s*)$`),
			extent: singleLine, weight: 30, class: TestFailure, opens: numberedList},

		{name: "a failed test in a list", keys: keys(") "),
			match: re(`^\s{0,6}\d+\) (?P<test>\S.*)$`),
			needs: numberedList, extent: untilStop,
			stop: re(`^(\s{0,6}\d+\) \S|Finished in|Failed examples:|Tests: |FAILURES!|ERRORS!|--$|` +
				`\d+ (examples?|tests?|assertions?|specs?)\b|Randomized with|Rerun|npm ERR|error Command|Time: |Ran \d+|` +
				`There (was|were) \d|OK|={10,}|-{10,}|make|Done|=+ |Test Suite)`), weight: 86, class: TestFailure},

		// A place in code, and an error there.
		{name: "a compiler, an error", keys: keys(": error:", ": fatal error:"),
			match: re(`^\s*(\[\w+\] )?(?P<file>(/|[A-Za-z]:[\\/])?[^\s:()]+)[:(] ?\(?(?P<line>\d+)([:,.-]\d+)*\)?:? ` +
				`?(: )?(fatal )?[Ee]rror:? `),
			extent: caretLines, weight: 85, class: CompileError},
		{name: "a compiler, an error", keys: keys("e: "),
			match:  re(`^e: (file://)?(?P<file>\S+\.kts?):? ?\(?(?P<line>\d+)[,:]`),
			extent: singleLine, weight: 85, class: CompileError},
		{name: "a formatter's difference", keys: keys("diff in ", "diff -u", "diff --git"),
			match: re(`^(Diff in \S+|diff (-u|--git) \S+)`), extent: diffLines, weight: 60, class: LintFormat},
		{name: "a compiler, an error with its number", keys: keys(": error ", " error lnk", "error c"),
			match:  re(`(?P<file>[^\s(]*)(\((?P<line>\d+)[,\d]*\))?\s?: (fatal )?error [A-Z]{1,6}\d+`),
			extent: singleLine, weight: 84, class: CompileError},
		{name: "a compiler, a warning with its number", keys: keys(": warning "),
			match: re(`: warning [A-Z]{2,6}\d+: `), extent: locatedFindings, weight: 14, class: CompileError},
		{name: "a warning and its place", keys: keys("warning"),
			match:  re(`^\s*\[?(?P<file>[\w@+./\\-]*\w\.[A-Za-z]\w{0,9})[:(] ?(?P<line>\d+)\S* .*\b[Ww]arning\b`),
			extent: locatedFindings, weight: 14, class: Unknown},
		{name: "a build's configuration, an error", keys: keys("cmake error", "configure: error"),
			match: re(`^\s*(CMake Error|configure: error)`), extent: indentedLines, weight: 77, class: ConfigError},

		// What is missing.
		{name: "an unresolved dependency", soft: true, joins: true,
			keys: keys("could not find a version that", "no matching distribution", "no matching package", "no matching version",
				"resolutionimpossible", "conflicting dependencies", "could not install packages", "no solution found when",
				"requirements could not be resolved", "could not find compatible versions", "could not find gem",
				"in any of the sources", "an error occurred while installing", "failed to select a version", "unknown revision",
				"cannot find package", "no required module provides", "cannot find module providing", "missing go.sum entry",
				"resolvepackagenotfound", "unsatisfiableerror", "packagesnotfounderror", "could not resolve dependencies",
				"could not resolve all", "could not find artifact", "could not transfer artifact", "non-resolvable",
				"while constructing the build plan", "there is no package called", "unresolved dependenc", "unmet dependencies",
				"unable to locate package", "nothing provides ", "no match for argument"),
			extent: toldUnder, weight: 74, class: Dependency},
		{name: "out of memory", soft: true,
			keys: keys("outofmemory", "out of memory", "cannot allocate memory", "oom", "memory exhausted", "bad_alloc",
				"exit code 137", "killed"),
			match: re(`(\bOutOfMemory|(?i:out of memory|cannot allocate memory|memory exhausted)|` +
				`\bOOM(Killed|-killed| killer)|std::bad_alloc|exit(ed with)? code 137|(^|: |\s{2,})Killed(: 9)?(\s|$))`),
			extent: stackTrace, weight: 78, class: OutOfMemory},
	}
}

// wholeRun recognises the verdict on a whole run, Jest's heading over what a test printed, and what TAP says is not to
// pass yet: none is a failed item.
var wholeRun = re(`(?i)\b(build|tests?|job|suite|run|result|stat(e|us)|compilation|finished|summary)s?\W+` +
	`(has |have |is )?\*{0,3}\s*fail(ed|ure)?\W*$|^(> Task )?:\S+ FAILED|\b(summary|failing tests)\W*$|^\s*● Console$|` +
	`^\s*(not ok\b.* # (todo|skip)\b|✖ .* \([\d.]+ms\) # )`)

// statement recognises what stands beside a sign of failure and says that something went wrong: no item's name.
var statement = re(`(?i)^(\[error\]|error|fatal|fail(ed|ure)?|could ?n[o']t|can('t|not)|unable to|missing|invalid|` +
	`no) |^(error|fatal):|\b(failed|not found|errors|error:)\W*$|^(some errors|found \d+) | \[[a-z]+(-[a-z]+)+\]$`)

// itemName is what a rule for items names on a line.
func itemName(m *rule, text []byte) []byte {
	if len(text) > maxMatch {
		text = text[:maxMatch]
	}
	if found := m.match.FindSubmatch(text); found != nil {
		return found[m.match.SubexpIndex(groupTest)]
	}
	return nil
}

// item is the name of the failed item that the block tells of, without what is said beside it.
func (b *block) item() string {
	return testName(itemName(b.rule, []byte(b.headline().lastText())))
}

// maxFlat is how many lines that are no deeper than the first one a failed item may tell.
const maxFlat = 12

// toldUnder goes on over what is said under the head: lines that are deeper, or, up to a blank line,
// lines that neither pass nor have the head's form.
func toldUnder(b *block, l *line) placement {
	if l.blank() {
		if b.message > 0 {
			return outsideBlock
		}
		return maybeInside
	}
	if tag := b.tag(); tag != "" && !hasPrefix(l.text, tag) {
		return outsideBlock // another program's output
	}
	if depthUnder(b, l) > 0 {
		if passes(l.text) {
			return maybeInside
		}
		return insideBlock
	}
	if h := bytes.TrimLeft([]byte(b.first[0].text), " "); len(h) > 0 && h[0] == '#' {
		return commentLine(l)
	}
	if b.blankBefore || b.message == maxFlat || b.form != 0 && formOf(l.text) == b.form || passes(l.text) {
		return outsideBlock
	}
	b.message++
	return insideBlock
}

// commentLine lets what is shown in comments go on in comments alone.
func commentLine(l *line) placement {
	if l.text[l.indentBytes()] == '#' {
		return insideBlock
	}
	return outsideBlock
}

// depthUnder is by how much a line is indented deeper than the block's head. A tag that both begin
// with, such as "[info] ", is a part of the margin.
func depthUnder(b *block, l *line) int {
	head := b.first[min(b.head-b.start, len(b.first)-1)].text
	if n := tagLength([]byte(head)); n > 0 && len(l.text) >= n && string(l.text[:n]) == head[:n] {
		return max(0, indentOf(l.text[n:])) - max(0, indentOf([]byte(head[n:])))
	}
	return l.indent - b.indent
}

// tag is the tag that the block's head begins with, such as "[info] ".
func (b *block) tag() string {
	head := b.first[min(b.head-b.start, len(b.first)-1)].text
	return head[:tagLength([]byte(head))]
}

// tagLength is the length of a tag that a line begins with, with one space: "[info] ".
func tagLength(b []byte) int {
	start := len(b) - len(bytes.TrimLeft(b, " \t"))
	if len(b) < start+4 || b[start] != '[' {
		return 0
	}
	for i := start + 1; i < len(b) && i < start+16; i++ {
		switch {
		case b[i] == ']' && i+1 < len(b) && b[i+1] == ' ':
			return i + 2
		case !isLower(b[i]) && !isUpper(b[i]):
			return 0
		}
	}
	return 0
}

// ruler recognises a line that is drawn and says nothing.
var ruler = re(`^\PL*([-=_*~+#]{8}|[\x{2190}-\x{2bff}]{8})\PL*$`)

// passes reports whether a line says that something passed, or judges a whole run, or is a ruler.
func passes(b []byte) bool {
	if wholeRun.Match(b) || ruler.Match(b) {
		return true
	}
	t := b[tagLength(b):]
	for len(t) > 0 && (t[0] == ' ' || t[0] == '\t' || t[0] == '-' || t[0] == '*') {
		t = t[1:]
	}
	for _, p := range []string{"ok", "OK", "PASS", "✓", "✔", "✅", "√", "[+]", "[PASS", "Passed", "passed", "SKIP",
		"skip", "[ ", "[-"} {
		if hasPrefix(t, p) {
			return true
		}
	}
	return false
}
