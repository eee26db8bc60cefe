package failure

import (
	"strings"
	"testing"
)

// transientForms are ends of failed steps as CI systems and tools print them, by the class of the transient failure.
var transientForms = map[Class][]string{
	Network: {
		// git, and the steps of CI systems around it
		"fatal: unable to access 'https://github.com/shop/cart/': Could not resolve host: github.com",
		"fatal: unable to access 'https://github.com/shop/cart/': Failed to connect to github.com port 443 after 130021 " +
			"ms: Connection timed out",
		"fatal: unable to access 'https://gitlab.com/shop/cart.git/': The requested URL returned error: 502",
		"fatal: unable to access 'https://github.com/shop/cart/': The requested URL returned error: 500",
		"fatal: unable to access 'https://github.com/shop/cart/': Empty reply from server",
		"fatal: unable to access 'https://github.com/shop/cart/': GnuTLS recv error (-54): Error in the pull function.",
		"fatal: unable to access 'https://github.com/shop/cart/': OpenSSL SSL_read: Connection reset by peer, errno 104",
		"error: RPC failed; curl 92 HTTP/2 stream 0 was not closed cleanly: CANCEL (err 8)\n" +
			"error: 2000 bytes of body are still expected\nfetch-pack: unexpected disconnect while reading sideband packet\n" +
			"fatal: early EOF\nfatal: fetch-pack: invalid index-pack output",
		"error: RPC failed; HTTP 504 curl 22 The requested URL returned error: 504\n" +
			"fatal: the remote end hung up unexpectedly",
		"error: RPC failed; curl 56 GnuTLS recv error (-9): A TLS packet with unexpected length was received.\n" +
			"fatal: the remote end hung up unexpectedly\nfatal: early EOF\nfatal: index-pack failed",
		"##[error]fatal: early EOF\n##[error]fatal: fetch-pack: invalid index-pack output",
		"fatal: The remote end hung up upon initial contact",
		"fatal: unable to connect to github.com:\ngithub.com[0: 140.82.121.4]: errno=Connection timed out",
		"fatal: unable to look up git.kernel.org (port 9418) (Temporary failure in name resolution)",
		"ssh: connect to host github.com port 22: Connection timed out\nfatal: Could not read from remote repository.",
		"ssh: Could not resolve hostname github.com: Temporary failure in name resolution\n" +
			"fatal: Could not read from remote repository.",
		"kex_exchange_identification: Connection closed by remote host\nConnection closed by 140.82.121.3 port 22\n" +
			"fatal: Could not read from remote repository.",
		"remote: Internal Server Error\nfatal: unable to access 'https://github.com/shop/cart/': " +
			"The requested URL returned error: 500",
		"ERROR: Error fetching remote repo 'origin'\nhudson.plugins.git.GitException: Failed to fetch from " +
			"https://github.com/shop/cart.git\n\tat hudson.plugins.git.GitSCM.fetchFrom(GitSCM.java:1003)",
		"ERROR: Error cloning remote repo 'origin'\nhudson.plugins.git.GitException: Command \"git fetch --tags --progress " +
			"https://github.com/shop/cart.git +refs/heads/*:refs/remotes/origin/*\" returned status code 128:\nstdout: \n" +
			"stderr: error: RPC failed; curl 18 transfer closed with outstanding read data remaining\n" +
			"fatal: The remote end hung up unexpectedly",
		"ERROR: Maximum checkout retry attempts reached, aborting",
		// build tools that fetch what they need, and the CI system's own downloads
		"2031/02/03 10:00:00 could not download Bazel: HTTP GET https://releases.shop-build.dev/6.0.0/tool.exe failed: Get " +
			"\"https://releases.shop-build.dev/6.0.0/tool.exe\": dial tcp 130.211.22.235:443: connectex: A connection " +
			"attempt failed because the connected party did not properly respond after a period of time",
		"ERROR: /tmp/http.bzl:155:45: An error occurred during the fetch of repository 'rules_cart+':\n" +
			"   Traceback (most recent call last):\n\tFile \"/tmp/http.bzl\", line 155, column 45, in _http_archive_impl\n" +
			"\t\tdownload_info = ctx.download_and_extract(\nError in download_and_extract: java.io.IOException: Error " +
			"downloading [https://github.com/shop/rules/releases/1.tar.gz] to /tmp/1.tar.gz: GET returned 503 No healthy " +
			"backends",
		"ERROR: no such package '@@rules//': java.io.IOException: Error downloading [https://github.com/shop/rules.tar.gz] " +
			"to /tmp/rules.tar.gz: Connect timed out",
		"could not list versions: could not fetch https://www.shopapis.com/storage/v1: unable to complete request to " +
			"https://www.shopapis.com/storage/v1 within 30s",
		"Download action repository 'shop/setup@v3' (SHA:f43a0e5f)\nWarning: Failed to download action " +
			"'https://api.github.com/repos/shop/setup/tarball/f43a0e5f'. Error: Response status code does not indicate " +
			"success: 503 (Service Unavailable).\nWarning: Back off 18.061 seconds before retry.\n" +
			"##[error]Response status code does not indicate success: 503 (Service Unavailable).",
		"##[error]Can't use 'tar -xzf' extract archive file: /home/runner/work/_actions/_temp_fcab/0f75.tar.gz. return " +
			"code: 2.",
		"##[error]Failed to download archive 'https://codeload.github.com/shop/setup/tar.gz/f43a' after 1 attempts.",
		"pip._vendor.urllib3.exceptions.ProtocolError: (\"Connection broken: ConnectionResetError(104, 'Connection " +
			"reset by peer')\", ConnectionResetError(104, 'Connection reset by peer')) for https://files.pythonhosted.org/x.whl",
		// registries and package managers
		"npm ERR! code ECONNRESET\nnpm ERR! network aborted\n" +
			"npm ERR! network This is a problem related to network connectivity.",
		"npm error code ETIMEDOUT\nnpm error network request to https://registry.npmjs.org/left-pad failed, reason: ",
		"npm ERR! code E503\nnpm ERR! 503 Service Unavailable - GET https://registry.npmjs.org/left-pad",
		"npm ERR! code EAI_AGAIN\nnpm ERR! syscall getaddrinfo\nnpm ERR! request to https://registry.npmjs.org/x failed, " +
			"reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
		"error An unexpected error occurred: \"https://registry.yarnpkg.com/left-pad/-/left-pad-1.3.0.tgz: " +
			"ESOCKETTIMEDOUT\".",
		"pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files.pythonhosted.org', port=443): " +
			"Read timed out.",
		"ERROR: HTTP error 503 while getting https://files.pythonhosted.org/packages/x.whl",
		"W: Some index files failed to download.\nE: Failed to fetch " +
			"http://archive.ubuntu.com/ubuntu/pool/main/c/curl.deb  Connection timed out [IP: 91.189.91.83 80]",
		"E: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/noble/main/Packages.xz  Hash Sum mismatch",
		"[ERROR] Failed to execute goal on project cart: Could not resolve dependencies for project: Could not transfer " +
			"artifact org.slf4j:slf4j-api:jar:1.7.2 from/to central (https://repo.maven.apache.org/maven2): " +
			"Connection timed out",
		"> Could not GET 'https://repo.maven.apache.org/maven2/org/x/x.pom'. Received status code 502 from " +
			"server: Bad Gateway",
		"> Could not get resource 'https://plugins.gradle.org/m2/x.pom'.\n   > Read timed out",
		"go: golang.org/x/net@v0.2.3: Get \"https://proxy.golang.org/x/@v/v1.2.3.mod\": dial tcp: lookup proxy.golang.org: " +
			"i/o timeout",
		"go: github.com/pkg/errors@v0.9.1: Get \"https://proxy.golang.org/x.zip\": net/http: TLS handshake timeout",
		"error: failed to download from `https://static.crates.io/crates/libc/0.2.1/download`\n\nCaused by:\n" +
			"  [28] Timeout was reached (Operation too slow. Less than 10 bytes/sec transferred the last 30 seconds)",
		"error: failed to get `libc` as a dependency of package `shop v0.3.1`\n\nCaused by:\n" +
			"  network failure seems to have happened\n  if a proxy or similar is necessary `net.git-fetch-with-cli` " +
			"may help here",
		"curl: (56) OpenSSL SSL_read: Connection reset by peer, errno 104",
		"curl: (6) Could not resolve host: get.helm.sh",
		"curl: (22) The requested URL returned error: 503",
		"Error response from daemon: Get \"https://registry-1.docker.io/v2/\": net/http: request canceled while waiting " +
			"for connection (Client.Timeout exceeded while awaiting headers): dial tcp 44.1.2.3:443: i/o timeout",
		"ERROR: failed to solve: alpine:3.19: failed to do request: Head " +
			"\"https://registry-1.docker.io/v2/library/alpine\": dial tcp: lookup registry-1.docker.io: no such host",
		"error : Unable to load the service index for source https://api.nuget.org/v3/index.json.",
		"Error: getaddrinfo ENOTFOUND registry.npmjs.org",
		"RequestError: connect ETIMEDOUT 104.16.3.35:443",
		"java.net.UnknownHostException: repo1.maven.org",
		"##[error]Failed to download action 'https://api.github.com/repos/actions/setup-go/tarball/1'. " +
			"Error: Response status code does not indicate success: 503 (Service Unavailable).",
		// the machine's own end of a connection, and its resolver, beside what was talked to
		"go: golang.org/x/net@v0.2.3: Get \"https://proxy.golang.org/x/@v/v1.2.3.mod\": dial tcp: lookup proxy.golang.org " +
			"on 127.0.0.53:53: read udp 127.0.0.1:40341->127.0.0.53:53: i/o timeout",
		"go: golang.org/x/net@v0.2.3: Get \"https://proxy.golang.org/x/@v/v1.2.3.mod\": read tcp " +
			"10.1.0.4:42416->142.250.1.141:443: read: connection reset by peer",
		"Error response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io on " +
			"127.0.0.53:53: read udp 10.1.0.4:57402->10.1.0.2:53: i/o timeout",
		// urllib3, by itself and in pip
		"requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with " +
			"url: /simple/ (Caused by NewConnectionError('<HTTPSConnection object at 0x7f>: Failed to establish a new " +
			"connection: [Errno -3] Temporary failure in name resolution'))",
		"ERROR: Could not install packages due to an OSError: HTTPSConnectionPool(host='files.pythonhosted.org', " +
			"port=443): Max retries exceeded with url: /packages/x.whl (Caused by NewConnectionError(': Failed to " +
			"establish a new connection: [Errno 101] Network is unreachable'))",
	},
	RateLimit: {
		"##[error]API rate limit exceeded for installation ID 12345.",
		"Error response from daemon: toomanyrequests: You have reached your pull rate limit.",
		"HttpError: You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
		"fatal: unable to access 'https://github.com/shop/cart/': The requested URL returned error: 429",
		"npm ERR! code E429\nnpm ERR! 429 Too Many Requests - GET https://registry.npmjs.org/left-pad",
		"> Could not GET 'https://repo.maven.apache.org/maven2/x.pom'. Received status code 429 from server: " +
			"Too Many Requests",
	},
	Infrastructure: {
		"FATAL: Unable to produce a script file\njava.io.IOException: No such file or directory\n" +
			"\tat java.io.UnixFileSystem.createFileExclusively(Native Method)",
		"java.io.IOException: Failed to create a temp file on /home/jenkins/workspace/cart\n" +
			"\tat hudson.FilePath.createTextTempFile(FilePath.java:1466)",
		"FATAL: command execution failed\njava.io.IOException: Cannot run program \"/bin/sh\" (in directory " +
			"\"/home/jenkins/workspace/cart\"): error=11, Resource temporarily unavailable",
		"Build timed out (after 20 minutes). Marking the build as failed.",
		"SEVERE: Executor #3 for agent-7: Unexpected executor death",
		"##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped, or a " +
			"manually started runner is canceled.",
		"The hosted runner: GitHub Actions 9 lost communication with the server. Anything in your workflow that terminates " +
			"the runner process, starves it for CPU/Memory, or blocks its network access can cause this error.",
		"The self-hosted runner: box-7 lost communication with the server. Verify the machine is running and has a healthy " +
			"network connection.",
		"##[error]The hosted runner encountered an error while running your job. (Error Type: Disconnect).",
		"##[error]GitHub Actions has encountered an internal error when running your job.",
		"Cannot contact box-7: java.lang.InterruptedException",
		"Cannot contact test-ubuntu-x64-1: hudson.remoting.ChannelClosedException: Channel " +
			"\"hudson.remoting.Channel@1a2b:box-7\": Remote call on box-7 failed. The channel is closing down or " +
			"has closed down",
		"FATAL: command execution failed\njava.io.IOException: Backing channel 'JNLP4-connect connection from " +
			"203.0.113.7/203.0.113.7:5122' is disconnected.",
		"ERROR: Connection was broken: java.io.IOException: Pipe closed after 0 cycles",
		"java.io.EOFException\nCaused: java.io.IOException: Unexpected termination of the channel\n" +
			"\tat hudson.remoting.SynchronousCommandTransport$ReaderThread.run(SynchronousCommandTransport.java:77)",
		"hudson.remoting.RequestAbortedException: java.nio.channels.ClosedChannelException",
		"Agent went offline during the build\nERROR: Connection was broken",
		"Looks like the node went offline during the build. Check the slave log for the details.",
		"FATAL: java.io.IOException: Remote call on box-7 failed",
		"ERROR: Job failed (system failure): prepare environment: waiting for pod running: timed out",
		"##[error]We stopped hearing from agent Azure Pipelines 4. Verify the agent machine is running and has a " +
			"healthy network.",
		"tar: cart.tar: Wrote only 4096 of 10240 bytes\ntar: Error is not recoverable: No space left on device",
		"npm ERR! code ENOSPC\nnpm ERR! syscall write\nnpm ERR! errno -28\n" +
			"npm ERR! nospc ENOSPC: no space left on device, write",
		"System.IO.IOException: There is not enough space on the disk. : 'D:\\a\\shop\\cart.bin'",
	},
}

