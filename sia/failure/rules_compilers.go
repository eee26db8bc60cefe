package failure

// compilerRules recognise compilers, linkers, build systems and type checkers.
func compilerRules() []rule {
	return []rule{
		{name: "C or C++ compiler, an error", keys: keys(": error:", ": fatal error:", ": error: "),
			match:  re(`^\s*(?P<file>(/|[A-Za-z]:[\\/])?[^\s:()]+):(?P<line>\d+)(:\d+)?: (fatal )?error:? `),
			extent: caretLines, weight: 85, class: CompileError},
		{name: "MSVC, an error", keys: keys("error c", "error lnk"),
			match:  re(`(?P<file>[^\s(]+)(\((?P<line>\d+)(,\d+)?\))? ?: (fatal )?error (C|LNK)\d+`),
			extent: singleLine, weight: 85, class: CompileError},
		{name: "linker, an unresolved symbol",
			keys: keys("undefined reference", "symbol(s) not found", "undefined symbols for", "unresolved external",
				"multiple definition of", "ld: "),
			match: re(`(undefined reference to|symbol\(s\) not found|^Undefined symbols for|unresolved external symbol|` +
				`multiple definition of|^(/\S*/)?ld(\.\w+)?: (cannot|error|library|framework|duplicate))`),
			extent: indentedParagraph, weight: 80, class: CompileError},
		{name: "linker, the result", keys: keys("linker command failed", "ld returned"),
			match:  re(`(linker command failed|ld returned \d+ exit status)`),
			extent: singleLine, weight: 52, class: CompileError},
		{name: "rustc, an error", keys: keys("error[e"),
			match: re(`^\s*error\[E\d+\]: `), extent: rustcFrame, weight: 82, class: CompileError},
		{name: "an error", keys: keys("error: "), match: re(`^\s*error: \S`), extent: rustcFrame, weight: 58, class: Unknown},
		{name: "rustc, where an error is", keys: keys("--> "),
			match: re(`^\s*--> \S+\.rs:\d+:\d+$`), extent: rustcFrame, weight: 82, class: CompileError, above: 1, lifts: true},
		{name: "cargo, the result", keys: keys("could not compile", "aborting due to"),
			match:  re(`^error: (could not compile|aborting due to|Could not compile)`),
			extent: singleLine, weight: 50, class: CompileError},
		{name: "Go compiler, an error", keys: keys(".go:"),
			match:  re(`^(vet: )?(?P<file>[\w./\\@-]+\.go):(?P<line>\d+)(:\d+)?: `),
			extent: goFindings, weight: 70, class: CompileError},
		{name: "TypeScript, an error", keys: keys("error ts", " - error"),
			match:  re(`(?P<file>[^\s(:]+)(\((?P<line>\d+),\d+\)|:\d+:\d+)?:? (- )?error TS\d+`),
			extent: caretLines, weight: 85, class: TypeError},
		{name: "TypeScript, an error", keys: keys("error ts"),
			match: re(`error.* TS\d+: `), extent: caretLines, weight: 84, class: TypeError},
		{name: ".NET, a warning", keys: keys("warning cs", "warning msb", "warning fs", "warning ca", "warning nu"),
			match: re(`: warning [A-Z]{2,6}\d+: `), extent: locatedFindings, weight: 14, class: CompileError},
		{name: ".NET, an error",
			keys: keys("error cs", "error fs", "error vb", "error bc", "error nu", "error msb", "error netsdk", "error ca",
				"error sa", "error ide", "error xc"),
			match:  re(`(?P<file>[^\s(]*)(\((?P<line>\d+)[,\d]*\))?\s?: error [A-Z]{2,6}\d+`),
			extent: singleLine, weight: 84, class: CompileError},
		{name: "GHC, an error", keys: keys("error:", ".hs:"),
			match:  re(`^\s*(?P<file>\S+\.l?hs(c|-boot)?):\(?(?P<line>\d+)[:,][\d,()-]+:? ?(error:|$|\s*\w)`),
			extent: indentedParagraph, weight: 82, class: CompileError},
		{name: "PureScript, an error", keys: keys("error found", "error 1 of"),
			match:  re(`^\s*(Error found:|Error \d+ of \d+:)`),
			extent: untilStop, stop: re(`^(\s*Error \d+ of|See https)`), weight: 82, class: CompileError},
		{name: "OCaml, an error", keys: keys("file \""),
			match:  re(`^File "(?P<file>[^"]+)", lines? (?P<line>\d+)(-\d+)?, characters`),
			extent: toBlankLine, weight: 80, class: CompileError},
		{name: "Elixir, a compiler error", keys: keys("compilation error"),
			match:  re(`^== Compilation error (in|on) file (?P<file>\S+) ==`),
			extent: stackTrace, weight: 86, class: CompileError},
		{name: "Elixir, an exception", keys: keys("** ("),
			match: re(`^\s*(\*\* \(\w|\*\* \(Mix\))`), extent: stackTrace, weight: 76, class: RuntimeError},
		{name: "Swift or Xcode, an error", keys: keys(": error: ", "❌"),
			match: re(`(❌  \S|error: -\[)`), extent: indentedParagraph, weight: 82, class: CompileError},
		{name: "xcodebuild, failed commands", keys: keys("build commands failed"),
			match:  re(`^The following build commands failed:`),
			extent: indentedParagraph, weight: 55, class: CompileError, result: true},
		{name: "xcodebuild, an error", keys: keys("xcodebuild: error:"),
			match: re(`xcodebuild: error:`), extent: indentedLines, weight: 72, class: ConfigError},
		{name: "xcodebuild, failing tests", keys: keys("failing tests:"),
			match: re(`^Failing tests:`), extent: indentedLines, weight: 70, class: TestFailure},
		{name: "LaTeX, an error", keys: keys("! "),
			match: re(`^! (LaTeX|Package|Class|Undefined|Missing|Emergency|Extra|Too many|Misplaced|Illegal|Argument|` +
				`Paragraph ended|Double|Incomplete|File ended|Improper|Runaway|Use of|Text line|TeX capacity|I can't|==>|pdfTeX|` +
				`Font|Bad|Dimension|Number too)`),
			max: 30, extent: throughStop, stop: re(`^l\.\d+`), weight: 84, class: CompileError},
		{name: "CMake, an error", keys: keys("cmake error"),
			match: re(`^\s*CMake Error`), extent: indentedLines, weight: 78, class: ConfigError},
		{name: "configure, an error", keys: keys("configure: error"),
			match: re(`^configure: error`), extent: indentedLines, weight: 76, class: ConfigError},
		{name: "make, a failed target", keys: keys("*** "),
			match:  re(`^(g|mingw32-|c?n?)?make(\[\d+\])?: \*\*\* `),
			extent: singleLine, weight: 34, class: Unknown, result: true},
		{name: "ninja, a failed command", keys: keys("failed: "),
			match:  re(`^\s*FAILED: (\[code=\d+\] )?\S`),
			extent: untilStop, stop: re(`^(\s*\[\d+/\d+\]|ninja: )`), weight: 76, class: CompileError},
		{name: "Sass, an error",
			keys:   keys("error: invalid css", "undefined variable", "error: undefined", "error: expected"),
			match:  re(`^(Sass)?\s*Error: (Invalid CSS|Undefined|expected|Invalid)`),
			extent: indentedLines, weight: 76, class: SyntaxError},
		{name: "webpack, an error", keys: keys("error in ", "module not found"),
			match:  re(`^(ERROR in |Module not found: |Module parse failed)`),
			extent: toBlankLine, weight: 76, class: CompileError},
		{name: "Bazel, an error", keys: keys("error: "),
			match:  re(`^ERROR: (?P<file>/?\S+?/(BUILD|WORKSPACE)(\.bazel)?|\S+\.bzl):(?P<line>\d+):\d+: `),
			extent: toBlankLine, weight: 78, class: CompileError},
		{name: "PHP, a syntax error", keys: keys("parse error"),
			match:  re(`^(PHP )?Parse error: .* in (?P<file>\S+) on line (?P<line>\d+)`),
			extent: singleLine, weight: 84, class: SyntaxError},
		{name: "ABAP-like, an error", keys: keys("syntax error"),
			match: re(`^.*\b[Ss]yntax error\b`), extent: singleLine, weight: 60, class: SyntaxError},
	}
}

// caretLines goes on over what a compiler prints under an error: the source line, the
// caret, candidates and notes.
func caretLines(b *block, l *line) placement {
	switch {
	case l.blank():
		return outsideBlock
	case l.indent > b.indent:
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

// rustcFrame goes on over the frame that rustc draws, to the blank line after it.
func rustcFrame(b *block, l *line) placement {
	switch {
	case l.blank():
		return outsideBlock
	case l.n-b.head == 1 && !containsAny(l.text, "-->", "error", "|"):
		return insideBlock
	case l.indent > b.indent, l.text[0] >= '0' && l.text[0] <= '9' && containsAny(l.text, "|"):
		return insideBlock
	default:
		return outsideBlock
	}
}

// goFindings goes on over further findings, and over what is indented under them.
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
