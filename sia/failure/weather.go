package failure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// A transient failure passes by itself: a fetch that broke off, a machine that was lost, a limit that was hit.
// The gate runs a check again after it, so it must be what ended the step. The same words are
// printed by programs under test, by tests of what a program makes of a network error, and by
// what is tried again until it works.

// fetchBroke recognises how tools that fetch over the network say that they could not: git and the
// steps of CI systems around it, package managers, registries, curl.
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

// networkWords are words of a connection that could not be made, whoever says them.
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

// machineWords are what CI systems say of a machine or a channel that was lost.
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

// localPlace is a place that is on the machine itself, or nowhere: what a program under test talks to.
var localPlace = re(`(?i)(\blocalhost\b|\b127\.\d+\.\d+\.\d+|\[?::1\b|\b0\.0\.0\.0|host\.docker\.internal|` +
	`\b(10\.\d+|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+|` +
	`\.(invalid|test|example|local|localdomain|internal)([:/'"\s;,)]|$)|\bresolve host(name)?:? '?[\w-]+'?\)?$|` +
	`\.sock\b|//[\w-]+:\d+|\b(connect|to|host|dial tcp) [\w-]+:\d+\b|\blookup [\w-]+:)`)

// ownEnd is what Go and Docker name beside the thing talked to: the machine's own end of a connection, and
// the resolver that was asked, which may be on the machine.
var ownEnd = re(`( on \S+:53\b|\S+:\d+->(\S+:53\b)?)`)

// isLocal reports whether a text names a place on the machine itself as what was talked to.
func isLocal(text string) bool { return localPlace.MatchString(ownEnd.ReplaceAllString(text, "")) }

// placeholder is a place that documentation and tests name.
var placeholder = re(`(?i)\bexample\.(com|org|net)`)

// remotePlace is a name or an address elsewhere.
var remotePlace = re(`(?i)(https?://[\w-]+\.[\w.-]+|` +
	`\b[\w-]+\.(com|org|net|io|dev|sh|co|cloud|rs|us|eu|de|uk|fr|jp|cn|ru|edu|gov)([:/'"\s)\],;]|\.?$)|` +
	`\b\d+\.\d+\.\d+\.\d+:?(443|80|22)?\b|archive\.ubuntu|registry)`)

// refused is how a machine that is there says that nothing answers.
var refused = re(`(?i)refused`)

// securePlace is a frame of a connection with TLS, which what runs on the machine itself hardly speaks.
var securePlace = re(`(\bsun\.security\.ssl\b|\bHttpsClient\b|\bHttpsURLConnection|` +
	`\bTLSWrap\b|\bTLSSocket\b|\bSSL_connect\b)`)

// isElsewhere reports whether a text names a place that is not the machine itself. What refuses a
// connection must be named; what a connection broke off to need not, where it spoke TLS.
func isElsewhere(text string) bool {
	if placeholder.MatchString(text) {
		return false
	}
	return remotePlace.MatchString(text) || securePlace.MatchString(text) && !refused.MatchString(text)
}

// fetcher is the heading of a step that is a published action which fetches or hands in for the job. It runs nothing
// of the job's, so what it says of the network is of a place elsewhere, named or not.
var fetcher = re(`^[\w.-]+/([\w.-]+/)*(checkout|setup|cache|login|upload|download|deploy-pages|[\w.]+-cache)\b` +
	`[\w./-]*@`)

// asserted is how a test speaks of an error that it wanted, or got in the place of what it wanted, and how a list
// of what was checked is numbered.
var asserted = re(`(?i)(assert|` +
	`\bexpect(ed|s|ing)?\b[^\n]*\b(to|but|got|actual|received|error|not|status|message|result|value)\b|` +
	`\bexpected:|\bgot:|\bwant(ed)?:?\s|\bshould\b|tothrow|\bmock|\bstub|\bfake|simulat|\bspec\b|` +
	`^\s*(✓|✔|✗|✘|×|✕|●|ok \d|not ok|(?-i:--- FAIL|--- PASS|PASS\b|FAIL\b|FAILED\b|E  ))|` +
	`\.t line \d+|_test\.\w+[:(]\d|\.(spec|test)\.\w+[:(]\d|\btests?/\S*\.\w+[:(]\d|` +
	`\b(handles?|returns?|raises?|throws?|retries|rejects?|logs?|reports?|survives?) .*\b(when|if|on|after)\b|` +
	`\btest\w*\(|\bit\(|(^|\s)\d+\. +(\[|\d|http))`)

// lasting is what stays wrong however often it is tried, whatever else a line says.
var lasting = re(`(?i)(blocked mirror|certificate (has |is |verify|problem|not )|protocol_version|handshake_failure|` +
	`\b(401|403|404|407|410)\W{1,3}(unauthorized|forbidden|not found|proxy auth|gone)|` +
	`(error|status|code):? (401|403|404|410)\b)`)

// retried is how a program says that it goes on after an error.
var retried = re(`(?i)\b(retrying|will retry|retries left|tries remaining|will be retried|trying again|attempt \d|` +
	`falling back|fallback|ignoring|ignored|skipping|continuing|going on|using cached|non-fatal|optional)\b`)

// fullDisk and rateLimit are the words of either.
var (
	fullDisk = re(`(?i)(no space left on device|disk quota exceeded|\bENOSPC\b|not enough (free |disk )?space on|` +
		`disk (is )?full)`)
	rateLimit = re(`(?i)(rate limit (exceeded|reached|hit)|exceeded .*rate limit|reached your .*rate limit|` +
		`too ?many ?requests|pull rate limit|quota exceeded|abuse detection|secondary rate limit|` +
		`(HTTP|HTTP/[\d.]+|status(:| code:?)?|returned error:|response:?) ?429\b|\b429 (client error|too many))`)
)