// lookAlikes are failures that have the words of transient ones and are not transient.
var lookAlikes = []string{
	// what stays wrong however often it is fetched or begun
	"could not download Bazel: HTTP GET https://releases.shop-build.dev/9.9.9/tool failed with error 404",
	"##[error]Response status code does not indicate success: 404 (Not Found).",
	"Error in download_and_extract: java.io.IOException: Error downloading [https://github.com/shop/rules.tar.gz] to " +
		"/tmp/rules.tar.gz: Checksum was 1f3a but wanted 9c44",
	"Caused by: java.io.IOException: Cannot run program \"node\": error=2, No such file or directory",
	"FAIL: test_download\nAssertionError: expected the download to be retried, but got 'status code 503'",
	"error: Failed to create a temporary file in /var/cart: Permission denied",
	// tests of what a program makes of an error
	"--- FAIL: TestRetry (0.00s)\n    client_test.go:31: got error dial tcp 127.0.0.1:43121: connect: connection " +
		"refused, want nil\nFAIL",
	"--- FAIL: TestResolve (0.01s)\n    dns_test.go:12: lookup nowhere.invalid: no such host; want an address\nFAIL",
	"  ● client › retries\n\n    expect(received).toBe(expected)\n\n    Expected: \"ECONNRESET\"\n" +
		"    Received: \"ECONNREFUSED\"\n",
	"  1) client reports a refused connection:\n     AssertionError: expected 'connect ECONNREFUSED 127.0.0.1:80' to " +
		"equal 'offline'\n" +
		"      at Context.<anonymous> (test/client.js:12:5)",
	"✖ handles ETIMEDOUT from api.github.com\n  AssertionError: expected status 504 to be 200",
	"FAILED tests/test_http.py::test_502 - AssertionError: assert '502 Bad Gateway' == 'ok'",
	"E       requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=8080): Failed to establish " +
		"a new connection: [Errno 111] Connection refused",
	"not ok 3 - rejects with ENOTFOUND when the host is unknown\n  ---\n" +
		"  message: expected rejection with ENOTFOUND\n  ...",
	"AssertionError: expected [Function] to throw 'getaddrinfo ENOTFOUND api.stripe.com'",
	"Expected status code 429 but got 200\n  at Object.<anonymous> (limit.spec.js:14:3)",
	"org.opentest4j.AssertionFailedError: expected: <Connection reset> but was: <Read timed out>",
	"Failure/Error: expect(response.status).to eq(503)\n  expected: 503\n       got: 200",
	"test storage::full ... FAILED\n\n---- storage::full stdout ----\n" +
		"thread 'storage::full' panicked at src/storage.rs:9:\n" +
		"assertion failed: err.contains(\"No space left on device\")",
	"src/client.rs:12:9: error: expected `;`, found `\"connection refused\"`",
	"Issues :-(\n> Links\n  1. 404 https://shop.dev/gone\n" +
		"  2. https://cart.dev Network is unreachable - connect(2) for \"cart.dev\" port 443",
	// a program's own server or database, which its change may have broken
	"Error: connect ECONNREFUSED 127.0.0.1:5432",
	"psycopg2.OperationalError: could not connect to server: Connection refused\n" +
		"\tIs the server running on host \"localhost\"",
	"redis.exceptions.ConnectionError: Error 111 connecting to redis:6379. Connection refused.",
	"java.net.ConnectException: Connection refused (Connection refused)",
	"curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
	"Error: connect ECONNREFUSED ::1:3000\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)",
	"dial tcp 127.0.0.1:8080: connect: connection refused\nexit status 1",
	"dial unix /var/run/shop.sock: connect: connection refused",
	"read tcp 127.0.0.1:42416->127.0.0.1:8080: read: connection reset by peer",
	"dial tcp: lookup db on 127.0.0.11:53: no such host",
	"Traceback (most recent call last):\n  File \"graph.py\", line 9, in walk\n" +
		"RuntimeError: node 12 was removed while it was being visited",
	"RuntimeError: worker lost liveness at release",
	"Error: socket hang up\n    at connResetException (node:internal/errors:720:14)\n" +
		"    at Socket.socketOnEnd (_http_client.js:519:23)",
	"server answered 500 internal server error\nsmoke check of http://localhost:8080/cart has failed",
	"mysqladmin: connect to server at '127.0.0.1' failed\n" +
		"error: 'Can't connect to MySQL server on '127.0.0.1:3306' (111)'",
	// what stays wrong however often it is tried
	"fatal: repository 'https://github.com/shop/gone/' not found",
	"fatal: couldn't find remote ref refs/heads/gone",
	"remote: Permission to shop/cart.git denied to sia.\nfatal: unable to access 'https://github.com/shop/cart/': " +
		"The requested URL returned error: 403",
	"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
	"fatal: Authentication failed for 'https://github.com/shop/cart/'",
	"curl: (22) The requested URL returned error: 404",
	"npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.org/no-such-thing - Not found",
	"Could not transfer artifact x:x:pom:1 from/to clojars (https://repo.clojars.org/): Received fatal alert: " +
		"protocol_version",
	"Error: ENOSPC: System limit for number of file watchers reached, watch '/srv/shop'",
	"curl: (60) SSL certificate problem: certificate has expired",
	"Error response from daemon: manifest for shop/cart:gone not found: manifest unknown",
	"ERROR: Couldn't find any revision to build. Verify the repository and branch configuration for this job.",
	"E: Unable to locate package libcart-dev",
	"ERROR: No matching distribution found for flask==99.1",
	"Error: Cannot find module './retry-econnreset'",
	"TypeError: Cannot read properties of undefined (reading 'ETIMEDOUT')\n    at retry (/srv/shop/retry.js:4:9)",
	"cart.go:12:9: undefined: ErrConnectionRefused",
	"lib/net.c:77:3: error: 'ECONNREFUSED' undeclared (first use in this function)",
}

