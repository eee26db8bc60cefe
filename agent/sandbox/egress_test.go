//go:build linux

package sandbox_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// A command that opens many connections to the service can use only a few, and can't use up those of others: each
// command has its own service.
func TestServiceConnectionsAreBounded(t *testing.T) {
	s := box(t, sandbox.Options{})
	r := run(t, s, sandbox.Command{Dir: attackerTree(t), Limits: sandbox.Limits{Time: time.Minute},
		Shell:   "./attacker open 127.0.0.1:3129 1500",
		Service: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })})
	var open int
	if _, err := fmt.Sscanf(string(r.Output), "%d are open", &open); err != nil || !r.OK() {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	if open == 0 || open > 64 {
		t.Errorf("%d connections were accepted", open)
	}
}

// The size of a request's header is limited, too.
func TestServiceHeadIsBounded(t *testing.T) {
	s := box(t, sandbox.Options{})
	r := run(t, s, sandbox.Command{Dir: tree(t, nil), Limits: sandbox.Limits{Time: time.Minute},
		Shell: `exec 3<>/dev/tcp/127.0.0.1/3129; { printf 'GET / HTTP/1.1\r\nHost: x\r\n'; for i in $(seq 3000); do ` +
			`printf 'X-%d: ` + strings.Repeat("x", 60) + `\r\n' $i; done; printf '\r\n'; } >&3 2>/dev/null; head -1 <&3`,
		Service: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })})
	if !strings.Contains(string(r.Output), "431") {
		t.Errorf("%s\n%s", r, r.Output)
	}
}

// The path of a socket is limited to 107 bytes, and that of the folder for temporary files is not.
func TestServiceInALongFolder(t *testing.T) {
	s := box(t, sandbox.Options{})
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	r := run(t, s, sandbox.Command{Dir: tree(t, nil),
		Shell:   `exec 3<>/dev/tcp/127.0.0.1/3129; printf 'GET / HTTP/1.0\r\n\r\n' >&3; tail -1 <&3`,
		Service: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })})
	if left, err := os.ReadDir(long); string(r.Output) != "hello" || len(left) > 0 || err != nil {
		t.Errorf("%s, left %v, %v:\n%s", r, left, err, r.Output)
	}
}
