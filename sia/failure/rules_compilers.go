package failure

// compilerRules recognise compilers, linkers, build systems and type checkers.
func compilerRules() []rule {
	return []rule{
		{name: "linker, an unresolved symbol",
			keys: keys("undefined reference", "symbol(s) not found", "undefined symbols for", "unresolved external",
				"multiple definition of", "ld: "),
			match: re(`(undefined reference to|symbol\(s\) not found|^Undefined symbols for|unresolved external symbol|` +
				`multiple definition of|^(/\S*/)?ld(\.\w+)?: (cannot|error|library|framework|duplicate))`),
			extent: indentedParagraph, weight: 80, class: CompileError},
		{name: "rustc, an error", keys: keys("error[e"),
			match: re(`^\s*error\[E\d+\]: `), extent: toBlankLine, weight: 82, class: CompileError},
		{name: "Go compiler, an error", keys: keys(".go:"),
			match:  re(`^(vet: )?(?P<file>[\w./\\@-]+\.go):(?P<line>\d+)(:\d+)?: `),
			extent: goFindings, weight: 70, class: CompileError},
		{name: "TypeScript, an error", keys: keys("error ts", " - error"),
			match:  re(`(?P<file>[^\s(:]+)(\((?P<line>\d+),\d+\)|:\d+:\d+)?:? (- )?error TS\d+`),
			extent: caretLines, weight: 85, class: TypeError},
		{name: "GHC, an error", keys: keys("error:", ".hs:"),
			match:  re(`^\s*(?P<file>\S+\.l?hs(c|-boot)?):\(?(?P<line>\d+)[:,][\d,()-]+:? ?(error:|$|\s*\w)`),
			extent: indentedParagraph, weight: 82, class: CompileError},
		{name: "Swift or Xcode, an error", keys: keys(": error: ", "❌"),
			match: re(`(❌  \S|error: -\[)`), extent: indentedParagraph, weight: 82, class: CompileError},
	}
}

// caretLines continues over the lines that a compiler prints under an error: the source line, the caret, candidates and
// notes.
func caretLines(b *block, l *line) placement {
	switch {
	case l.blank():
		return outsideBlock
	case depthBelowHead(b, l) > 0:
		return insideBlock
	case containsAny(l.text, ": note: ", "In file included from", ": required from", "instantiat", "^~", "~^"):
		return insideBlock
	case l.n-b.head == 1 && !containsAny(l.text, ": error", ": warning", "error TS"):
		// Source lines that begin in the first column.
		return maybeInside
	default:
		return outsideBlock
	}
}

// goFindings continues over further findings and lines indented under them.
func goFindings(b *block, l *line) placement {
	switch {
	case l.blank():
		return outsideBlock
	case l.indent > b.indent, b.rule.match.Match(l.text), hasPrefix(l.text, "# "):
		return insideBlock
	default:
		return outsideBlock
	}
}
