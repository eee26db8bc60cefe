package failure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// A transient failure goes away on a re-run: an interrupted fetch, a lost machine, a rate limit. The gate re-runs a
// check after one, so it must be what ended the step. The same words are printed by programs under test, by tests of
// error handling, and by operations that are retried until they succeed.

// fetchBroke matches the messages of tools that could not fetch over the network: git and the steps of CI systems
// around it, package managers, registries, curl.
var fetchBroke = re(`(?i)(RPC failed|\bearly EOF\b|(remote end|remote) hung up|unexpected disconnect while reading|` +
	`fatal: unable to (access '.*(could ?n.t (resolve|connect)|could not|connection|timed? ?out|empty reply|recv|ssl_|` +
	`gnutls|openssl|tls|error: 5\d\d|error: 429|failed to connect)|connect to|look up)|` +
	`ssh: (connect to host .*(timed out|refused|unreachable|reset)|could not resolve hostname)|` +
	`kex_exchange_identification|connection (closed|reset) by (remote host|\S+ port \d+)|` +
	`error (fetching|cloning) remote repo|hudson\.plugins\.git\.GitException|maximum checkout retry attempts|` +
	`command "?git (fetch|clone).* returned status code 128|` +
	`\b(git|clon|fetch|checkout|download|pull|retriev|resolv|GET|HEAD|registry|artifact|package).{0,240}\b50[0234]\b|` +
	`requested URL returned error: 50[0234]|remote: internal server error|network failure seems to have happened|` +
	`operation too slow|curl: \((5|6|7|16|18|28|35|52|55|56|92)\)|^Err:\d+ .*|` +
	`^E: Failed to fetch .*(timed out|connect|unable|50[0234]|hash sum)|hash sum mismatch|` +
	`npm (ERR!|error) (network |code (ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ERR_SOCKET_TIMEOUT|E50\d))|` +
	`an unexpected error occurred: "https?://.*(ECONN|ETIMEDOUT|ESOCKET|ENOTFOUND|EAI_AGAIN|50\d|socket)|` +
	`there appears to be trouble with your network|NewConnectionError|ReadTimeoutError|` +
	`could not (get '|get resource|transfer artifact) ?.*(timed out|time-?out|refused|reset|5\d\d|unknown host|` +
	`premature|resolv)|` +
	`dial tcp\b.*(i/o timeout|no such host|refused|reset|unreachable|timed out)|` +
	`TLS handshake timeout|spurious network error|` +
	`failed to (download|fetch|pull|get \W?http) .*(timed? ?out|reset|refused|could not (resolve|connect)|` +
	`broken pipe|operation too slow|connection|50[0234])|` +
	`unable to load the service index for source|response status code does not indicate success: (5\d\d|429)\b|` +
	`(failed|unable|can(no|')t|could not)\b.{0,60}\b(download|extract|unpack)\w*\b.{0,30}\b(action|archive)\b)`)

// networkWords matches messages of any program about a failed connection.
var networkWords = re(`(?i)(connection (refused|timed out|reset|error|aborted)|` +
	`could(n't| not) resolve (host|proxy|name|address|')|` +
	`temporary failure in name resolution|i/o timeout|` +
	`\b50[0234]\b.{0,3}(internal server|bad gateway|service (temporarily )?unav|gateway time)|` +
	`(HTTP|status|error|code)\b.{0,12}\b50[0234]\b|network is unreachable|` +
	`\b(?-i:ECONNRESET|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b|` +
	`\brequest timeout\b|aborted due to timeout|socket disconnected|\bfetch failed|\bbad gateway|` +
	`(connect\w*|connection|read|operation|request|fetch|download|handshake)\b.{0,40}\btimed? ?out\b|` +
	`timeout (was )?(reached|exceeded)|client\.timeout|deadline exceeded|connect timeout|no route to host|` +
	`(unable|failed|could not) to connect to|could not connect to|unknown ?host|SocketException|TLS handshake|` +
	`connection (broken|closed|failed|was aborted|to \S+ failed)|connection was aborted|unexpected EOF|EOF occurred|` +
	`broken pipe|\bHTTP (error )?(000|5\d\d)\b|` +
	`(returned|responded with|failed with|with error|status code:?|response code:?) 5\d\d\b|` +
	`connection attempts? failed|connectex|forcibly closed|remote end closed|(did not|failed to) respond|` +
	`unable to complete( \d+)? requests?|tried to reconnect|bytes read \d+ but wanted|no healthy backends|` +
	`(unexpected|premature)(ly)? (end of (stream|file)|close)|socket hang up|ERR_CONNECTION|IncompleteRead|` +
	`service unavailable|` +
	`max retries exceeded)`)

