package failure

import "bytes"

// generalRules recognise formats that unrelated tools share.
func generalRules() []rule {
	return []rule{
		// The name of a failed item, after or before a sign or a capitalised word of failure.
		{name: "a failed item", keys: keys("✗", "✘", "✖", "✕", "×", "❌", "●", "[-]", "(x)"),
			match: re(`^\s*(\(\d+/\d+\)\s+)?(\[\w+\]\s+)?([-*•]\s+)?(✗|✘|✖|✕|×|❌|●|\[-\]|\(X\)) +` +
				`(?P<test>[^\s\d=:].*?)(\s+[\d.]+m?s.*)?$`),
			extent: itemDetails, weight: 72, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("fail", "not ok", ") error : "),
			match: re(`^\s*(\[\w+\]\s+)?([-*•#=]+\s+)?` +
				`(\[? *(FAIL|Fail|Failed)(ED|URE)? *\]:?|FAIL(ED)?: |FAIL(ED)? +|FAILED|Failure \[|` +
				`\d+\) (Failed|Error) : |(.*: )?Test Failed at |[Tt]est [Ff]ailed:?|Failed (\(TODO\) )?test |not ok \d+( -)?)` +
				`\s*(?P<test>[^\s\d=:].*?)( +[(\[][\d.]+ ?m?s[)\]])?$`),
			extent: itemDetails, weight: 78, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("fail", "[e]", "✗", "❌"),
			match: re(`^\s*(\[\w+\]\s+)?([-*•]\s+)?(test )?(?P<test>[^\s=].*?)[\s.:]+` +
				`(\*{3}Failed|(\*{2,3} ?)?\[?FAIL(ED|URE)?\]?|\[E\]|✗|❌)!?( ?\*{2,3})?( +[(\[]?[\d.]+ ?(m?s|sec)?[)\]]?)?$`),
			extent: itemDetails, weight: 78, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("failed "),
			match:  re(`^\s*Failed (?P<test>(\w{3}|[A-Z]).*?) \[(< )?\d+ m?[smhd]( \d+ m?[smhd])*\]$`),
			extent: itemDetails, weight: 86, class: TestFailure, item: true},
		{name: "a failed item", keys: keys("failed "),
			match:  re(`^failed (?P<test>([A-Z]|\w+\.\w).*?) \((\d+m?[smhd] ?)+\)$`),
			extent: itemDetails, weight: 86, class: TestFailure, item: true},
		{name: "a failed test, numbered", keys: keys(") test ", ") property ", ") doctest ", " › "),
			match:  re(`^\s+\d+\) (?P<test>(test|property|doctest) .+ \(.+\)|.* › .*?)[ ─]*$`),
			extent: indentedLines, weight: 88, class: TestFailure},
		{name: "a failed assertion and its place",
			keys: keys(": failure", ": failed:", ": error: ", ": fatal error: ", "error: in \""),
			match: re(`^(?P<file>[^\s(:]+)[:(](?P<line>\d+)\)?: ` +
				`(Failure$|FAILED:|(FATAL )?ERROR: |(fatal )?error: in "(?P<test>[^"]+)"|` +
				`error: -?\[?[\w.]+[ .]\w+\]? : )`),
			extent: itemDetails, weight: 88, class: TestFailure, joins: true},
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

		// Missing dependencies and memory.
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
			extent: itemDetails, weight: 74, class: Dependency},
		{name: "out of memory", soft: true,
			keys: keys("outofmemory", "out of memory", "cannot allocate memory", "oom", "memory exhausted", "bad_alloc",
				"exit code 137", "killed"),
			match: re(`(\bOutOfMemory|(?i:out of memory|cannot allocate memory|memory exhausted)|` +
				`\bOOM(Killed|-killed| killer)|std::bad_alloc|exit(ed with)? code 137|(^|: |\s{2,})Killed(: 9)?(\s|$))`),
			extent: stackTrace, weight: 78, class: OutOfMemory},
	}
}

// runResult matches the result of a whole run, Jest's heading over a test's output, and TAP's todo and skip lines. None
// of them is a failed item.
var runResult = re(`(?i)\b(build|tests?|job|suite|run|result|stat(e|us)|compilation|finished|summary)s?\W+` +
	`(has |have |is )?\*{0,3}\s*fail(ed|ure)?\W*$|^(> Task )?:\S+ FAILED|\b(summary|failing tests)\W*$|^\s*● Console$|` +
	`^\s*(not ok\b.* # (todo|skip)\b|✖ .* \([\d.]+ms\) # )|^\*\* \w+ failed \*\*$`)

// statement matches text next to a sign of failure that is a message, not the name of an item.
var statement = re(`(?i)^(\[error\]|error|fatal|fail(ed|ure)?|could ?n[o']t|can('t|not)|unable to|missing|invalid|` +
	`no) |^(error|fatal):|\b(failed|not found|errors|error:)\W*$|^(some errors|found \d+) | \[[a-z]+(-[a-z]+)+\]$`)

// itemName returns the name of the item that rule m finds on a line.
func itemName(m *rule, text []byte) []byte {
	if len(text) > maxMatch {
		text = text[:maxMatch]
	}
	if found := m.match.FindSubmatch(text); found != nil {
		return found[m.match.SubexpIndex(groupTest)]
	}
	return nil
}

// item returns the name of the failed item that the block is about, without the text around it.
func (b *block) item() string {
	return testName(itemName(b.rule, []byte(b.headline().lastText())))
}

// maxFlat is the maximum number of lines in a failed item's block that are not indented deeper than its head.
const maxFlat = 12

// itemDetails continues over the details under the head: deeper lines, or, up to a blank line, lines that neither
// report a pass nor have the head's form.
func itemDetails(b *block, l *line) placement {
	if l.blank() {
		if b.message > 0 {
			return outsideBlock
		}
		return maybeInside
	}
	if tag := b.tag(); tag != "" && !hasPrefix(l.text, tag) {
		return outsideBlock // another program's output
	}
	if depthBelowHead(b, l) > 0 {
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

// commentLine continues a block in comments over comment lines only.
func commentLine(l *line) placement {
	if l.text[l.indentBytes()] == '#' {
		return insideBlock
	}
	return outsideBlock
}

// depthBelowHead returns the indentation of a line relative to the block's head. A common tag at the beginning of both,
// such as "[info] ", is ignored.
func depthBelowHead(b *block, l *line) int {
	head := b.first[min(b.head-b.start, len(b.first)-1)].text
	if n := tagLength([]byte(head)); n > 0 && len(l.text) >= n && string(l.text[:n]) == head[:n] {
		return max(0, indentOf(l.text[n:])) - max(0, indentOf([]byte(head[n:])))
	}
	return l.indent - b.indent
}

// tag returns the tag at the beginning of the block's head, such as "[info] ".
func (b *block) tag() string {
	head := b.first[min(b.head-b.start, len(b.first)-1)].text
	return head[:tagLength([]byte(head))]
}

// tagLength returns the length of the tag at the beginning of a line, including one space: "[info] ".
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

// ruler matches a drawn line without words.
var ruler = re(`^\PL*([-=_*~+#]{8}|[\x{2190}-\x{2bff}]{8})\PL*$`)

// passes reports whether a line reports that something passed, is the result of a whole run, or is a ruler.
func passes(b []byte) bool {
	if runResult.Match(b) || ruler.Match(b) {
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
