package failure

import "github.com/sia-bot/sia/sia/lazyregexp"

// re compiles the pattern of a rule.
func re(pattern string) *lazyregexp.Regexp { return lazyregexp.New(pattern) }

// keys lists the keywords of a rule.
func keys(k ...string) []string { return k }

// pytestEnd matches the line after pytest's report of a test.
var pytestEnd = re(`^(_{3,} .+ _{3,}|={3,} .+ ={3,}|={20,}|-{5,} coverage: .*|-{20,}|<=+.*|\+{5,} .* \+{5,})$`)

// testRules recognise failed tests in the output of test runners.
func testRules() []rule {
	return []rule{
		// Python.
		{name: "pytest, a conftest.py that can't be loaded", keys: keys("while loading conftest"),
			match:  re(`^ImportError while loading conftest '.*'\.$`),
			extent: untilStop, stop: pytestEnd, weight: 90, class: RuntimeError},
		{name: "tox, its summary", keys: keys("_ summary _"),
			match:  re(`^_+ summary _+$`),
			extent: singleLine, weight: 92, class: TestFailure, opens: toxSummary},
		{name: "pytest, a failed test", keys: keys("____"),
			match:  re(`^_{3,} (ERROR collecting )?(?P<test>\S.*?) _{3,}$`),
			extent: untilStop, stop: pytestEnd, weight: 90, class: TestFailure},
		// faulthandler names the test in the same format when Python crashes or hangs.
		{name: "faulthandler, a test", keys: keys(" in test_"),
			match: re(`^\s*File ".*", line \d+ in (?P<test>test_\w+)$`), extent: stackTrace, weight: 82, class: TestFailure,
			lifts: true},
		{name: "unittest, a failed test", keys: keys("fail: ", "error: "),
			match:  re(`^(FAIL|ERROR): (?P<test>[\w.]+ \([\w.<>]+\)|[\w.]*test[\w.,]*( \(.*\))?|Failure: .*|Doctest: .*)$`),
			extent: throughStop,
			stop:   re(`^(={40,}|Ran \d+ tests? in .*|\s*\^?[\w.]*(Error|Exception|Warning|Exit|Interrupt|Failed)\b.*)$`),
			weight: 88, class: TestFailure},

		// Go.
		{name: "go test, a failed test", keys: keys("--- fail: "),
			match: re(`^\s*--- FAIL: (?P<test>\S+)( \(|$)`),
			grows: re(`^\s+\S+\.go:\d+: `), extent: untilStop,
			stop: re(`^(\s*--- |=== |FAIL\b|ok  \t|PASS$|\?   \t|panic: |coverage: |\S+ travis_|exit status )`), weight: 88,
			class: TestFailure},
		{name: "Go, a panic", keys: keys("panic: ", "fatal error: ", "race"),
			match:  re(`^(panic: |fatal error: |WARNING: DATA RACE)`),
			extent: untilStop, stop: re(`^(exit status |FAIL\b|ok  \t|=== |--- |={18}$|make)`), weight: 86, class: Crash},

		// Ruby.
		{name: "minitest, a failed test", keys: keys("failure:", "error:"),
			match:  re(`^\s*(\d+\) (Failure|Error)|Failure):$`),
			extent: toBlankLine, unless: re(`^\s*(\d+\) (Failure|Error)|Failure):`), weight: 84, class: TestFailure},
		{name: "minitest, the name of a failed test", keys: keys("#test_"),
			match:  re(`^(?P<test>\w+(::\w+)*#test_\w+)( \[(?P<file>[^\s:]+):(?P<line>\d+)\])?:$`),
			extent: toBlankLine, weight: 70, class: TestFailure},

		// JavaScript.
		{name: "vitest, a failed test", keys: keys(" fail  "),
			match:  re(`^ FAIL  (?P<test>(\|[^|]+\| )?\S+\.[cm]?[jt]sx? > .+)$`),
			extent: untilStop, stop: re(`^(⎯{4,}| FAIL  | Test Files )`), weight: 78, class: TestFailure, item: true},

		// Rust.
		{name: "Rust, a panic of a program", keys: keys("thread 'main'"),
			match: re(`^\s*thread 'main' .*panicked at`), extent: toBlankLine, weight: 78, class: RuntimeError},
		{name: "Rust, a panic", keys: keys("panicked at"),
			match:  re(`^\s*thread '(?P<test>.*)' .*panicked at(.* (?P<file>[^\s:']+):(?P<line>\d+):\d+:?$)?`),
			extent: toBlankLine, weight: 78, class: TestFailure},

		// Others.
		{name: "prove, a failed test", keys: keys("dubious"),
			match:  re(`Dubious, test returned \d+`),
			extent: whileMatching, stop: re(`^\s*(Failed \d+/\d+|\()`), weight: 64, class: TestFailure, above: 2},
		{name: "R CMD check, failed tests", keys: keys("running the tests in", "... error", "] error"),
			match:  re(`^(Running the tests in .* failed\.|\* checking .* \.\.\. ?(\[.*\])? ERROR)$`),
			extent: untilStop, stop: re(`^\* `), weight: 90, class: TestFailure, above: 2, absorbs: true},
		{name: "xcpretty, a failed test",
			keys:  keys("xctassert", ", expected", ", failed", ", threw", "caught error", ", asynchronous"),
			match: re(`^  (?P<test>\w+), \S.*$`), extent: xcprettyExcerpt, weight: 84, class: TestFailure, above: 1, max: 30},
	}
}

// xcprettyExcerpt continues to the end of the source excerpt that xcpretty prints.
func xcprettyExcerpt(b *block, l *line) placement {
	switch {
	case l.blank():
		return maybeInside
	case containsAny(l.text, "```"):
		b.frames++
		if b.frames == 2 {
			return lastInside
		}
		return insideBlock
	case b.frames == 1, l.indent > 0:
		return insideBlock
	default:
		return outsideBlock
	}
}
