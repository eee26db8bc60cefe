package failure

// lintRules recognise linters and formatters.
func lintRules() []rule {
	return []rule{
		{name: "findings of a file, by line", keys: keys("error  ", "  error", "warning  ", "  warning", "✖", "×", "⚠"),
			match:  re(`^\s+(?P<line>\d+):\d+\s+(error|warning|✖|×|⚠)\s+\S`),
			extent: fileFindings, weight: 78, class: LintFormat, above: 1},
		{name: "a Python type checker, an error", keys: keys(": error: ", " - error: "),
			match:  re(`^\s*(?P<file>\S+\.pyi?):(?P<line>\d+)(:\d+)?(:| -) error: `),
			extent: locatedFindings, weight: 87, class: TypeError},
		{name: "a Go linter, a finding", keys: keys(".go:"),
			match: re(`^(?P<file>[\w./\\@-]+\.go):(?P<line>\d+)(:\d+)?:? .*(\([\w,/ -]+\)|` +
				`should (have|be|not|use|replace|omit)|\b(SA|ST|S|QF)\d{4}\b|is deprecated|exported \w+|don't use|` +
				`is a misspelling|not checked|is unused|ineffectual|simplify|redundant|could be|can be).*$`),
			extent: goFindings, weight: 76, class: LintFormat},
		{name: "a formatter, a file to format", soft: true,
			keys: keys("would reformat", "would be reformatted", "files were modified by this hook", "incorrectly formatted",
				"not formatted", "needs formatting", "code style issues", "needs to be formatted", "would be formatted",
				"format violations", "not properly formatted", "formatting problems", "incorrectly sorted"),
			extent: indentedParagraph, weight: 72, class: LintFormat},
		{name: "a linter, a finding and its place", keys: keys("--> "),
			match: re(`^\s+--> (?P<file>\S+):(?P<line>\d+):\d+$`), under: re(`^[A-Z]{1,6}\d{2,5} `), above: 1,
			extent: whileMatching, stop: re(`^\s*((\d+ )?\||(help|note|info): )`), weight: 76, class: LintFormat},
		{name: "a linter, a finding by line", keys: keys(":"), errs: true,
			match: re(`^\s*\[?(?P<file>\.{0,2}/?([\w@+-]+[./\\]+)*[\w@+-]*\.[A-Za-z]\w{0,9}): ?` +
				`(?P<line>\d+)(:\d+)?\]?(:?\s+\S|:[^\s\d]).*$`),
			extent: locatedFindings, weight: 44, class: LintFormat},
	}
}

// locatedFindings continues over further findings of the same tool and over indented details.
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

// fileFindings continues over eslint's findings, which are indented under file names.
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

// diffLines continues over a unified diff.
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
