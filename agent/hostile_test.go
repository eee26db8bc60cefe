package agent_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// TestHostileTests runs whole attempts on a repository with tests that are bombs: the agent is told how they ended, the
// attempt continues to its end, and no process remains. agent/sandbox tests single commands, and gitops what a
// repository can make git run.
func TestHostileTests(t *testing.T) {
	outside := t.TempDir()
	secret := "host-secret-77a0"
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_TOKEN", secret)
	// The memory limit keeps fork bombs small, so that they end by the time limit.
	limits := sandbox.Limits{Time: 2 * time.Second, Memory: 512 << 20, Processes: 64, Temp: 64 << 20, FileSize: 64 << 20,
		Disk: 64 << 20, Files: 5000, Printed: 1 << 20}
	box := sandboxtest.New(t, sandbox.Options{Limits: limits})
	for _, c := range []struct{ name, sh, says string }{
		{"a fork bomb", `bomb() { bomb | bomb & }; bomb; for i in $(seq 9); do sleep 616162; done`, "fork"},
		{"a memory bomb", `tail /dev/zero`, "stopped: it needed more than 512 MiB of memory"},
		{"a disk bomb", `for i in $(seq 60); do head -c 8000000 /dev/zero > f$i; done; sleep 60`,
			"stopped: its files take up more than 64 MiB"},
		{"endless output", `yes`, "stopped: it printed more than 1 MiB"},
		{"a daemon", `(setsid nohup sleep 616162 >/dev/null 2>&1 &); echo started; exit 1`, "exit status 1"},
		{"the host's files", `cat ` + outside +
			`/secret /root/.ssh/* ~/.git-credentials ~/.netrc; env; cat /proc/*/environ; exit 1`, "exit status 1"},
		{"other workspaces", `cat ../*/secret ../*/*/secret; echo x > ../planted; ln -s ` + outside +
			` out; cat out/secret; echo x > out/planted; exit 1`, "exit status 1"},
		{"the network", `exec 3<>/dev/tcp/1.1.1.1/443 && echo conn''ected; exit 1`, "exit status 1"},
		{"git", `printf '* filter=evil\n' > .gitattributes; (git config filter.evil.clean 'touch ran'; echo x > ` +
			`.git/hooks/pre-commit) 2>&1; git submodule add file://` + outside + ` sub; exit 1`, "exit status 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := contained(t, turns(calls(scripted.Call{Name: "test"}), done), "",
				func(c *containment) { c.box = box })
			b.in.Test = c.sh
			if c.name == "a fork bomb" {
				b.in.Test = "timeout 2 bash -c '" + c.sh + "'"
			}
			b.write(".git/config", "[core]\n\tbare = false\n")
			b.write(".git/hooks/.keep", "")
			if res := b.run(); res.End != sia.EndFinished {
				t.Errorf("%+v", res)
			}
			got := b.results("test")[0]
			if !strings.HasPrefix(got, "The tests fail") || !strings.Contains(got, c.says) || strings.Contains(got, secret) ||
				strings.Contains(got, "connected") {
				t.Errorf("the agent was told:\n%.2000s", got)
			}
			for _, p := range []string{filepath.Join(outside, "planted"), filepath.Join(filepath.Dir(b.in.Dir), "planted"),
				filepath.Join(b.in.Dir, ".git", "hooks", "pre-commit"), filepath.Join(b.in.Dir, "ran")} {
				if _, err := os.Lstat(p); err == nil {
					t.Errorf("it wrote %s", p)
				}
			}
			if left := alive(t, "sleep\x00616162"); len(left) > 0 {
				t.Errorf("still running: %v", left)
			}
		})
	}
}

// alive lists the processes of this host with a text in their command line.
func alive(t *testing.T, text string) (found []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lines {
		if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), text) {
			found = append(found, p)
		}
	}
	return found
}

// TestSetupFetches tests that setup commands reach only the allowed hosts, and the agent's commands none.
func TestSetupFetches(t *testing.T) {
	var asked atomic.Int32
	serve := func() string {
		srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			io.WriteString(w, "package 1.2.3")
		}))
		t.Cleanup(srv.Close)
		_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return "localhost:" + port
	}
	allowed, other := serve(), serve()
	b := contained(t, turns(command("cat $npm_config_cache/*; sh ./fetch.sh "+allowed+" 2>&1 || echo unreachable"), done),
		t.TempDir(), func(c *containment) {
			c.box, c.hosts = sandboxtest.New(t, sandbox.Options{Self: forwarding(t)}), []string{allowed}
		})
	b.write("fetch.sh", `exec node -e '
const http = require("http"), tls = require("tls"), host = process.argv[1];
http.request({ host: "127.0.0.1", port: 3128, method: "CONNECT", path: host, headers: { Host: host } })
  .on("connect", (res, socket) => { if (res.statusCode !== 200) { console.log("refused"); process.exit(); }
    const s = tls.connect({ socket, servername: "localhost", rejectUnauthorized: false }, () => s.write("GET / `+
		`HTTP/1.0\r\n\r\n"));
    let text = ""; s.on("data", (d) => text += d); s.on("end", () => console.log(text.split("\r\n\r\n")[1])); })
  .on("error", (e) => { console.log(e.code); process.exit(1); }).end();' "$1"
`)
	b.in.OnBase = true
	b.in.Setup = []string{"mkdir -p $npm_config_cache && sh ./fetch.sh " + allowed +
		" > $npm_config_cache/got && sh ./fetch.sh " + other + " > $npm_config_cache/refused"}
	if res := b.run(); res.End != sia.EndFinished {
		t.Errorf("%+v", res)
	}
	if got, want := b.results("run")[0],
		"exit status 0\npackage 1.2.3\nrefused\nECONNREFUSED\nunreachable\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if want := "setup with network to " + allowed + ", kept"; b.rec.notes() != want || asked.Load() != 1 {
		t.Errorf("%d requests; %s", asked.Load(), b.rec.notes())
	}
}
