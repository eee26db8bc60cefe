package failure

import (
	"regexp"
	"strings"
)

// cue is wording that names a class.
type cue struct {
	re    *regexp.Regexp
	class Class
}

// causes are cues that outrank what failed: a dependency that can't be
// downloaded because the network is down is the network's failure.
var causes = []cue{
	{regexp.MustCompile(`(?i)(rate limit exceeded|toomanyrequests|too many requests|\b429\b.*requests)`), RateLimit},
	{regexp.MustCompile(`(?i)(no space left on device|disk quota exceeded)`), Infrastructure},
	{regexp.MustCompile(`(?i)(connection (refused|timed out|reset)|could ?n[o']t resolve host|temporary failure in name resolution|tls handshake timeout|network is unreachable|max retries exceeded|read timed out|connect timeout|unknown ?host|handshake_failure|protocol_version|502 bad gateway|503 service|http connection|sslexception|econnreset|etimedout|50[0-9] (server|internal) error)`), Network},
	{regexp.MustCompile(`(?i)(permission to \S+ denied|authentication failed|403 forbidden|401 unauthorized|could not read username|bad credentials|dubious ownership|publickey)`), Permission},
}

// details are cues for what a general block is about.
var details = []cue{
	{regexp.MustCompile(`\b(SyntaxError|IndentationError|Parse error|syntax error)\b`), SyntaxError},
	{regexp.MustCompile(`\b(ModuleNotFoundError|ImportError|PackageNotFound\w*|DependencyResolution\w*)\b|cannot open shared object|Cannot find module|LoadError|ClassNotFoundException|NoClassDefFoundError|[Cc]ould not (resolve|find) (\S+ )?(dependenc|artifact|gem|package)|[Cc]ould not resolve`), Dependency},
	{regexp.MustCompile(`(OutOfMemory|MemoryError|Cannot allocate memory|heap out of memory|OOMKilled)`), OutOfMemory},
	{regexp.MustCompile(`(?i)(TimeoutError|timeoutexpired|timed out|timeout of \d+)`), Timeout},
	{regexp.MustCompile(`(?i)(segmentation fault|SIGSEGV|SIGABRT|core dumped)`), Crash},
	{regexp.MustCompile(`(?i:failing tests|tests? failed|failed tests|test failures|there (was|were) \d+ failure|assert(ion)?(error| failed)|regression)|\b(FAIL|FAILED):? `), TestFailure},
	{regexp.MustCompile(`(?i)(checkstyle|spotless|ktlint|detekt|formatting violations|lint|code style|pmd|spotbugs|findbugs|codenarc|prettier|license header|checkformat|rubocop|javadoc)`), LintFormat},
	{regexp.MustCompile(`(?i)(compilation (failure|error|failed)|compile(java|kotlin|scala|testjava)\S*'|cannot find symbol|compileerror|undefined reference|does not compile)`), CompileError},
	{regexp.MustCompile(`(PermissionError|AccessDenied|Permission denied|EACCES)`), Permission},
	{regexp.MustCompile(`(?i)(unknown (option|command|flag)|invalid (configuration|option)|no such task|missing script|command not found|not found in path|exit(ed with)?( code)? 127|not installed|no rakefile|misconfigur|could not find .*config|configuration)`), ConfigError},
	{regexp.MustCompile(`(?i)(404|not found|does not exist|unavailable)`), ExternalDependency},
}

// containers are classes that say where something failed and not what did.
var containers = map[Class]bool{Unknown: true, RuntimeError: true}

// classify names the class of the best block, from its rule and, where that
// leaves it open, from what the block says.
func classify(best *block, chosen []*block) Class {
	if best == nil {
		return Unknown
	}
	c := best.rule.class
	if best.lift != nil {
		c = best.lift.class
	}
	switch c {
	case Dependency, ExternalDependency, GitCheckout:
		return refine(c, best.lines(), causes)
	}
	if !containers[c] {
		return c
	}
	if best.inner != nil && best.rule.name != pythonTraceback && !containers[best.inner.class] {
		return best.inner.class
	}
	if d := refine(c, best.lines(), causes); d != c {
		return d
	}
	said := best.lines()
	if best.rule.name == pythonTraceback {
		said = thrown(said)
	}
	if d := refine(c, said, details); d != c {
		return d
	}
	for _, b := range chosen {
		if b != best && !containers[b.rule.class] {
			return b.rule.class
		}
	}
	return c
}

// thrown is what follows the last frame of a traceback: the exception.
func thrown(ls []textLine) []textLine {
	for i := len(ls) - 1; i > 0; i-- {
		if t := ls[i-1].text; strings.HasPrefix(t, " ") || strings.HasPrefix(t, "\t") {
			return ls[i:]
		}
	}
	return ls
}

// refine is the class of the first cue that a line has, lines from the end:
// what was thrown last is what failed.
func refine(c Class, ls []textLine, cues []cue) Class {
	for _, q := range cues {
		for i := len(ls) - 1; i >= 0; i-- {
			if q.re.MatchString(ls[i].text) {
				return q.class
			}
		}
	}
	return c
}
