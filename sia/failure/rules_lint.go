package failure

// lintRules recognise linters and formatters.
func lintRules() []rule {
	return []rule{
		{name: "eslint, findings of a file", keys: keys("error  ", "  error", "warning  ", "  warning"),
			match:  re(`^\s+(?P<line>\d+):\d+\s+(error|warning|✖|×)\s+\S`),
			extent: fileFindings, weight: 78, class: LintFormat, above: 1},
		{name: "stylelint, findings of a file", keys: keys("\t", "✖", "⚠"),
			match:  re(`^\s*(?P<line>\d+):\d+\s+(✖|×|⚠)?\s*\S`),
			extent: fileFindings, weight: 66, class: LintFormat, above: 1},
		{name: "a Python linter, a finding", keys: keys(".py:", ".pyi:", ".pyx:", ".ipynb:"),
			match:  re(`^(?P<file>\S+\.(pyi?|pyx|ipynb)(:cell \d+)?):(?P<line>\d+)(:\d+)?:? (\[?[A-Z]{1,4}\d{2,4}\b|[a-z-]+: )`),
			extent: locatedFindings, weight: 76, class: LintFormat},
		{name: "shellcheck, a finding", keys: keys("in "),
			match: re(`^In (?P<file>\S+) line (?P<line>\d+):$`), extent: toBlankLine, weight: 80, class: LintFormat},
		{name: "SwiftLint, a finding", keys: keys(" violation: "),
			match:  re(`^(?P<file>\S+\.swift):(?P<line>\d+)(:\d+)?: (error|warning): .*Violation: `),
			extent: locatedFindings, weight: 87, class: LintFormat},
		{name: "a Python type checker, an error", keys: keys(": error: ", " - error: "),
			match:  re(`^\s*(?P<file>\S+\.pyi?):(?P<line>\d+)(:\d+)?(:| -) error: `),
			extent: locatedFindings, weight: 87, class: TypeError},
		{name: "a Go linter, a finding", keys: keys(".go:"),
			match: re(`^(?P<file>[\w./\\@-]+\.go):(?P<line>\d+)(:\d+)?:? .*(\([\w,/ -]+\)|` +
				`should (have|be|not|use|replace|omit)|\b(SA|ST|S|QF)\d{4}\b|is deprecated|exported \w+|don't use|` +
				`is a misspelling|not checked|is unused|ineffectual|simplify|redundant|could be|can be).*$`),
			extent: goFindings, weight: 76, class: LintFormat},
		{name: "black, a file to format",
			keys: keys("would reformat", "would be reformatted", "files were modified by this hook", "incorrectly formatted",
				"not formatted", "needs formatting", "code style issues", "needs to be formatted", "reformatted",
				"would be formatted", "file is not formatted", "format violations", "not properly formatted",
				"formatting problems", "incorrectly sorted"),
			match: re(`(?i)(would reformat|would be reformatted|files were modified by this hook|` +
				`(incorrectly|not( properly)?) formatted|incorrectly sorted|needs (formatting|to be formatted)|` +
				`code style issues|would be formatted|format violations|formatting problems)`),
			extent: indentedParagraph, weight: 72, class: LintFormat},
		{name: "a linter, a finding by line", keys: keys(":"),
			match:  re(`^\s*\[?(?P<file>\.{0,2}/?([\w@+-]+[./\\]+)*[\w@+-]*\.[A-Za-z]\w{0,9}): ?(?P<line>\d+)(:\d+)?:?\s?\S.*$`),
			extent: locatedFindings, weight: 44, class: LintFormat},
		{name: "a link checker's findings", keys: keys("issues :-(", "dead links", "[✖] ", "status: 4"),
			match:  re(`^\s*(Issues :-\(|\[✖\] \S|ERROR: \d+ dead links)`),
			extent: untilStop, stop: re(`^(Wrote |\s*\[✓\]|\d+ links checked)`), weight: 70, class: TestFailure},
		{name: "HTMLProofer, findings", keys: keys("external link", "internally linking", "internal link", "image "),
			match:  re(`^\s+\*\s+.*\b(link|linking|[Ii]mage)\b`),
			extent: locatedFindings, weight: 60, class: TestFailure, above: 1},
		{name: "Psalm, an error", keys: keys("error: ", ":error - "),
			match:  re(`^(ERROR: \w+ - (?P<file>\S+?):(?P<line>\d+):\d+ - |\S+\.php:\d+:\d+:error - )`),
			extent: locatedFindings, weight: 84, class: TypeError},
		{name: "scalastyle, a finding", keys: keys("file="),
			match:  re(`^(error|warning) file=(?P<file>\S+) message=.* line=(?P<line>\d+)`),
			extent: singleLine, weight: 80, class: LintFormat},
	}
}

// locatedFindings goes on over further findings of the same tool and over indented details.
func locatedFindings(b *block, l *line) placement {
	switch {
	case l.blank():
		return maybeInside
	case b.rule.match.Match(l.text):
		return insideBlock
	case b.blankBefore:
		return outsideBlock
	case l.indent > b.indent:
		return insideBlock
	default:
		return outsideBlock
	}
}

// fileFindings goes on over eslint's findings, which stand indented under file names.
func fileFindings(b *block, l *line) placement {
	switch {
	case l.blank():
		return maybeInside
	case b.rule.match.Match(l.text):
		return insideBlock
	case l.indent == 0 && containsAny(l.text, "/", "\\") && !containsAny(l.text, " "):
		return maybeInside
	case l.indent > 0 && !b.blankBefore:
		return insideBlock
	default:
		return outsideBlock
	}
}

// diffLines goes on over a unified difference.
func diffLines(_ *block, l *line) placement {
	if l.blank() {
		return maybeInside
	}
	switch l.text[0] {
	case '+', '-', ' ', '@', '\\', '\t', '|':
		return insideBlock
	}
	return outsideBlock
}