// survived are network errors after which a step continued, until it failed for another reason.
var survived = []string{
	"warning: spurious network error (2 tries remaining): [6] Couldn't resolve host name (Could not resolve " +
		"host: crates.io)",
	"curl: (6) Could not resolve host: get.helm.sh",
	"fatal: unable to access 'https://github.com/shop/cart/': Could not resolve host: github.com",
	"npm WARN registry Unexpected warning for https://registry.npmjs.org/: ETIMEDOUT, retrying",
	"WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError': /simple/flask/",
	"Warning: Failed to download action. Error: The request timed out. Retrying in 12 seconds.",
	"E: Failed to fetch http://archive.ubuntu.com/ubuntu/x.deb  Connection timed out",
}

const (
	stepHead = "2031-02-03T10:00:00.0000000Z ##[group]Run ./ci.sh\n2031-02-03T10:00:00.0000000Z ##[endgroup]\npreparing\n"
	stepEnd  = "\n##[error]Process completed with exit code 1.\nPost job cleanup.\n"
)

// An error is transient where it ended the step, and not where a test asserted it, where it is about the machine
// itself, and where the step continued. That holds with the frame of a CI system and without.
func TestTransient(t *testing.T) {
	read := func(log string) Report {
		t.Helper()
		rep, err := Read(t.Context(), strings.NewReader(log), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	for class, forms := range transientForms {
		for _, form := range forms {
			for _, log := range []string{form + "\n", stepHead + form + stepEnd} {
				if rep := read(log); rep.Class != class {
					t.Errorf("%s instead of %s:\n%s\nwhy %q", rep.Class, class, log, rep.Why)
				}
			}
		}
	}
	for _, form := range lookAlikes {
		for _, log := range []string{form + "\n", stepHead + form + stepEnd} {
			if rep := read(log); isTransient[rep.Class] {
				t.Errorf("%s, and is not transient:\n%s\nwhy %q", rep.Class, log, rep.Why)
			}
		}
	}
	const end = "\nchecking the cart\nerror: the cart holds -1 pieces of tea\n"
	for _, form := range survived {
		for _, log := range []string{form + strings.Repeat("\nbuilt another part of the shop", 120) + end,
			stepHead + form + strings.Repeat("\nbuilt another part of the shop", 120) + end + stepEnd} {
			if rep := read(log); isTransient[rep.Class] {
				t.Errorf("%s, and was survived:\n%s\nwhy %q", rep.Class, form, rep.Why)
			}
		}
	}
}

// A transient error in another step does not make the failure transient, but one in the first failed step does.
func TestTransientOfOtherSteps(t *testing.T) {
	step := func(said string) string { return strings.TrimSuffix(stepHead+said+stepEnd, "Post job cleanup.\n") }
	const (
		down   = "curl: (6) Could not resolve host: uploader.codecov.io"
		upload = "##[group]Run actions/upload-artifact@v4\nwith:\n##[endgroup]\n" +
			"##[error]Failed to CreateArtifact: request to https://results.actions.dev/twirp failed: ECONNRESET\n"
		retriedError = "##[group]Run actions/checkout@v4\nwith:\n##[endgroup]\n##[error]fatal: unable to access " +
			"'https://github.com/shop/cart/': Could not resolve host: github.com\nWaiting 12 seconds\nFetched.\n"
	)
	for name, c := range map[string]struct {
		log    string
		passes bool
	}{
		"make, then codecov": {step("the till: 3 coins too few\nmake: *** [Makefile:9: test] Error 1") +
			step("[error] 503 Service Unavailable from https://uploader.codecov.io: connection failure"), false},
		"words of no tool, then codecov": {step("price check: tea costs 3, not 4") + step(down), false},
		"make, then an upload":           {step("make: *** [Makefile:9: test] Error 1") + upload, false},
		"tolerated, then a failed test": {step(down) +
			step("--- FAIL: TestTea (0.00s)\n    tea_test.go:9: 3 coins\nFAIL"), false},
		"met and survived, then a failure": {retriedError + step("price check: tea costs 3, not 4"), false},
		"what fails behind a lost fetch":   {step(down) + step("no test reports were found in out/"), true},
	} {
		if rep := read(t, c.log, Options{}); isTransient[rep.Class] != c.passes {
			t.Errorf("%s: %s\n%q\n%s", name, rep.Class, rep.Why, c.log)
		}
	}
}

// A network error of an action that downloads for the job is transient even if it names no host, because the action
// connects to nothing else. One of a script or another action may be about the program that it runs.
func TestTransientOfActions(t *testing.T) {
	failing := func(heading, said string) Class {
		log := "##[group]Run " + heading + "\nwith:\n  token: ***\n##[endgroup]\nGetting ready\n##[error]" + said +
			"\nPost job cleanup.\n"
		return read(t, log, Options{}).Class
	}
	for _, said := range []string{
		"read ECONNRESET", "connect ETIMEDOUT", "getaddrinfo EAI_AGAIN", "getaddrinfo EAI_AGAIN github.shop.corp",
		"connect EHOSTUNREACH 140.82.112.5:443", "Unexpected HTTP response: 503", "503 Service Unavailable",
		"Cache service responded with 503", "HttpError: Bad Gateway", "socket hang up", "Premature close", "fetch failed",
		"Client network socket disconnected before secure TLS connection was established",
		"The operation was aborted due to timeout",
		"Request timeout: /shop/cart/_apis/pipelines/1/runs/2/signedlogcontent/3",
		"Failed to CreateArtifact: Unable to make request: ECONNRESET\nIf you are using self-hosted runners, please make " +
			"sure your runner has access to all GitHub endpoints: https://docs.github.com/en/actions",
		"Failed to FinalizeArtifact: Failed to make request after 5 attempts: Failed request: (503) Service Unavailable",
	} {
		for _, heading := range []string{"actions/checkout@v4", "actions/upload-artifact@v4", "actions/cache/restore@v4",
			"ruby/setup-ruby@a1b2c3d4", "r-lib/actions/setup-r@v2", "docker/login-action@v3"} {
			if class := failing(heading, said); class != Network {
				t.Errorf("%s of %s: %s", said, heading, class)
			}
		}
	}
	for _, said := range []string{
		"Unexpected HTTP response: 404", "connect ECONNREFUSED 127.0.0.1:443", "Unable to locate executable file: node",
		"Unable to find Node version '99' for platform linux and architecture x64.",
		"Failed to CreateArtifact: Received non-retryable error: Failed request: (409) Conflict: an artifact with this " +
			"name already exists on the workflow run",
		"certificate has expired\nfetch failed: certificate has expired",
	} {
		if class := failing("actions/setup-node@v4", said); isTransient[class] {
			t.Errorf("%s: %s", said, class)
		}
	}
	for _, heading := range []string{"cypress-io/github-action@v6", "./.github/actions/setup-shop",
		"actions/github-script@v7"} {
		if class := failing(heading, "read ECONNRESET"); isTransient[class] {
			t.Errorf("%s: %s", heading, class)
		}
	}
}
