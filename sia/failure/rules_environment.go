package failure

// dockerStep is the name of the rule of a failed step of a container's build.
const dockerStep = "docker, a failed step"

// environmentRules recognise failures outside the code: git, permissions, the network, the machine, containers and
// configuration.
func environmentRules() []rule {
	rs := []rule{
		// Git.
		{name: "git, a fatal error", keys: keys("fatal: "),
			match: re(`^\s*fatal: [^\s\[]`), extent: singleLine, weight: 60, class: GitCheckout, above: 1},
		{name: "git, a conflict", keys: keys("conflict (", "merge conflict in", "could not apply"),
			match:  re(`^(CONFLICT \(|error: could not apply|Automatic merge failed)`),
			extent: whileMatching, stop: re(`^(CONFLICT \(|Auto-merging)`), weight: 80, class: GitCheckout},
		{name: "git, a dirty checkout",
			keys: keys("checkout dirty", "working tree is dirty", "tree is dirty", "uncommitted changes", "please rebuild",
				"is out of date", "not up to date", "not up-to-date", "commit the changes"),
			match: re(`(?i)((git )?(checkout|repository) (is )?dirty|(working )?tree is dirty|has uncommitted changes|` +
				`please (rebuild|run|commit)|` +
				`(is|are) (out of date|not up[- ]to[- ]date)\b.*(run|build|generat|commit|please)|commit the changes)`),
			extent: indentedParagraph, weight: 72, class: GitCheckout, above: 3},

		// Permissions.
		{name: "a refused permission",
			keys: keys("permission denied", "permissions denied", "access denied", "403 forbidden", "401 unauthorized",
				"403 client error", "401 client error", "status code 401", "status code 403", "authentication failed",
				"authentication required", "not accessible by integration", "bad credentials", "could not read username",
				" denied to ", " denied: ", "returned error: 403", "dubious ownership", "invalid credentials",
				"requires authentication", "accessdenied", "not authorized", "no basic auth", "write access to repository",
				"not supplied: token"),
			extent: indentedParagraph, weight: 68, class: Permission},

		// Transient failures. transient.go decides whether one ended the step.
		{name: "a rate limit",
			keys:  keys("rate limit", "too many requests", "toomanyrequests", "quota exceeded", "abuse detection", " 429"),
			match: rateLimit, extent: singleLine, weight: 76, class: RateLimit},
		{name: "a fetch that broke off",
			keys: keys("rpc failed", "early eof", "hung up unexpectedly", "hung up upon", "unexpected disconnect while",
				"unable to look up", "kex_exchange_identification", "error fetching remote repo", "error cloning remote repo",
				"hudson.plugins.git.gitexception", "checkout retry attempts", "hash sum mismatch", "npm err! network",
				"npm error network", "trouble with your network", "newconnectionerror", "readtimeouterror",
				"tls handshake timeout", "spurious network error", "network failure seems to have happened",
				"operation too slow", "unable to load the service index", "requested url returned error: 5",
				"connection attempt failed", "error downloading", "could not download", "failed to download",
				"extract archive file", "response status code does not indicate success", "returned 5"),
			extent: singleLine, weight: 66, class: Network},
		{name: "the network",
			keys: keys("connection refused", "connection timed out", "connection reset", "connection error",
				"connection aborted", "could not resolve host", "couldn't resolve host", "name resolution", "i/o timeout",
				"bad gateway", "service unavailable", "service temporarily unavailable", "gateway time",
				"internal server error", "network is unreachable", " econnreset", " etimedout", " enotfound", " econnrefused",
				" eai_again", " esockettimedout", "read timed out", "connect timeout", "no route to host", "failed to connect to",
				"unable to connect to", "unknown host", "unknownhost", "socketexception", "socket hang up", "err_connection",
				"incompleteread", "max retries exceeded", "curl: (", "empty reply from server", "http error 5",
				"status code 5", "error code e50", "err! code e50", "no such host"),
			extent: singleLine, weight: 62, class: Network},
		{name: "a full disk",
			keys: keys("no space left on device", "disk quota exceeded", "enospc", "not enough space on the disk",
				"disk is full"),
			extent: singleLine, weight: 78, class: Infrastructure},
		{name: "the machine",
			keys: keys("lost communication with the server", "runner encountered an error", "failed to come online",
				"runner was lost", "node was lost", "encountered an internal error", "worker lost", "went offline",
				"marked offline", "was evicted", "an error occurred while generating the build script",
				"failed to start the vm", "job was not acquired", "hudson.remoting.", "cannot contact ", "backing channel ",
				"connection was broken", "termination of the channel", "remote call on ", "channel is already closed",
				"channel is closing", "received a shutdown signal", "failed to initialize container", "system failure",
				"stopped hearing from agent", "was preempted", "spot instance", "agent lost", "index.lock': file exists",
				"remote file operation failed", "build timed out", "executor death", "cannot run program",
				"unable to produce a script file", "failed to create a temp"),
			extent: traceOnly, weight: 78, class: Infrastructure},

		// Containers, artifacts, services, configuration.
		{name: dockerStep, keys: keys("error: process", "returned a non-zero code", "failed to solve", "error: failed to"),
			match: re(`^(#\d+ )?(ERROR: )?.*(did not complete successfully|returned a non-zero code|failed to solve|` +
				`executor failed)`),
			extent: dockerfileLines, weight: 62, class: Unknown,
			grows: re(`^( > |\d+\.\d+ |-{6}|Dockerfile|\s+\d+ \||\S+:\d+$|#\d+ \d)`)},
		{name: "docker, an error",
			keys: keys("error response from daemon", "oci runtime", "manifest unknown", "manifest for ", "pull access denied",
				"repository does not exist", "cannot connect to the docker daemon"),
			match: re(`(Error response from daemon|OCI runtime|oci runtime error|manifest unknown|manifest for .* not found|` +
				`pull access denied|Cannot connect to the Docker daemon)`),
			extent: singleLine, weight: 70, class: ExternalDependency},
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
	return soften(rs)
}

// soften marks all rules as soft except tools' own summaries and the end of a container's build.
func soften(rs []rule) []rule {
	for i := range rs {
		rs[i].soft = !rs[i].summary && rs[i].name != dockerStep
	}
	return rs
}

// dockerfileLines continues over the excerpt of the Dockerfile under a failed step.
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