// watchLimit is a limit that Linux words like a full disk, and that waiting does not lift.
var watchLimit = re(`(?i)\bwatch`)

// weatherOf is the class of transient failure that a line names by itself; empty when it names none,
// or of what a test wanted, of a place on the machine itself, or of what is tried again. Where fetched holds, a
// fetcher says it.
func weatherOf(text string, fetched bool) Class {
	var class Class
	switch {
	case machineWords.MatchString(text), fullDisk.MatchString(text) && !watchLimit.MatchString(text):
		class = Infrastructure
	case rateLimit.MatchString(text):
		class = RateLimit
	case fetchBroke.MatchString(text), networkWords.MatchString(text) && (fetched || isElsewhere(text)):
		class = Network
	default:
		return ""
	}
	if asserted.MatchString(text) || retried.MatchString(text) || lasting.MatchString(text) ||
		class != Infrastructure && isLocal(text) {
		return ""
	}
	return class
}

// maxSentence is over how many lines a tool may say that a failure is transient.
const maxSentence = 4

// weatherTold is the class of transient failure that some lines under one another name, the last ones first.
// Lines are read together where one of them has words of the network. Where fetched holds, a fetcher says them.
func weatherTold(said []textLine, fetched bool) Class {
	said = slices.DeleteFunc(said, func(l textLine) bool { return strings.TrimSpace(l.text) == "" })
	trouble := make([]bool, len(said))
	for i, l := range said {
		trouble[i] = networkWords.MatchString(l.text)
	}
	for i := len(said) - 1; i >= 0; i-- {
		text, some := said[i].text, trouble[i]
		found := weatherOf(text, fetched)
		for from := i - 1; found == "" && from >= max(0, i-maxSentence+1); from-- {
			text, some = said[from].text+" "+text, some || trouble[from]
			if some {
				found = weatherOf(text, fetched)
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// maxAfter is how many lines what a transient failure has ended, and what cleans up behind it, may still print.
const maxAfter = 80

// isWeather are the classes that pass by themselves.
var isWeather = map[Class]bool{RateLimit: true, Network: true, Infrastructure: true}

// mendable are the classes of failures that a test, a compiler or a linter has reported in its own form.
var mendable = map[Class]bool{CompileError: true, SyntaxError: true, TypeError: true, LintFormat: true,
	TestFailure: true, Crash: true, OutOfMemory: true, Timeout: true, NotStarted: true}

// classOf is the class of what was chosen: a transient one where that is what ended the step, and something
// else where it isn't. A class that a rule gave, and that was not guessed from words, may rule that out.
func (r *logReader) classOf(c choice, name string) Class {
	class, told := classifyChoice(c, name)
	if c.best == nil || told && mendable[class] || mendable[c.best.class()] {
		return class
	}
	said := slices.Clone(c.best.over)
	for _, b := range c.places[0].blocks {
		said = append(said, b.lines()...)
	}
	for _, b := range c.ranked {
		told := c.tells(b) || b.end >= c.best.start-maxOver && b.end < c.best.start
		if b != c.best && told && b.step == c.best.step && !mendable[b.rule.class] && r.afterBlock(b) <= maxAfter {
			said = append(said, b.lines()...)
		}
	}
	found := Class("")
	if (r.afterBlock(c.best) <= maxAfter || c.best.rule.class == Infrastructure) && !r.testsFailed(c.best) {
		found = weatherTold(said, r.fetched(c.best))
	}
	switch {
	case found != "" && class != Permission && !r.failedElsewhere(c):
		return found
	case !isWeather[class]:
		return class
	case len(r.tests) > 0:
		return TestFailure
	}
	return cmp.Or(refineClass("", said, lastingCues), RuntimeError)
}

// fetched reports whether a block is of a step that is a fetcher.
func (r *logReader) fetched(b *block) bool {
	_, found := slices.BinarySearch(r.fetchers, b.step)
	return found
}

// failedElsewhere reports whether another step than the best block's failed of something that does not pass by
// itself: an earlier one of whatever it says, a later one of what a tool reports in its own form. Whatever else a
// later one says, it may have failed for want of what the first was to make.
func (r *logReader) failedElsewhere(c choice) bool {
	return slices.ContainsFunc(r.ended, func(e stepEnding) bool {
		i := slices.IndexFunc(c.places, func(p place) bool { return p.best.step == e.step })
		switch {
		case e.step == c.best.step:
			return false
		case i < 0:
			return e.step < c.best.step
		case e.step > c.best.step:
			return mendable[c.places[i].best.class()]
		}
		return weatherTold(c.places[i].best.lines(), r.fetched(c.places[i].best)) == ""
	})
}

// lastingCues are cues for what an error of the network is about that is not transient.
var lastingCues = []classCue{
	{lazyregexp.New(`(?i)(protocol_version|handshake_failure|certificate|sslexception|could not (find|resolve|transfer))`),
		Dependency},
	{lazyregexp.New(`(?i)(not found|\b(30[12]|40[134]|410)\b)`), ExternalDependency},
}

// afterBlock is how many lines the step goes on after a block, or the log, where no step has failed. Stack
// frames don't count.
func (r *logReader) afterBlock(b *block) int {
	if b.failed {
		return b.far
	}
	return max(0, r.total-b.end-(r.traced-b.tracedBy))
}

// testsFailed reports whether a failed test was reported in the step of a block.
func (r *logReader) testsFailed(b *block) bool {
	return slices.ContainsFunc(r.kept, func(k *block) bool {
		return k != b && k.step == b.step && k.rule.class == TestFailure && !k.rule.soft && (k.test >= 0 || k.size() > 1)
	})
}
