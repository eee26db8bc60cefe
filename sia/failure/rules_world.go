package failure

// dockerStep is the name of the rule of a failed step of a container's build.
const dockerStep = "docker, a failed step"

// worldRules recognise what lies outside the code that is built: git, permissions, the network, the
// machine, containers and configuration.
func worldRules() []rule {
	rs := []rule{
		// Git.
		{name: "git, a fatal error", keys: keys("fatal: "),
			match: re(`^\s*fatal: [^\s\[]`), extent: singleLine, weight: 60, class: GitCheckout, above: 1},
		{name: "git, a missing ref",
			keys: keys("couldn't find remote ref", "remote branch ", "pathspec", "not our ref", "reference is not a tree",
				"unable to checkout", "bad object", "not a commit", "refusing to merge"),
			match: re(`(?i)(couldn't find remote ref|remote branch .* not found|pathspec .* did not match|not our ref|` +
				`reference is not a tree|unable to (checkout|find current revision)|bad object|refusing to merge)`),
			extent: singleLine, weight: 72, class: GitCheckout},
		{name: "git, a conflict", keys: keys("conflict (", "merge conflict in", "could not apply"),
			match:  re(`^(CONFLICT \(|error: could not apply|Automatic merge failed)`),
			extent: whileMatching, stop: re(`^(CONFLICT \(|Auto-merging)`), weight: 80, class: GitCheckout},
		{name: "git, a dirty checkout",
			keys: keys("checkout dirty", "working tree is dirty", "tree is dirty", "uncommitted changes", "please rebuild",
				"is out of date", "not up to date", "not up-to-date", "commit the changes"),
			match: re(`(?i)((git )?(checkout|repository) (is )?dirty|(working )?tree is dirty|has uncommitted changes|` +
				`please (rebuild|run|commit)|(is|are) (out of date|not up[- ]to[- ]date)|commit the changes)`),
			extent: toBlankLine, weight: 64, class: GitCheckout, above: 3},

		// Permissions.
		{name: "a refused permission",
			keys: keys("permission denied", "access denied", "forbidden", "unauthorized", "authentication failed",
				"not accessible by integration", "bad credentials", "could not read username", "denied to",
				"requested url returned error: 403", "dubious ownership", "invalid credentials", "requires authentication",
				"accessdenied", "not authorized", "401 ", "must be authenticated", "no basic auth", "write access to repository",
				"input required and not supplied: token", "denied: "),
			match: re(`(?i)(permission(s)? (to \S+ )?denied|access denied|403 forbidden|status code 40[13]|` +
				`\b40[13] (forbidden|unauthorized|client error)|authentication (failed|required)|not accessible by integration|` +
				`bad credentials|could not read username|denied to \S+|returned error: 403|dubious ownership|` +
				`invalid credentials|requires authentication|AccessDenied|not authorized|no basic auth|` +
				`write access to repository|not supplied: token|\bdenied: )`),
			extent: indentedParagraph, weight: 68, class: Permission},

		// Rate limits, network, machine.
		{name: "a rate limit",
			keys: keys("rate limit", "too many requests", "toomanyrequests", "pull rate", "quota exceeded", "abuse detection",
				"secondary rate"),
			match: re(`(?i)(rate limit (exceeded|reached|hit)|exceeded .*rate limit|too ?many ?requests|pull rate limit|` +
				`quota exceeded|abuse detection|secondary rate limit|HTTP(/[\d.]+)? 429|429 client error)`),
			extent: singleLine, weight: 76, class: RateLimit},
		{name: "the network",
			keys: keys("connection refused", "connection timed out", "connection reset", "could not resolve host",
				"temporary failure in name resolution", "tls handshake", "i/o timeout", "502 bad gateway", "503 service",
				"504 gateway", "network is unreachable", "econnreset", "etimedout", "enotfound", "econnrefused", "eai_again",
				"remote end hung up", "unexpected disconnect", "curl: (", "read timed out", "connect timeout", "no route to host",
				"unable to connect", "failed to connect", "unknown host", "unknownhostexception", "socketexception",
				"sslexception", "ssl_error", "protocol_version", "handshake_failure", "socket hang up", "err_connection",
				"early eof", "internal server error", "http error 5", "incompleteread", "connection error", "service unavailable",
				"gnutls_handshake", "hash sum mismatch"),
			match: re(`(?i)(connection (refused|timed out|reset|error)|could not resolve host|` +
				`temporary failure in name resolution|TLS handshake timeout|i/o timeout|502 bad gateway|503 service|504 gateway|` +
				`network is unreachable|\b(?-i:ECONNRESET|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN)\b|remote end hung up|` +
				`unexpected disconnect|curl: \((5|6|7|16|18|22|28|35|52|55|56|92)\)|read timed out|connect timeout|` +
				`no route to host|(unable|failed) to connect|unknown ?host|SocketException|SSLException|protocol_version|` +
				`handshake_failure|socket hang up|ERR_CONNECTION|early EOF|500 internal server error|http error 5\d\d|` +
				`IncompleteRead|service unavailable|gnutls_handshake|hash sum mismatch)`),
			extent: singleLine, weight: 64, class: Network},
		{name: "the machine",
			keys: keys("no space left", "disk quota", "lost communication with the server", "hosted runner encountered",
				"pod failed to come online", "failed to come online", "runner was lost", "no runner", "internal error occurred",
				"an internal error", "worker lost", "agent went offline", "agent was removed", "was evicted", "runner.worker",
				"an error occurred while generating the build script", "node was lost", "vm creation", "failed to start the vm",
				"job was not acquired", "slave went offline", "channelclosedexception", "no hosted parallelism",
				"self-hosted runner", "cannot connect to the docker daemon", "runner has received",
				"failed to initialize container", "device or resource busy", "read-only file system", "too many open files"),
			match: re(`(?i)(no space left on device|disk quota exceeded|lost communication with the server|` +
				`hosted runner encountered|failed to come online|runner was lost|(we're sorry|an) internal error|worker lost|` +
				`agent (went offline|was removed)|was evicted|error occurred while generating the build script|` +
				`failed to start the vm|job was not acquired|slave went offline|ChannelClosedException|` +
				`cannot connect to the docker daemon|failed to initialize container|self-hosted runner .* lost)`),
			extent: singleLine, weight: 78, class: Infrastructure},

		// Containers, artifacts, services, configuration.
		{name: dockerStep, keys: keys("error: process", "returned a non-zero code", "failed to solve", "error: failed to"),
			match: re(`^(#\d+ )?(ERROR: )?.*(did not complete successfully|returned a non-zero code|failed to solve|` +
				`executor failed)`),
			extent: dockerfileLines, weight: 62, class: Unknown,
			grows: re(`^( > |\d+\.\d+ |-{6}|Dockerfile|\s+\d+ \||\S+:\d+$|#\d+ \d)`)},
		{name: "docker, an error",
			keys: keys("error response from daemon", "oci runtime", "manifest unknown", "manifest for ", "pull access denied",
				"repository does not exist"),
			match: re(`(Error response from daemon|OCI runtime|oci runtime error|manifest unknown|manifest for .* not found|` +
				`pull access denied)`), extent: singleLine, weight: 70, class: ExternalDependency},
		{name: "an artifact that is missing",
			keys: keys("artifact not found", "unable to download artifact", "no artifacts found",
				"unable to find any artifacts", "no files were found", "artifact has expired", "cache not found", "404 not found",
				"404: not found", "http error 404", "returned error: 404", "(404)", "status code 404", "404  not found"),
			match: re(`(?i)(artifact not found|unable to (download|find any) artifacts?|no (artifacts|files were) found|` +
				`artifact has expired|404:? +not found|http error 404|returned error: 404|status code 404)`),
			extent: indentedLines, weight: 62, class: ExternalDependency},
		{name: "a workflow's configuration",
			keys: keys("invalid workflow file", "unrecognized named-value", "unable to resolve action", "unexpected value",
				"unexpected input", "input required and not supplied", "can't find 'action.yml'", "yaml",
				"no such file or directory, open '/home/runner/work/_actions", "missing download info", "no rakefile found",
				"no gemfile found", "unknown option", "unrecognized option", "invalid option", "illegal switch", "unknown command",
				"no such task", "missing script", "unsupported option", "not recognized as an internal"),
			match: re(`(?i)(invalid workflow file|unrecognized named-value|unable to resolve action|` +
				`unexpected (value|input\(s\))|input required and not supplied|can't find 'action\.yml'|` +
				`(yaml|toml|json)(\.\w+)* ?(syntax|parse)|did not find expected|No Rakefile found|` +
				`(unknown|unrecogni[sz]ed|invalid|illegal|unsupported) (option|switch|argument|flag|command|parameter)|` +
				`no such task|missing script)`), extent: indentedParagraph, weight: 62, class: ConfigError},
		{name: "a command that is missing",
			keys: keys("command not found", "executable file not found", ": not found", "is not recognized",
				"no such file or directory"),
			match: re(`(: command not found|executable file not found|` +
				`(sh|bash|zsh|dash): (\d+: |line \d+: )?\S+:? (not found|No such file)|is not recognized as)`),
			extent: singleLine, weight: 60, class: ConfigError},
	}
	return softened(rs)
}

// softened are rules of words that tell nothing in a warning: all but a tool's own verdict and the
// end of a container's build.
func softened(rs []rule) []rule {
	for i := range rs {
		rs[i].soft = !rs[i].tells && rs[i].name != dockerStep
	}
	return rs
}

// dockerfileLines goes on over the excerpt of the Dockerfile under a failed step.
func dockerfileLines(b *block, l *line) placement {
	switch {
	case l.blank():
		return outsideBlock
	case hasPrefix(l.text, "------"), hasPrefix(l.text, " > "), hasPrefix(l.text, "ERROR: failed to solve"):
		return insideBlock
	case l.indent > b.indent, hasPrefix(l.text, "Dockerfile"), containsAny(l.text, " | "):
		return insideBlock
	case l.text[0] >= '0' && l.text[0] <= '9' && l.n-b.head < 30:
		return insideBlock
	default:
		return outsideBlock
	}
}
