package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// Exit statuses of Forward if it can't run the command, as used by shells.
const (
	exitNoForward = 125
	exitNotFound  = 127
)

// minLandlock is the first version of Landlock that allows moving files between folders.
const minLandlock = 2

// landlockArgument is the prefix of the argument with the folders that a command may write to.
const landlockArgument = "landlock="

// landlockOption returns that argument for a command.
func landlockOption(c Command) string {
	writable := []string{WorkDir, HomeDir, "/tmp", "/dev/shm"}
	for _, m := range c.Mounts {
		if m.Writable {
			writable = append(writable, mountPoint(m))
		}
	}
	return landlockArgument + strings.Join(writable, ":")
}

// Forward runs a command inside a sandbox. It restricts the command with Landlock if the first argument requests that,
// and starts the servers in the next one. If the sandbox has sockets that lead out, it listens on the loopback, at the
// addresses of the proxy and of the service, and passes on each connection to the socket. It returns the command's exit
// status; or it does not return, if it is replaced by the command. A program that uses sandboxes must call it with the
// arguments after those of Options.Self.
func Forward(argv []string) int {
	var writable []string
	if len(argv) > 0 && strings.HasPrefix(argv[0], landlockArgument) {
		writable, argv = strings.Split(strings.TrimPrefix(argv[0], landlockArgument), ":"), argv[1:]
	}
	servers, argv, err := parseServers(argv)
	if err == nil && len(argv) == 0 {
		err = errors.New("there is no command")
	}
	leads := len(servers.Servers) > 0
	for _, out := range []struct{ address, socket string }{{proxyAddress, proxySocket}, {serviceAddress, serviceSocket}} {
		if _, gone := os.Stat(out.socket); gone != nil || err != nil {
			continue // not available in this sandbox
		}
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", out.address); err == nil {
			// It is closed with the sandbox. The outer listener would close further connections.
			go forwardAll(bounded(l, 2*maxServiceConns), out.socket)
			leads = true
		}
	}
	if err == nil && leads {
		var by starter
		if by, err = newStarter(writable); err == nil {
			if err = servers.listenFor(by); err == nil {
				return runCommand(by, argv)
			}
		}
	} else if err == nil {
		err = restrict(writable)
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

func forwardAll(l net.Listener, socket string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go forwardConn(conn, socket)
	}
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
