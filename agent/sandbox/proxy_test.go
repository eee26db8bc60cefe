//go:build linux

package sandbox_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// fetch requests pages as package managers do: through the proxy in the environment, with https.
const fetch = `
const http = require('http'), tls = require('tls');
const ask = (host) => new Promise((done) => {
  const [name] = host.split(':');
  const req = http.request({ host: '127.0.0.1', port: 3128, method: 'CONNECT', path: host, headers: { Host: host } });
  req.on('connect', (res, socket) => {
    if (res.statusCode !== 200) return done(host + ' ' + res.statusCode);
    const s = tls.connect({ socket, servername: name, rejectUnauthorized: false }, () => s.write('GET / ` +
	`HTTP/1.0\r\n\r\n'));
    let text = ''; s.on('data', (d) => text += d); s.on('end', () => done(host + ' ' + text.split('\r\n\r\n')[1]));
  });
  req.on('response', (res) => { res.resume(); done(host + ' ' + res.statusCode); });
  req.on('error', (e) => done(host + ' ' + e.code)); req.end();
});
(async () => { for (const h of process.argv.slice(2)) console.log(await ask(h)); })();
`

func TestFetchFromAllowedHostsOnly(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		io.WriteString(w, "package")
	}))
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{"fetch.js": fetch})
	r := run(t, s, sandbox.Command{Dir: dir, Hosts: []string{"localhost:" + port, "away.invalid"},
		Shell: `node fetch.js localhost:` + port + ` 127.0.0.1:` + port +
			` localhost:1 example.com:443 away.invalid:443; echo $HTTPS_PROXY $YARN_HTTPS_PROXY $GOPROXY; ` +
			`(exec 3<>/dev/tcp/127.0.0.1/` + port + `) 2>/dev/null && echo BROKE; exit 7`})
	want := "localhost:" + port + " package\n127.0.0.1:" + port +
		" 403\nlocalhost:1 403\nexample.com:443 403\naway.invalid:443 502\nhttp://127.0.0.1:3128 http://127.0.0.1:3128\n"
	if string(r.Output) != want || r.ExitCode != 7 || asked.Load() != 1 {
		t.Errorf("%s, asked %d times:\n%s\nwant\n%s", r, asked.Load(), r.Output, want)
	}
	// What a package downloads from an allowed host is not left out.
	r = run(t, s, sandbox.Command{Dir: dir, Hosts: []string{"*.googleapis.com"},
		Shell: "echo ${PUPPETEER_SKIP_DOWNLOAD-downloaded} $CYPRESS_INSTALL_BINARY"})
	if string(r.Output) != "downloaded 0\n" {
		t.Errorf("%s\n%s", r, r.Output)
	}
	// Plain HTTP has no TLS name that could be checked.
	r = run(t, s, sandbox.Command{Dir: dir, Hosts: []string{"localhost:" + port},
		Shell: `printf 'GET http://localhost:` + port + `/ HTTP/1.1\r\nHost: localhost:` + port +
			`\r\n\r\n' > /tmp/q; exec 3<>/dev/tcp/127.0.0.1/3128; cat /tmp/q >&3; head -1 <&3`})
	if !strings.Contains(string(r.Output), "405") || asked.Load() != 1 {
		t.Errorf("%s\n%s", r, r.Output)
	}
}

