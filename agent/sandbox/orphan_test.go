//go:build linux

//test:thorough
package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// TestKilledParent tests that a command's processes die when the process that started it is killed at any moment.
//
//test:plain
func TestKilledParent(t *testing.T) {
	for _, kind := range []sandbox.Kind{sandbox.KindFull, sandbox.KindNoProc} {
		t.Run(string(kind), func(t *testing.T) {
			processes := 3 // bubblewrap, the first one in the namespace, the command
			if os.Geteuid() == 0 {
				processes = 5 // plus another bubblewrap and unshare
			}
			for n := range processes + 1 {
				p := startOrphan(t, kind, fmt.Sprintf("%d%d%d", os.Getpid(), len(kind), n))
				if n == 0 {
					p.readLine(t) // the command is running
				}
				for len(p.commands(t)) < n {
				}
				p.killAll(t)
			}
		})
	}
}

// TestKilledParentOfServers tests the same for servers.
func TestKilledParentOfServers(t *testing.T) {
	p := startOrphan(t, sandbox.KindFull, fmt.Sprintf("%d99", os.Getpid()), "server")
	p.readLine(t)
	sleeps := 0
	for _, c := range p.commands(t) {
		if strings.HasSuffix(strings.TrimSpace(c), ": sleep "+p.mark) {
			sleeps++
		}
	}
	if sleeps < 1 {
		t.Errorf("the server does not run: %q", p.commands(t))
	}
	p.killAll(t)
}

// orphan is a process that runs a command in the sandbox.
type orphan struct {
	*exec.Cmd
	out  *bufio.Reader
	mark string
}

func startOrphan(t *testing.T, kind sandbox.Kind, mark string, more ...string) orphan {
	t.Helper()
	cmd := exec.Command(self(t), append([]string{"orphan", string(kind), tree(t, nil), mark}, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return orphan{cmd, bufio.NewReader(out), mark}
}

func (p orphan) readLine(t *testing.T) {
	t.Helper()
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the command did not begin: %q, %v", line, err)
	}
}

func (p orphan) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // it was killed
}

// killAll kills the process, and checks that all others die with it.
func (p orphan) killAll(t *testing.T) {
	t.Helper()
	p.kill(t)
	left := p.commands(t)
	for looks := 0; len(left) > 0 && looks < 1000; looks++ {
		left = p.commands(t)
	}
	if len(left) > 0 {
		t.Fatalf("still running: %v", left)
	}
}

// commands returns the processes of the command.
func (p orphan) commands(t *testing.T) (found []string) {
	for _, s := range alive(t, p.mark) {
		if !strings.Contains(s, " orphan ") {
			found = append(found, s)
		}
	}
	return found
}

// runOrphan runs a command until it is killed.
func runOrphan(args []string) error {
	o := sandbox.Options{Kind: sandbox.Kind(args[0]), Self: []string{"/proc/self/exe", "forward"}}
	if exe, err := os.Executable(); err == nil {
		o.Self[0] = filepath.Clean(exe)
	}
	s, err := sandbox.New(o, sandbox.Probe(context.Background(), o))
	if err != nil {
		return err
	}
	c := sandbox.Command{Dir: args[1], Shell: "echo started; sleep " + args[2], Output: os.Stdout}
	if len(args) > 3 {
		c.Servers, c.ServersFirst = []sandbox.Server{server("beside", "sleep "+args[2]+" & "+listens, 5001)}, true
	}
	_, err = s.Run(context.Background(), c)
	return err
}
