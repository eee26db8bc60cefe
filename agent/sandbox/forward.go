package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Exit statuses of Forward if it can't run the command, as used by shells.
const (
	exitNoForward = 125
	exitNotFound  = 127
)

// minLandlock is the first version of Landlock that allows moving files between folders.
const minLandlock = 2

// forwardPlan is the first argument of Forward, as JSON.
type forwardPlan struct {
	Writable []string `json:"writable"` // folders that the command may write to; none: it is not restricted
	First    bool     `json:"first"`    // start the servers before the command
	Servers  []Server `json:"servers"`
}

// forwardPlan returns the plan for a command.
func (s *Sandbox) forwardPlan(c Command) forwardPlan {
	p := forwardPlan{First: c.ServersFirst, Servers: c.Servers}
	if s.capability.Landlock == 0 {
		return p
	}
	p.Writable = []string{WorkDir, HomeDir, "/tmp", "/dev/shm"}
	for _, m := range c.Mounts {
		if m.Writable {
			p.Writable = append(p.Writable, mountPoint(m))
		}
	}
	return p
}

// Forward runs a command inside a sandbox, as the plan in the first argument requires: it restricts the command with
// Landlock, and starts servers. If the sandbox has sockets that lead out, it listens on the loopback, at the addresses
// of the proxy and of the service, and passes on each connection to the socket. It returns the command's exit status,
// unless it is replaced by the command. A program that uses sandboxes must call it with the arguments after those of
// Options.Self.
func Forward(argv []string) int {
	var p forwardPlan
	err := errors.New("there is no command")
	if len(argv) > 1 {
		err = json.Unmarshal([]byte(argv[0]), &p)
		argv = argv[1:]
	}
	leads := len(p.Servers) > 0
	for _, out := range []struct{ address, socket string }{{proxyAddress, proxySocket}, {serviceAddress, serviceSocket}} {
		if _, gone := os.Stat(out.socket); gone != nil || err != nil {
			continue // not available in this sandbox
		}
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", out.address); err == nil {
			// It is closed with the sandbox.
			go serveConns(l, 2*maxServiceConns, func(conn net.Conn) { forwardConn(conn, out.socket) })
			leads = true
		}
	}
	if err == nil && leads {
		var by starter
		if by, err = newStarter(p.Writable); err == nil {
			if err = p.listenFor(by); err == nil {
				return runCommand(by, argv)
			}
		}
	} else if err == nil {
		err = restrict(p.Writable)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "forward:", err)
		return exitNoForward
	}
	program, err := exec.LookPath(argv[0])
	if err == nil {
		err = syscall.Exec(program, argv, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "forward:", err)
	return exitNotFound
}

// restrict restricts the writes of this thread, and of the programs that it starts, to some folders; none: no
// restriction.
func restrict(writable []string) error {
	runtime.LockOSThread() // permanently, since the restriction can't be undone
	if len(writable) > 0 {
		return restrictThread(writable)
	}
	return nil
}

// runCommand runs a command as a child of a starter.
func runCommand(by starter, argv []string) int {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it ends with the sandbox
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := by.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
			return 128 + int(st.Signal())
		}
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "forward:", err)
	return exitNotFound
}

func forwardConn(conn net.Conn, socket string) {
	defer conn.Close()
	out, err := (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
	if err != nil {
		return
	}
	defer out.Close()
	copyBothWays(conn, out, 0)
}
