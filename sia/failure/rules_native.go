package failure

// nativeRules recognise test runners of C, C++, .NET, Swift, Haskell, Erlang and
// of shells, and what they have in common with no one else.
func nativeRules() []rule {
	return []rule{
		{name: "GoogleTest, a failed assertion", keys: keys(": failure"),
			match:  re(`^(?P<file>[^\s(:]+)[:(](?P<line>\d+)\)?: Failure$`),
			extent: untilStop, stop: re(`^(\[ |\S+[:(]\d+\)?: Failure)`), weight: 88, class: TestFailure},
		{name: "GoogleTest, a failed test", keys: keys("[  failed  ]"),
			match:  re(`^\[  FAILED  \] (?P<test>[A-Za-z]\S*?),?( \(\d+ ms\)| where .*)?$`),
			extent: whileMatching, stop: re(`^\[  FAILED  \]`), weight: 70, class: TestFailure, tells: true, takes: true},
		{name: "CTest, a failed test", keys: keys("***failed", "***exception", "***timeout", "***not run"),
			match:  re(`^\s*\d+/\d+ +Test +#\d+: (?P<test>\S+) \.*\*\*\*`),
			extent: untilStop, stop: re(`^\s*(\d+/\d+ +Test|Start +\d+:|\d+% tests)`), weight: 82, class: TestFailure},
		{name: "CTest, the summary", keys: keys("following tests failed"),
			match:  re(`^The following tests FAILED:`),
			extent: indentedParagraph, weight: 66, class: TestFailure, tells: true, takes: true},
		{name: "Catch2, a failed assertion", keys: keys(": failed:"),
			match:  re(`^(?P<file>\S+?)[:(](?P<line>\d+)\)?: FAILED:`),
			extent: untilStop, stop: re(`^([=\-.]{20,}|test cases:)`), weight: 86, class: TestFailure},
		{name: "doctest, a failed assertion", keys: keys(": error: ", ": fatal error: "),
			match:  re(`^(?P<file>\S+?)[:(](?P<line>\d+)\)?: (FATAL )?ERROR: `),
			extent: untilStop, stop: re(`^(={20,}|\[doctest\])`), weight: 86, class: TestFailure},
		{name: "Boost.Test, a failed assertion", keys: keys("error: in \""),
			match:  re(`^(?P<file>\S+?)[:(](?P<line>\d+)\)?: (fatal )?error: in "(?P<test>[^"]+)"`),
			extent: singleLine, weight: 88, class: TestFailure},
		{name: "automake, a failed test", keys: keys("fail: ", "xpass: "),
			match:  re(`^(FAIL|XPASS|ERROR): (?P<test>[\w./:+-]+( :: .*)?)( \(\d+ of \d+\))?$`),
			extent: singleLine, weight: 68, class: TestFailure},
		{name: "a failed test", keys: keys("[fail"),
			match: re(`^\s*\[(FAIL|FAILED)\]:?\s+(?P<test>\S.*)$`), extent: indentedParagraph, weight: 74, class: TestFailure},
		{name: "a failed test", keys: keys("... fail", "... error"),
			match:  re(`^(?P<test>\S.*?) \.\.\. (FAILED|FAIL|ERROR)( \(.*\))?$`),
			extent: singleLine, weight: 64, class: TestFailure},
		{name: "a failed test", keys: keys("fail "),
			match: re(`^\s*(FAIL|FAILED) +(?P<test>[\w./:-]+)$`), extent: indentedParagraph, weight: 62, class: TestFailure},
		{name: "Tcl, a failed test", keys: keys("[err]: ", "[exception]: "),
			match: re(`^\s*\[(err|exception)\]: (?P<test>.*)$`), extent: toBlankLine, weight: 76, class: TestFailure},
		{name: "shunit2, a failed assertion", keys: keys("assert:"),
			match: re(`^ASSERT:`), extent: singleLine, weight: 74, class: TestFailure},

		{name: "dotnet test, a failed test", keys: keys("failed ", "x "),
			match:  re(`^\s*(Failed|X) (?P<test>\w+(\.[\w<>+]+)+(\(.*\))?)( \[.*\])?$`),
			extent: untilStop,
			stop:   re(`^\s*((Failed|Passed|Skipped|X|√|V|!) \w|Failed!|Passed!|Test Run|Total tests|Results File)`),
			weight: 86,
			class:  TestFailure},
		{name: "xUnit.net, a failed test", keys: keys("[fail]"),
			match:  re(`^\s*(\[xUnit\.net .*\])?\s+(?P<test>\S.*) \[FAIL\]$`),
			extent: indentedOrTagged, weight: 84, class: TestFailure},
		{name: "NUnit, a failed test", keys: keys(") failed : ", ") error : ", ") test failure : ", ") test error : "),
			match:  re(`^\d+\) (Failed|Error|Test Failure|Test Error) : (?P<test>\S+)`),
			extent: untilStop, stop: re(`^(\d+\) |Run Settings|Test Run)`), weight: 86, class: TestFailure},

		{name: "XCTest, a failed assertion", keys: keys(": error: "),
			match:  re(`^(?P<file>\S+\.(swift|mm?)):(?P<line>\d+): error: -?\[?(?P<test>[\w.]+[ .]\w+)\]? : `),
			extent: singleLine, weight: 88, class: TestFailure},
		{name: "XCTest, a failed test", keys: keys("' failed ("),
			match: re(`^Test Case '-?\[?(?P<test>[^\]']+)\]?' failed \(`), extent: singleLine, weight: 66, class: TestFailure},

		{name: "HUnit, a failed test", keys: keys("### failure", "### error"),
			match: re(`^### (Failure|Error) in: (?P<test>.*)$`), extent: toBlankLine, weight: 84, class: TestFailure},
		{name: "QuickCheck, a falsified property", keys: keys("*** failed!"),
			match: re(`\*\*\* Failed!`), extent: toBlankLine, weight: 78, class: TestFailure, above: 1},
		{name: "Common Test, a failed case", keys: keys(": failed"),
			match:  re(`^%%% (?P<test>.*): FAILED$`),
			extent: untilStop, stop: re(`^(%%% .*(OK|FAILED)|\S+ ok)`), weight: 84, class: TestFailure},
		{name: "munit, a failed test", keys: keys("==> x "),
			match:  re(`^(\[\w+\] )?==> X (?P<test>\S.*)$`),
			extent: whileMatching, stop: re(`^(\[\w+\]|\s)`), weight: 86, class: TestFailure},
		{name: "Spock, a failed condition", keys: keys("condition not satisfied"),
			match: re(`Condition not satisfied:`), extent: indentedLines, weight: 78, class: TestFailure},
		{name: "Playwright, a failed test", keys: keys(" › "),
			match:  re(`^\s+\d+\) (?P<test>(\[.*\] › )?(?P<file>\S+?):(?P<line>\d+):\d+ › .*?)[ ─]*$`),
			extent: untilStop, stop: re(`^\s+(\d+\) |\d+ (failed|flaky|passed|did not run))`), weight: 87, class: TestFailure},
		{name: "behave or Behat, failed scenarios", keys: keys("failing scenarios:", "failed scenarios:"),
			match:  re(`(?i)^\s*(-+ )?fail(ing|ed) scenarios:`),
			extent: indentedLines, weight: 62, class: TestFailure, tells: true, takes: true},
	}
}

// indentedOrTagged goes on over what is indented deeper, or bears xUnit.net's tag.
func indentedOrTagged(b *block, l *line) placement {
	if hasPrefix(l.text, "[xUnit.net") {
		return insideBlock
	}
	return indentedParagraph(b, l)
}