// machineWords matches messages of CI systems about a lost machine or channel.
var machineWords = re(`(?i)(lost communication with the server|` +
	`(hosted|self-hosted) runner.{0,80}(encountered an error|lost|stopped)|failed to come online|` +
	`runner\b.{0,40}\bwas lost|GitHub Actions has encountered an internal error|` +
	`we're sorry.*internal error|\bwas marked offline: |` +
	`^(((looks like|fatal:|error:|hudson\.\S+:) )?(the )?(agent|slave|computer)|` +
	`(looks like|fatal:|error:|hudson\.\S+:) (the )?node)\b.{0,80}\b(went offline|is offline|was removed|` +
	`was marked offline|was lost|disconnected|not responding)|` +
	`pod.{0,80}evicted|the node was low on resource|an error occurred while generating the build script|` +
	`failed to start the vm|job was not acquired|hudson\.remoting\.\w*(Channel|Request|Remote)\w*|` +
	`^(FATAL|ERROR|java\.io\.IOException):? .*channel.{0,120}clos|^Cannot contact \S+: |` +
	`backing channel .{0,200}disconnected|connection was broken|unexpected termination of the channel|` +
	`channel is (already closed|closing down)|remote call on .* failed|remote file operation failed|` +
	`runner has received a shutdown signal|failed to initialize container|\(?runner system failure|` +
	`job failed \(system failure|stopped hearing from agent|(vm|instance|machine|node) (was |has been )?preempted|` +
	`spot instance (interruption|termination)|agent lost|executor death|^Build timed out \(after |` +
	`(?-i:FATAL|IOException): (.*: )?(unable to produce a script file|failed to create a temp\w* file)|` +
	`IOException: cannot run program .*\b(workspace|jenkins|hudson|agent|slave)\b|` +
	`unable to create '[^']*index\.lock': file exists)`)

// localAddress matches an address on the machine itself, or a reserved one: a peer of a program under test.
var localAddress = re(`(?i)(\blocalhost\b|\b127\.\d+\.\d+\.\d+|\[?::1\b|\b0\.0\.0\.0|host\.docker\.internal|` +
	`\b(10\.\d+|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+|` +
	`\.(invalid|test|example|local|localdomain|internal)([:/'"\s;,)]|$)|\bresolve host(name)?:? '?[\w-]+'?\)?$|` +
	`\.sock\b|//[\w-]+:\d+|\b(connect|to|host|dial tcp) [\w-]+:\d+\b|\blookup [\w-]+:)`)

// ownAddress matches addresses that Go and Docker print in addition to the peer: the local end of a connection, and the
// resolver, which may be local.
var ownAddress = re(`( on \S+:53\b|\S+:\d+->(\S+:53\b)?)`)

// isLocal reports whether a text names a local address as the peer.
func isLocal(text string) bool {
	return localAddress.MatchString(ownAddress.ReplaceAllString(text, ""))
}

// placeholderHost matches hosts that documentation and tests use.
var placeholderHost = re(`(?i)\bexample\.(com|org|net)`)

// remoteAddress matches the name or address of another machine.
var remoteAddress = re(`(?i)(https?://[\w-]+\.[\w.-]+|` +
	`\b[\w-]+\.(com|org|net|io|dev|sh|co|cloud|rs|us|eu|de|uk|fr|jp|cn|ru|edu|gov)([:/'"\s)\],;]|\.?$)|` +
	`\b\d+\.\d+\.\d+\.\d+:?(443|80|22)?\b|archive\.ubuntu|registry)`)

// refusedConnection matches a refused connection: the machine is reachable, but nothing listens.
var refusedConnection = re(`(?i)refused`)

// tlsFrame matches a stack frame of a TLS connection, which local programs under test rarely use.
var tlsFrame = re(`(\bsun\.security\.ssl\b|\bHttpsClient\b|\bHttpsURLConnection|` +
	`\bTLSWrap\b|\bTLSSocket\b|\bSSL_connect\b)`)

