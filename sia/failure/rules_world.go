package failure

// dockerStep is the name of the rule of a failed step of a container's build.
const dockerStep = "docker, a failed step"

// worldRules recognise what lies outside the code that is built: packages, git,
// containers, permissions, the network and the machine.
func worldRules() []rule {
	rs := []rule{
		// Packages.
		{name: "npm, an error", keys: keys("npm err!", "npm error"), match: re(`^\s*npm (ERR!|error) `), extent: npm, weight: 40, class: Unknown, result: true},
		{name: "npm, an unresolved package", keys: keys("eresolve", "e404", "etarget", "enoent", "no matching version"), match: re(`^npm (ERR!|error) (code (ERESOLVE|E404|ETARGET|EINTEGRITY|EUSAGE|EBADENGINE|ENOTSUP|EPEERINVALID)|.*No matching version|.*not in the npm registry)`), extent: npm, weight: 74, class: Dependency},
		{name: "yarn, an error", keys: keys("error "), match: re(`^error (An unexpected error|Couldn't find|Your lockfile|Found incompatible|\S+@\S+: The engine|Received malformed|Integrity check)`), extent: paragraph, weight: 72, class: Dependency},
		{name: "Bower, an unresolved package", keys: keys("bower e"), match: re(`^bower\s+\S*\s*E[A-Z]{4,}\s`), extent: paragraph, weight: 72, class: Dependency},
		{name: "node-gyp, a failed build", keys: keys("gyp err!"), match: re(`^gyp ERR! `), extent: matching, stop: re(`^gyp ERR! `), weight: 54, class: Dependency, result: true},
		{name: "yarn, a failed command", keys: keys("error command failed"), match: re(`^error Command failed`), extent: single, weight: 32, class: Unknown, result: true},
		{name: "pnpm, an error", keys: keys("err_pnpm"), match: re(`ERR_PNPM_\w+`), extent: paragraph, weight: 74, class: Dependency},
		{name: "pip, an unresolved requirement", keys: keys("could not find a version", "no matching distribution", "resolutionimpossible", "conflicting dependencies", "could not install packages", "no solution found when resolving"), match: re(`(?i)(could not find a version that|no matching distribution|ResolutionImpossible|conflicting dependencies|could not install packages|no solution found when resolving)`), extent: indentedParagraph, weight: 74, class: Dependency},
		{name: "pip, a failed build", keys: keys("error: subprocess", "metadata-generation-failed", "failed building wheel", "setup.py egg_info", "setup.py install"), match: re(`(?i)(error: subprocess-exited|metadata-generation-failed|failed building wheel|Command .*(egg_info|setup\.py install).* failed)`), extent: indented, weight: 56, class: Dependency},
		{name: "bundler, an unresolved gem", keys: keys("bundler could not", "could not find gem", "in any of the sources", "your bundle is locked", "gem::", "an error occurred while installing"), match: re(`(Bundler could not|Could not find (gem )?\S.* in (any of the|the|locally)|Your bundle is locked|Gem::\w+Error|An error occurred while installing)`), extent: paragraph, weight: 72, class: Dependency},
		{name: "composer, unresolved requirements", keys: keys("your requirements could not", "could not be resolved to an installable"), match: re(`(?i)your requirements could not be resolved`), extent: section, stop: re(`^(The command|install \[|Running)`), weight: 76, class: Dependency},
		{name: "cargo, an unresolved crate", keys: keys("failed to select a version", "no matching package", "failed to get ", "failed to load source"), match: re(`^error: (failed to (select a version|get |load source)|no matching package)`), extent: section, stop: re(`^(error: |warning: unused)`), weight: 78, class: Dependency},
		{name: "go, an unresolved module", keys: keys("unknown revision", "cannot find package", "no required module", "cannot find module", "missing go.sum", "updates to go.mod", "unrecognized import path", "invalid version", "module declares its path", "import cycle"), match: re(`(unknown revision|[Cc]annot find package|no required module provides|cannot find module providing|missing go\.sum entry|updates to go\.(mod|sum) needed|unrecognized import path|invalid version: |module declares its path|is not in (std|GOROOT))`), extent: indentedParagraph, weight: 74, class: Dependency},
		{name: "maven, an unresolved dependency", keys: keys("could not resolve", "could not find artifact", "could not transfer", "non-resolvable"), match: re(`(Could not (resolve (dependencies|all|\S+:)|find artifact|transfer artifact|GET)|Non-resolvable|Unresolveable build extension)`), extent: indentedParagraph, weight: 66, class: Dependency},
		{name: "sbt, an unresolved dependency", keys: keys("unresolved dependenc", "resolveexception", "error downloading"), match: re(`(?i)(unresolved dependenc|ResolveException|Error downloading)`), extent: paragraph, weight: 72, class: Dependency},
		{name: "CocoaPods or Carthage, an error", keys: keys("[!] "), match: re(`^\s*\[!\] \S`), extent: indented, weight: 62, class: Dependency},
		{name: "apt, an error", keys: keys("e: ", "unmet dependencies", "unable to locate package"), match: re(`^(E: \S|The following packages have unmet dependencies)`), extent: matching, stop: re(`^(E: |\s+\S)`), weight: 64, class: Dependency},
		{name: "conda, an unresolved package", keys: keys("resolvepackagenotfound", "unsatisfiableerror", "packagesnotfounderror", "libmambaunsatisfiable"), match: re(`(ResolvePackageNotFound|UnsatisfiableError|PackagesNotFoundError|LibMambaUnsatisfiableError)`), extent: indented, weight: 76, class: Dependency},
		{name: "cabal or stack, an unresolved package", keys: keys("could not resolve dependencies", "while constructing the build plan", "build plan failed"), match: re(`(?i)(could not resolve dependencies|while constructing the build plan|build plan failed)`), extent: section, stop: re(`^(The command|Warning:)`), weight: 76, class: Dependency},
		{name: "hex, an unresolved package", keys: keys("hex dependency resolution", "unchecked dependencies", "dependency is not available"), match: re(`(Hex dependency resolution|Unchecked dependencies for|the dependency is not available)`), extent: paragraph, weight: 72, class: Dependency},
		{name: "R, a missing package", keys: keys("there is no package called", "package not available", "dependencies", "is not available"), match: re(`(there is no package called|dependenc(y|ies) .* (is|are) not available|package .* is not available)`), extent: paragraph, weight: 72, class: Dependency},
		{name: "a missing shared library", keys: keys("cannot open shared object", "library not loaded", "image not found"), match: re(`(cannot open shared object file|Library not loaded)`), extent: indentedParagraph, weight: 74, class: Dependency},

		// Git.
		{name: "git, a fatal error", keys: keys("fatal: "), match: re(`^\s*fatal: \S`), extent: single, weight: 60, class: GitCheckout, above: 1},
		{name: "git, a missing ref", keys: keys("couldn't find remote ref", "remote branch ", "pathspec", "not our ref", "reference is not a tree", "unable to checkout", "bad object", "not a commit", "refusing to merge"), match: re(`(?i)(couldn't find remote ref|remote branch .* not found|pathspec .* did not match|not our ref|reference is not a tree|unable to (checkout|find current revision)|bad object|refusing to merge)`), extent: single, weight: 72, class: GitCheckout},
		{name: "git, a conflict", keys: keys("conflict (", "merge conflict in", "could not apply"), match: re(`^(CONFLICT \(|error: could not apply|Automatic merge failed)`), extent: matching, stop: re(`^(CONFLICT \(|Auto-merging)`), weight: 80, class: GitCheckout},
		{name: "git, a dirty checkout", keys: keys("checkout dirty", "working tree is dirty", "tree is dirty", "uncommitted changes", "please rebuild", "is out of date", "not up to date", "not up-to-date", "commit the changes"), match: re(`(?i)((git )?(checkout|repository) (is )?dirty|(working )?tree is dirty|has uncommitted changes|please (rebuild|run|commit)|(is|are) (out of date|not up[- ]to[- ]date)|commit the changes)`), extent: paragraph, weight: 64, class: GitCheckout, above: 3},

		// Permissions.
		{name: "a refused permission", keys: keys("permission denied", "access denied", "forbidden", "unauthorized", "authentication failed", "not accessible by integration", "bad credentials", "could not read username", "denied to", "requested url returned error: 403", "dubious ownership", "invalid credentials", "requires authentication", "accessdenied", "not authorized", "401 ", "must be authenticated", "no basic auth", "write access to repository", "input required and not supplied: token", "denied: "), match: re(`(?i)(permission(s)? (to \S+ )?denied|access denied|403 forbidden|status code 40[13]|\b40[13] (forbidden|unauthorized|client error)|authentication (failed|required)|not accessible by integration|bad credentials|could not read username|denied to \S+|returned error: 403|dubious ownership|invalid credentials|requires authentication|AccessDenied|not authorized|no basic auth|write access to repository|not supplied: token|\bdenied: )`), extent: indentedParagraph, weight: 68, class: Permission},

		// Rate limits, network, machine.
		{name: "a rate limit", keys: keys("rate limit", "too many requests", "toomanyrequests", "pull rate", "quota exceeded", "abuse detection", "secondary rate"), match: re(`(?i)(rate limit (exceeded|reached|hit)|exceeded .*rate limit|too ?many ?requests|pull rate limit|quota exceeded|abuse detection|secondary rate limit|HTTP(/[\d.]+)? 429|429 client error)`), extent: single, weight: 76, class: RateLimit},
		{name: "the network", keys: keys("connection refused", "connection timed out", "connection reset", "could not resolve host", "temporary failure in name resolution", "tls handshake", "i/o timeout", "502 bad gateway", "503 service", "504 gateway", "network is unreachable", "econnreset", "etimedout", "enotfound", "econnrefused", "eai_again", "remote end hung up", "unexpected disconnect", "curl: (", "read timed out", "connect timeout", "no route to host", "unable to connect", "failed to connect", "unknown host", "unknownhostexception", "socketexception", "sslexception", "ssl_error", "protocol_version", "handshake_failure", "socket hang up", "err_connection", "early eof", "internal server error", "http error 5", "incompleteread", "connection error", "service unavailable", "gnutls_handshake", "hash sum mismatch"), match: re(`(?i)(connection (refused|timed out|reset|error)|could not resolve host|temporary failure in name resolution|TLS handshake timeout|i/o timeout|502 bad gateway|503 service|504 gateway|network is unreachable|\b(?-i:ECONNRESET|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN)\b|remote end hung up|unexpected disconnect|curl: \((5|6|7|16|18|22|28|35|52|55|56|92)\)|read timed out|connect timeout|no route to host|(unable|failed) to connect|unknown ?host|SocketException|SSLException|protocol_version|handshake_failure|socket hang up|ERR_CONNECTION|early EOF|500 internal server error|http error 5\d\d|IncompleteRead|service unavailable|gnutls_handshake|hash sum mismatch)`), extent: single, weight: 64, class: Network},
		{name: "the machine", keys: keys("no space left", "disk quota", "lost communication with the server", "hosted runner encountered", "pod failed to come online", "failed to come online", "runner was lost", "no runner", "internal error occurred", "an internal error", "worker lost", "agent went offline", "agent was removed", "was evicted", "runner.worker", "an error occurred while generating the build script", "node was lost", "vm creation", "failed to start the vm", "job was not acquired", "slave went offline", "channelclosedexception", "no hosted parallelism", "self-hosted runner", "cannot connect to the docker daemon", "runner has received", "failed to initialize container", "device or resource busy", "read-only file system", "too many open files"), match: re(`(?i)(no space left on device|disk quota exceeded|lost communication with the server|hosted runner encountered|failed to come online|runner was lost|(we're sorry|an) internal error|worker lost|agent (went offline|was removed)|was evicted|error occurred while generating the build script|failed to start the vm|job was not acquired|slave went offline|ChannelClosedException|cannot connect to the docker daemon|failed to initialize container|self-hosted runner .* lost)`), extent: single, weight: 78, class: Infrastructure},

		// Containers, artifacts, services, configuration.
		{name: dockerStep, keys: keys("error: process", "returned a non-zero code", "failed to solve", "error: failed to"), match: re(`^(#\d+ )?(ERROR: )?.*(did not complete successfully|returned a non-zero code|failed to solve|executor failed)`), extent: dockerfile, weight: 62, class: Unknown, grows: re(`^( > |\d+\.\d+ |-{6}|Dockerfile|\s+\d+ \||\S+:\d+$|#\d+ \d)`)},
		{name: "docker, an error", keys: keys("error response from daemon", "oci runtime", "manifest unknown", "manifest for ", "pull access denied", "repository does not exist"), match: re(`(Error response from daemon|OCI runtime|oci runtime error|manifest unknown|manifest for .* not found|pull access denied)`), extent: single, weight: 70, class: ExternalDependency},
		{name: "an artifact that is missing", keys: keys("artifact not found", "unable to download artifact", "no artifacts found", "unable to find any artifacts", "no files were found", "artifact has expired", "cache not found", "404 not found", "404: not found", "http error 404", "returned error: 404", "(404)", "status code 404", "404  not found"), match: re(`(?i)(artifact not found|unable to (download|find any) artifacts?|no (artifacts|files were) found|artifact has expired|404:? +not found|http error 404|returned error: 404|status code 404)`), extent: indented, weight: 62, class: ExternalDependency},
		{name: "a workflow's configuration", keys: keys("invalid workflow file", "unrecognized named-value", "unable to resolve action", "unexpected value", "unexpected input", "input required and not supplied", "can't find 'action.yml'", "yaml", "no such file or directory, open '/home/runner/work/_actions", "missing download info", "no rakefile found", "no gemfile found", "unknown option", "unrecognized option", "invalid option", "illegal switch", "unknown command", "no such task", "missing script", "unsupported option", "not recognized as an internal"), match: re(`(?i)(invalid workflow file|unrecognized named-value|unable to resolve action|unexpected (value|input\(s\))|input required and not supplied|can't find 'action\.yml'|(yaml|toml|json)(\.\w+)* ?(syntax|parse)|did not find expected|No Rakefile found|(unknown|unrecogni[sz]ed|invalid|illegal|unsupported) (option|switch|argument|flag|command|parameter)|no such task|missing script)`), extent: indentedParagraph, weight: 62, class: ConfigError},
		{name: "Terraform, an error", keys: keys("error: "), match: re(`^[│╷]?\s*Error: \S.*$`), extent: boxed, weight: 52, class: Unknown},
		{name: "Ansible, a failed task", keys: keys("failed! =>"), match: re(`^(fatal|failed): \[.*FAILED! =>`), extent: indentedParagraph, weight: 76, class: RuntimeError, above: 1},
		{name: "a command that is missing", keys: keys("command not found", "executable file not found", ": not found", "is not recognized", "no such file or directory"), match: re(`(: command not found|executable file not found|(sh|bash|zsh|dash): (\d+: |line \d+: )?\S+:? (not found|No such file)|is not recognized as)`), extent: single, weight: 60, class: ConfigError},
	}
	for i := range rs {
		rs[i].soft = !rs[i].tells && rs[i].name != dockerStep
	}
	return rs
}

// boxed goes on over the box that Terraform draws around an error.
func boxed(_ *block, l *line) part {
	if hasPrefix(l.text, "│") {
		return inside
	}
	return outside
}

// npm goes on over npm's own lines.
func npm(b *block, l *line) part {
	t := l.text[l.indentBytes():]
	if hasPrefix(t, "npm ERR!") || hasPrefix(t, "npm error") {
		return inside
	}
	return outside
}

// dockerfile goes on over the excerpt of the Dockerfile under a failed step.
func dockerfile(b *block, l *line) part {
	switch {
	case l.blank():
		return outside
	case hasPrefix(l.text, "------"), hasPrefix(l.text, " > "), hasPrefix(l.text, "ERROR: failed to solve"), l.indent > b.indent:
		return inside
	case hasPrefix(l.text, "Dockerfile"), containsAny(l.text, " | "):
		return inside
	case l.text[0] >= '0' && l.text[0] <= '9' && l.n-b.head < 30:
		return inside
	default:
		return outside
	}
}
