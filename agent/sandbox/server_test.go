//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// server returns a server with a test's script.
func server(name, script string, ports ...int) sandbox.Server {
	return sandbox.Server{Name: name, Ports: ports, Script: script, Socket: "/tmp/" + name + ".sock", Log: "/tmp/" + name,
		Env: []string{"NAME=" + name}}
}

// listens is a script for a server that responds with the number of its processes and with its environment.
const listens = `exec > /tmp/$NAME 2>&1
cat > /tmp/$NAME.py <<'END'
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/" + os.environ["NAME"] + ".sock")
s.listen()
while True:
    c = s.accept()[0]
    try:
        c.sendall(" ".join(sorted(os.environ)).encode())
        c.close()
    except OSError: # who looked whether it is there did not wait
        pass
END
python3 /tmp/$NAME.py &
until [ -S /tmp/$NAME.sock ]; do kill -0 $!; sleep 0.1; done`

// ask returns a shell command that prints the response of a port.
func ask(host string, port int) string {
	const script = `import socket; s = socket.create_connection(("%s", %d)); print(s.makefile().read())`
	return fmt.Sprintf("python3 -c '"+script+"'; ", host, port)
}

// TestServers tests that a server starts at the first connection, on each of its ports and by its name, and gets no
// variables of the command's environment.
func TestServers(t *testing.T) {
	r := run(t, box(t, sandbox.Options{}), sandbox.Command{Dir: tree(t, nil), Env: []string{"SECRET=1"},
		Shell: "[ -e /tmp/one.sock ] || echo not yet; " + ask("one", 5001) + ask("localhost", 5002) + ask("::1", 5002) +
			"ls /tmp", Servers: []sandbox.Server{server("one", listens, 5001, 5002), server("two", listens, 5003)}})
	const env = "HOME LANG NAME PATH PWD TMPDIR"
	got := strings.ReplaceAll(string(r.Output), " LC_CTYPE", "")
	if want := "not yet\n" + env + "\n" + env + "\n" + env + "\none\none.py\none.sock\n"; got != want || !r.OK() {
		t.Errorf("%s\n%q\n%q", r, got, want)
	}
}

// TestServerNeverReady tests that a server that does not get ready is killed with its children, and the command still
// runs.
func TestServerNeverReady(t *testing.T) {
	slow := server("slow", `echo waiting for nothing > /tmp/slow; sleep 8765 & wait`, 5001)
	slow.Within = time.Second
	broken := server("broken", `echo "no $NAME" > /tmp/broken; exit 3`, 5002)
	silent := server("silent", `true`, 5003)
	silent.Within = time.Second
	// Killed processes take a moment to disappear.
	r := run(t, box(t, sandbox.Options{}), sandbox.Command{Dir: tree(t, nil), ServersFirst: true,
		Shell: "until ! grep -qx sleep /proc/[0-9]*/comm 2>/dev/null; do :; done; echo 0 sleep; echo went on; " +
			ask("broken", 5002),
		Servers: []sandbox.Server{slow, broken, silent}})
	got := string(r.Output)
	for _, want := range []string{"slow did not start in the sandbox: it was not ready within 1s: waiting for nothing\n",
		"broken did not start in the sandbox: exit status 3: no broken\n", "silent did not start in the sandbox: it took no ",
		"0 sleep\n", "went on\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if t.Failed() {
		t.Errorf("%s\n%s", r, got)
	}
	if left := alive(t, "sleep\x008765"); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}

// TestServerRefused tests that an invalid server is refused before anything runs.
func TestServerRefused(t *testing.T) {
	nul := server("a", listens, 5001)
	nul.Env = []string{"A=\x00"}
	_, err := box(t, sandbox.Options{}).Run(context.Background(),
		sandbox.Command{Dir: tree(t, nil), Argv: []string{"true"}, Servers: []sandbox.Server{nul}})
	if err == nil || !strings.Contains(err.Error(), "NUL byte") {
		t.Errorf("%v is not about a NUL byte", err)
	}
	if _, err := os.Stat("/tmp/a.sock"); err == nil {
		t.Error("a server ran on the host")
	}
}