// isRemote reports whether a text is about a connection to another machine. A refused connection must name the
// machine; an interrupted one need not if it used TLS.
func isRemote(text string) bool {
	if placeholderHost.MatchString(text) {
		return false
	}
	return remoteAddress.MatchString(text) || tlsFrame.MatchString(text) && !refusedConnection.MatchString(text)
}

// fetcher matches the heading of a step that is a published action which downloads or uploads for the job. It runs none
// of the job's code, so its network errors are about another machine, named or not.
var fetcher = re(`^[\w.-]+/([\w.-]+/)*(checkout|setup|cache|login|upload|download|deploy-pages|[\w.]+-cache)\b` +
	`[\w./-]*@`)

// assertedError matches how a test reports an error that it expected, or got instead of the expected result, and
// numbered lists of checks.
var assertedError = re(`(?i)(assert|` +
	`\bexpect(ed|s|ing)?\b[^\n]*\b(to|but|got|actual|received|error|not|status|message|result|value)\b|` +
	`\bexpected:|\bgot:|\bwant(ed)?:?\s|\bshould\b|tothrow|\bmock|\bstub|\bfake|simulat|\bspec\b|` +
	`^\s*(✓|✔|✗|✘|×|✕|●|ok \d|not ok|(?-i:--- FAIL|--- PASS|PASS\b|FAIL\b|FAILED\b|E  ))|` +
	`\.t line \d+|_test\.\w+[:(]\d|\.(spec|test)\.\w+[:(]\d|\btests?/\S*\.\w+[:(]\d|` +
	`\b(handles?|returns?|raises?|throws?|retries|rejects?|logs?|reports?|survives?) .*\b(when|if|on|after)\b|` +
	`\btest\w*\(|\bit\(|(^|\s)\d+\. +(\[|\d|http))`)

// permanentError matches errors that no retry fixes, regardless of the rest of the line.
var permanentError = re(`(?i)(blocked mirror|certificate (has |is |verify|problem|not )|protocol_version|` +
	`handshake_failure|\b(401|403|404|407|410)\W{1,3}(unauthorized|forbidden|not found|proxy auth|gone)|` +
	`(error|status|code):? (401|403|404|410)\b)`)

// retriedError matches messages of a program that continues after an error.
var retriedError = re(`(?i)\b(retrying|will retry|retries left|tries remaining|will be retried|trying again|` +
	`attempt \d|falling back|fallback|ignoring|ignored|skipping|continuing|going on|using cached|non-fatal|optional)\b`)

// fullDisk and rateLimit match messages about either.
var (
	fullDisk = re(`(?i)(no space left on device|disk quota exceeded|\bENOSPC\b|not enough (free |disk )?space on|` +
		`disk (is )?full)`)
	rateLimit = re(`(?i)(rate limit (exceeded|reached|hit)|exceeded .*rate limit|reached your .*rate limit|` +
		`too ?many ?requests|pull rate limit|quota exceeded|abuse detection|secondary rate limit|` +
		`(HTTP|HTTP/[\d.]+|status(:| code:?)?|returned error:|response:?) ?429\b|\b429 (client error|too many))`)
)

// watchLimit matches Linux's inotify limit, which is reported like a full disk and does not go away.
var watchLimit = re(`(?i)\bwatch`)

// transientClass returns the class of transient failure that a line names; empty when it names none, or when the error
// was expected by a test, is about a local address or is retried. fetched is set for lines of a fetcher.
func transientClass(text string, fetched bool) Class {
	var class Class
	switch {
	case machineWords.MatchString(text), fullDisk.MatchString(text) && !watchLimit.MatchString(text):
		class = Infrastructure
	case rateLimit.MatchString(text):
		class = RateLimit
	case fetchBroke.MatchString(text), networkWords.MatchString(text) && (fetched || isRemote(text)):
		class = Network
	default:
		return ""
	}
	if assertedError.MatchString(text) || retriedError.MatchString(text) || permanentError.MatchString(text) ||
		class != Infrastructure && isLocal(text) {
		return ""
	}
	return class
}

// maxSentence is the maximum number of lines of one message about a transient failure.
const maxSentence = 4

