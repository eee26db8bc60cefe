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

// Exit statuses of Forward when it can't run the command, as shells have them.
const (
	exitNoForward = 125
	exitNotFound  = 127
)

// leastLandlock is the first version of Landlock that lets programs move files between
// folders.
const leastLandlock = 2

// landlockArgument begins the argument that tells the program inside where a command may
// write.
const landlockArgument = "landlock="

// landlockOption is that argument for a command.
func landlockOption(c Command) string {
	writable := []string{WorkDir, HomeDir, "/tmp", "/dev/shm"}
	for _, m := range c.Mounts {
		if m.Writable {
			writable = append(writable, mountPoint(m))
		}
	}
	return landlockArgument + strings.Join(writable, ":")
}

// Forward runs a command inside a sandbox. It restricts the command with Landlock where the
// first argument says so, and starts the servers that the next one names. In a sandbox with
// sockets that lead out it listens on the sandbox's loopback, at the addresses of the proxy
// and of the service, and passes each connection on to the socket. It returns the command's
// exit status, if it returns. A program that wants sandboxes to be such calls it with the
// arguments that follow those of Options.Self.
func Forward(argv []string) int {
	var writable []string
	if len(argv) > 0 && strings.HasPrefix(argv[0], landlockArgument) {
		writable, argv = strings.Split(strings.TrimPrefix(argv[0], landlockArgument), ":"), argv[1:]
	}
	servers, argv, err := takeServers(argv)
	if err == nil && len(argv) == 0 {
		err = errors.New("there is no command")
	}
	leads := len(servers.Servers) > 0
	for _, out := range []struct{ address, socket string }{{proxyAddress, proxySocket}, {serviceAddress, serviceSocket}} {
		if _, gone := os.Stat(out.socket); gone != nil || err != nil {
			continue // it does not lead out of this sandbox
		}
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", out.address); err == nil {
			// It is closed with the sandbox. More connections would be closed outside.
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

// restrict keeps what this thread starts from writing elsewhere; nowhere: it is not restricted.
func restrict(writable []string) error {
	runtime.LockOSThread() // for good: what is taken from a thread does not come back
	if len(writable) > 0 {
		return restrictThread(writable)
	}
	return nil
}

// runCommand runs a command as a starter's child.
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
