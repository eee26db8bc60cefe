//go:build linux

//test:thorough
package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
)

// TestMain lets the test binary act in four roles: the tests, the program inside the sandbox, an attacker in the
// sandbox, and a process that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "forward":
			os.Exit(sandbox.Forward(os.Args[2:]))
		case "orphan":
			if err := runOrphan(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "dig":
			nestFolders()
			os.Exit(0)
		case "open":
			openConnections()
			os.Exit(0)
		case "attack":
			attackScript()
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func self(t testing.TB) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// box returns a sandbox of this host.
func box(t testing.TB, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	if o.Self == nil {
		o.Self = []string{self(t), "forward"}
	}
	return sandboxtest.New(t, o)
}

// tree creates a work tree with some files; a name that ends in / is a folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(p, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, p, text)
	}
	return dir
}

func write(t testing.TB, p, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// serve starts a server that handles each connection and then closes it, and returns its address.
func serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return l.Addr().String()
}

func run(t testing.TB, s *sandbox.Sandbox, c sandbox.Command) sandbox.Result {
	t.Helper()
	r, err := s.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sh runs a shell command in a work tree with a generous time limit.
func sh(t testing.TB, s *sandbox.Sandbox, dir, command string) sandbox.Result {
	t.Helper()
	return run(t, s, sandbox.Command{Dir: dir, Shell: command, Limits: sandbox.Limits{Time: time.Minute}})
}

// alive lists the processes of this host with a text in their command line.
func alive(t testing.TB, text string) (found []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lines {
		b, err := os.ReadFile(p)
		if err == nil && bytes.Contains(b, []byte(text)) && p != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			found = append(found, p+": "+strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}