// transientClassOf returns the class of transient failure that consecutive lines name; the last ones take precedence.
// Lines are joined where one of them matches networkWords. fetched is set for lines of a fetcher.
func transientClassOf(said []textLine, fetched bool) Class {
	said = slices.DeleteFunc(said, func(l textLine) bool { return strings.TrimSpace(l.text) == "" })
	trouble := make([]bool, len(said))
	for i, l := range said {
		trouble[i] = networkWords.MatchString(l.text)
	}
	for i := len(said) - 1; i >= 0; i-- {
		text, some := said[i].text, trouble[i]
		found := transientClass(text, fetched)
		for from := i - 1; found == "" && from >= max(0, i-maxSentence+1); from-- {
			text, some = said[from].text+" "+text, some || trouble[from]
			if some {
				found = transientClass(text, fetched)
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// maxAfter is the maximum number of lines printed after a transient failure that ended a step, cleanup included.
const maxAfter = 80

// isTransient holds the classes of transient failures.
var isTransient = map[Class]bool{RateLimit: true, Network: true, Infrastructure: true}

// neverTransient holds the classes that rule out a transient failure when a rule decided them: a test, compiler or
// linter reported the failure in its own format.
var neverTransient = map[Class]bool{CompileError: true, SyntaxError: true, TypeError: true, LintFormat: true,
	TestFailure: true, Crash: true, OutOfMemory: true, Timeout: true, NotStarted: true}

// classOf returns the class of a choice. It is a transient one only where a transient failure ended the step. A class
// decided by a rule, not guessed from words, may rule that out.
func (r *logReader) classOf(c choice, name string) Class {
	class, byRule := classifyChoice(c, name)
	if c.best == nil || byRule && neverTransient[class] || neverTransient[c.best.class()] {
		return class
	}
	said := slices.Clone(c.best.over)
	for _, b := range c.places[0].blocks {
		said = append(said, b.lines()...)
	}
	for _, b := range c.ranked {
		relevant := c.isBest(b) || b.end >= c.best.start-maxLinesAbove && b.end < c.best.start
		if b != c.best && relevant && b.step == c.best.step &&
			!neverTransient[b.rule.class] && r.linesAfter(b) <= maxAfter {
			said = append(said, b.lines()...)
		}
	}
	found := Class("")
	if (r.linesAfter(c.best) <= maxAfter || c.best.rule.class == Infrastructure) && !r.testsFailed(c.best) {
		found = transientClassOf(said, r.fetched(c.best))
	}
	switch {
	case found != "" && class != Permission && !r.failedElsewhere(c):
		return found
	case !isTransient[class]:
		return class
	case len(r.tests) > 0:
		return TestFailure
	}
	return cmp.Or(refineClass("", said, permanentCues), RuntimeError)
}

// fetched reports whether a block belongs to a step that is a fetcher.
func (r *logReader) fetched(b *block) bool {
	_, found := slices.BinarySearch(r.fetchers, b.step)
	return found
}

// failedElsewhere reports whether another step failed for a reason that is not transient. In an earlier step any such
// reason counts. In a later one only a tool's own report counts, because other failures may follow from the first
// step's.
func (r *logReader) failedElsewhere(c choice) bool {
	return slices.ContainsFunc(r.ended, func(e stepEnding) bool {
		i := slices.IndexFunc(c.places, func(p place) bool { return p.best.step == e.step })
		switch {
		case e.step == c.best.step:
			return false
		case i < 0:
			return e.step < c.best.step
		case e.step > c.best.step:
			return neverTransient[c.places[i].best.class()]
		}
		return transientClassOf(c.places[i].best.lines(), r.fetched(c.places[i].best)) == ""
	})
}

// permanentCues are cues for the class of a network error that is not transient.
var permanentCues = []classCue{
	{lazyregexp.New(`(?i)(protocol_version|handshake_failure|certificate|sslexception|could not (find|resolve|transfer))`),
		Dependency},
	{lazyregexp.New(`(?i)(not found|\b(30[12]|40[134]|410)\b)`), ExternalDependency},
}

// linesAfter returns the number of lines after a block in its failed step, or in the log if the step has not failed.
// Stack frames don't count.
func (r *logReader) linesAfter(b *block) int {
	if b.failed {
		return b.distance
	}
	return max(0, r.total-b.end-(r.traced-b.tracedBy))
}

// testsFailed reports whether a failed test is reported in the step of a block.
func (r *logReader) testsFailed(b *block) bool {
	return slices.ContainsFunc(r.kept, func(k *block) bool {
		return k != b && k.step == b.step && k.rule.class == TestFailure && !k.rule.soft && (k.test >= 0 || k.size() > 1)
	})
}
