package failure

// packageRules recognise package managers: what could not be resolved, found or installed.
func packageRules() []rule {
	return softened([]rule{
		{name: "npm, an error", keys: keys("npm err!", "npm error"),
			match: re(`^\s*npm (ERR!|error) `), extent: npmLines, weight: 40, class: Unknown, result: true},
		{name: "npm, an unresolved package", keys: keys("eresolve", "e404", "etarget", "enoent", "no matching version"),
			match: re(`^npm (ERR!|error) (code (ERESOLVE|E404|ETARGET|EINTEGRITY|EUSAGE|EBADENGINE|ENOTSUP|EPEERINVALID)|` +
				`.*No matching version|.*not in the npm registry)`), extent: npmLines, weight: 74, class: Dependency},
		{name: "NuGet, an error", keys: keys("error nu"),
			match: re(`: error NU\d{4}: `), extent: singleLine, weight: 86, class: Dependency, joins: true},
	})
}

// npmLines goes on over npm's own lines.
func npmLines(b *block, l *line) placement {
	t := l.text[l.indentBytes():]
	if hasPrefix(t, "npm ERR!") || hasPrefix(t, "npm error") {
		return insideBlock
	}
	return outsideBlock
}