// The refusal of a name with a private address explains how to allow it. The log has the reason, too.
func TestFetchFromAPrivateAddress(t *testing.T) {
	var log bytes.Buffer
	s := box(t, sandbox.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r := run(t, s, sandbox.Command{Dir: tree(t, nil), Hosts: []string{"localhost"},
		Shell: `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT localhost:443 HTTP/1.1\r\nHost: x\r\n\r\n' >&3; ` +
			`tr -d '\r' <&3 | sed -n '1p;$p'`})
	const want = "it leads to an address that is not public; the operator of SIA can allow it with its port, as in " +
		"--setup-hosts=localhost:443"
	logged := log.String()
	if string(r.Output) != "HTTP/1.1 403 Forbidden\n"+want+"\n" || !strings.Contains(logged, want) ||
		!strings.Contains(logged, "dial tcp") {
		t.Errorf("%s\n%s\nlogged: %s", r, r.Output, logged)
	}
	if len(r.Refused) != 1 || !strings.HasSuffix(r.Refused[0], ": "+want) {
		t.Errorf("refused: %q", r.Refused)
	}
}

// A command that connects again and again, as npm 11 does after a refused CONNECT, ends before its time limit, and says
// why.
func TestRefusedWithoutEnd(t *testing.T) {
	s := box(t, sandbox.Options{})
	r := run(t, s, sandbox.Command{Dir: tree(t, map[string]string{"loop.js": `
const http = require('http');
const again = () => http.request({ host: '127.0.0.1', port: 3128, method: 'CONNECT', path: 'away.example:443' })
  .on('connect', (res, s) => { s.destroy(); again(); }).on('error', again).end();
for (let i = 0; i < 20; i++) again();`}), Hosts: []string{"registry.example"}, Shell: "node loop.js",
		Limits: sandbox.Limits{Time: 5 * time.Minute}})
	const why = `it was refused 1000 connections in a row, the last to "away.example:443"`
	if r.Ended != sandbox.ByRefusals || r.Why != why {
		t.Errorf("%s, by %q\n%s", r, r.Ended, r.Output)
	}
	if len(r.Refused) != 1 || !strings.HasPrefix(r.Refused[0], "away.example:443: this host is not allowed") {
		t.Errorf("refused: %q", r.Refused)
	}
}

// Maven, which ignores proxy variables, uses the proxy; without hosts it is offline.
func TestMavenKnowsTheProxy(t *testing.T) {
	s := box(t, sandbox.Options{})
	c := sandbox.Command{Dir: tree(t, nil), Hosts: []string{"registry.invalid"}, Shell: "mvn -B -q org.example:none:1:go"}
	if r := run(t, s, c); len(r.Refused) != 1 || !strings.HasPrefix(r.Refused[0], "repo.maven.apache.org") {
		t.Errorf("refused %q: %s\n%s", r.Refused, r, r.Output)
	}
	c.Hosts = nil
	if r := run(t, s, c); !strings.Contains(string(r.Output), "offline mode") {
		t.Errorf("%s\n%s", r, r.Output)
	}
}

// A tunnel carries only TLS to the requested host: neither plain text nor another name is let through.
func TestTunnelCarriesNothingElse(t *testing.T) {
	var heard atomic.Int32
	_, port, _ := net.SplitHostPort(serve(t, func(c net.Conn) {
		if n, _ := c.Read(make([]byte, 1)); n > 0 {
			heard.Add(1)
		}
	}))
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{"tunnel.js": `
const http = require('http'), tls = require('tls'), host = process.argv[2];
const tunnel = (begin) => new Promise((done) => {
  const to = { host: '127.0.0.1', port: 3128, method: 'CONNECT', path: host, headers: { Host: 'other' } };
  const req = http.request(to);
  req.on('connect', (res, s) => { s.on('close', () => done()).on('error', () => {}); s.resume(); begin(s); });
  req.on('error', () => done()); req.end();
});
(async () => {
  await tunnel((s) => s.write('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n'));
  await tunnel((s) => s.write('SSH-2.0-x\r\n'));
  await tunnel((s) => s.write(Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])));
  await tunnel((s) => s.end());
  for (const servername of ['evil.example', '', 'localhost.evil.example'])
    await tunnel((s) => tls.connect({ socket: s, servername, rejectUnauthorized: false }).on('error', () => {}));
  console.log('tried');
})();`})
	r := run(t, s, sandbox.Command{Dir: dir, Hosts: []string{"localhost:" + port},
		Shell: "node tunnel.js localhost:" + port, Limits: sandbox.Limits{Time: time.Minute}})
	if string(r.Output) != "tried\n" || heard.Load() != 0 {
		t.Errorf("%s, %d came through:\n%s", r, heard.Load(), r.Output)
	}
}

func TestFetchNeedsAWayToRunItself(t *testing.T) {
	s := box(t, sandbox.Options{Self: []string{}})
	if s.CanFetch() {
		t.Error("it claims to fetch")
	}
}

// A service can be reached only by its command, and ends with it.
func TestService(t *testing.T) {
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{"ask.js": `require('http').get(process.argv[2], (r) => ` +
		`r.pipe(process.stdout)).on('error', (e) => console.log(e.code))`})
	service := http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		io.WriteString(w, "served "+r.URL.Path+"\n")
	})
	r := run(t, s, sandbox.Command{Dir: dir, Service: service,
		Shell: "node ask.js " + sandbox.ServiceURL + "/a; node ask.js http://127.0.0.1:3128/; echo $HTTPS_PROXY; cat",
		Stdin: strings.NewReader("input\n")})
	if want := "served /a\nECONNREFUSED\n\ninput\n"; string(r.Output) != want {
		t.Errorf("%s: %q, want %q", r, r.Output, want)
	}
	if r = sh(t, s, dir, "node ask.js "+sandbox.ServiceURL+"/b"); string(r.Output) != "ECONNREFUSED\n" {
		t.Errorf("without: %q", r.Output)
	}
}
