package failure

// packageRules recognise package managers: what could not be resolved, found or installed.
func packageRules() []rule {
	return softened([]rule{
		{name: "npm, an error", keys: keys("npm err!", "npm error"),
			match: re(`^\s*npm (ERR!|error) `), extent: npmLines, weight: 40, class: Unknown, result: true},
		{name: "npm, an unresolved package", keys: keys("eresolve", "e404", "etarget", "enoent", "no matching version"),
			match: re(`^npm (ERR!|error) (code (ERESOLVE|E404|ETARGET|EINTEGRITY|EUSAGE|EBADENGINE|ENOTSUP|EPEERINVALID)|` +
				`.*No matching version|.*not in the npm registry)`), extent: npmLines, weight: 74, class: Dependency},
		{name: "yarn, an error", keys: keys("error "),
			match: re(`^error (An unexpected error|Couldn't find|Your lockfile|Found incompatible|\S+@\S+: The engine|` +
				`Received malformed|Integrity check)`), extent: toBlankLine, weight: 72, class: Dependency},
		{name: "Bower, an unresolved package", keys: keys("bower e"),
			match: re(`^bower\s+\S*\s*E[A-Z]{4,}\s`), extent: toBlankLine, weight: 72, class: Dependency},
		{name: "node-gyp, a failed build", keys: keys("gyp err!"),
			match:  re(`^gyp ERR! `),
			extent: whileMatching, stop: re(`^gyp ERR! `), weight: 54, class: Dependency, result: true},
		{name: "yarn, a failed command", keys: keys("error command failed"),
			match: re(`^error Command failed`), extent: singleLine, weight: 32, class: Unknown, result: true},
		{name: "pnpm, an error", keys: keys("err_pnpm"),
			match: re(`ERR_PNPM_\w+`), extent: toBlankLine, weight: 74, class: Dependency},
		{name: "pip, an unresolved requirement",
			keys: keys("could not find a version", "no matching distribution", "resolutionimpossible",
				"conflicting dependencies", "could not install packages", "no solution found when resolving"),
			match: re(`(?i)(could not find a version that|no matching distribution|ResolutionImpossible|` +
				`conflicting dependencies|could not install packages|no solution found when resolving)`),
			extent: indentedParagraph, weight: 74, class: Dependency},
		{name: "pip, a failed build",
			keys: keys("error: subprocess", "metadata-generation-failed", "failed building wheel", "setup.py egg_info",
				"setup.py install"),
			match: re(`(?i)(error: subprocess-exited|metadata-generation-failed|failed building wheel|` +
				`Command .*(egg_info|setup\.py install).* failed)`), extent: indentedLines, weight: 56, class: Dependency},
		{name: "bundler, an unresolved gem",
			keys: keys("bundler could not", "could not find gem", "in any of the sources", "your bundle is locked", "gem::",
				"an error occurred while installing"),
			match: re(`(Bundler could not|Could not find (gem )?\S.* in (any of the|the|locally)|Your bundle is locked|` +
				`Gem::\w+Error|An error occurred while installing)`), extent: toBlankLine, weight: 72, class: Dependency},
		{name: "composer, unresolved requirements",
			keys:   keys("your requirements could not", "could not be resolved to an installable"),
			match:  re(`(?i)your requirements could not be resolved`),
			extent: untilStop, stop: re(`^(The command|install \[|Running)`), weight: 76, class: Dependency},
		{name: "cargo, an unresolved crate",
			keys:   keys("failed to select a version", "no matching package", "failed to get ", "failed to load source"),
			match:  re(`^error: (failed to (select a version|get |load source)|no matching package)`),
			extent: untilStop, stop: re(`^(error: |warning: unused)`), weight: 78, class: Dependency},
		{name: "go, an unresolved module",
			keys: keys("unknown revision", "cannot find package", "no required module", "cannot find module", "missing go.sum",
				"updates to go.mod", "unrecognized import path", "invalid version", "module declares its path", "import cycle"),
			match: re(`(unknown revision|[Cc]annot find package|no required module provides|cannot find module providing|` +
				`missing go\.sum entry|updates to go\.(mod|sum) needed|unrecognized import path|invalid version: |` +
				`module declares its path|is not in (std|GOROOT))`), extent: indentedParagraph, weight: 74, class: Dependency},
		{name: "maven, an unresolved dependency",
			keys: keys("could not resolve", "could not find artifact", "could not transfer", "non-resolvable"),
			match: re(`(Could not (resolve (dependencies|all|\S+:)|find artifact|transfer artifact|GET)|Non-resolvable|` +
				`Unresolveable build extension)`), extent: indentedParagraph, weight: 66, class: Dependency},
		{name: "sbt, an unresolved dependency", keys: keys("unresolved dependenc", "resolveexception", "error downloading"),
			match:  re(`(?i)(unresolved dependenc|ResolveException|Error downloading)`),
			extent: toBlankLine, weight: 72, class: Dependency},
		{name: "CocoaPods or Carthage, an error", keys: keys("[!] "),
			match: re(`^\s*\[!\] \S`), extent: indentedLines, weight: 62, class: Dependency},
		{name: "apt, an error", keys: keys("e: ", "unmet dependencies", "unable to locate package"),
			match:  re(`^(E: \S|The following packages have unmet dependencies)`),
			extent: whileMatching, stop: re(`^(E: |\s+\S)`), weight: 64, class: Dependency},
		{name: "conda, an unresolved package",
			keys:   keys("resolvepackagenotfound", "unsatisfiableerror", "packagesnotfounderror", "libmambaunsatisfiable"),
			match:  re(`(ResolvePackageNotFound|UnsatisfiableError|PackagesNotFoundError|LibMambaUnsatisfiableError)`),
			extent: indentedLines, weight: 76, class: Dependency},
		{name: "cabal or stack, an unresolved package",
			keys:   keys("could not resolve dependencies", "while constructing the build plan", "build plan failed"),
			match:  re(`(?i)(could not resolve dependencies|while constructing the build plan|build plan failed)`),
			extent: untilStop, stop: re(`^(The command|Warning:)`), weight: 76, class: Dependency},
		{name: "hex, an unresolved package",
			keys:   keys("hex dependency resolution", "unchecked dependencies", "dependency is not available"),
			match:  re(`(Hex dependency resolution|Unchecked dependencies for|the dependency is not available)`),
			extent: toBlankLine, weight: 72, class: Dependency},
		{name: "R, a missing package",
			keys:   keys("there is no package called", "package not available", "dependencies", "is not available"),
			match:  re(`(there is no package called|dependenc(y|ies) .* (is|are) not available|package .* is not available)`),
			extent: toBlankLine, weight: 72, class: Dependency},
		{name: "a missing shared library", keys: keys("cannot open shared object", "library not loaded", "image not found"),
			match:  re(`(cannot open shared object file|Library not loaded)`),
			extent: indentedParagraph, weight: 74, class: Dependency},
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
