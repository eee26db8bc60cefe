package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// Exit statuses of Forward when it can't run the command, as shells have them.
const (
	exitNoForward = 125
	exitNotFound  = 127
)

// Forward runs a command inside a sandbox with sockets that lead out. It listens on the
// sandbox's loopback, at the addresses of the proxy and of the service, and passes each
// connection on to the socket. It returns the command's exit status. A program that
// wants such sandboxes calls it with the arguments that follow those of Options.Self.
func Forward(argv []string) int {
	if len(argv) == 0 {
		fmt.Fprintln(os.Stderr, "forward: there is no command")
		return exitNoForward
	}
	for _, out := range []struct{ address, socket string }{{proxyAddress, proxySocket}, {serviceAddress, serviceSocket}} {
		if _, err := os.Stat(out.socket); err != nil {
			continue // it does not lead out of this sandbox
		}
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", out.address)
		if err != nil {
			fmt.Fprintln(os.Stderr, "forward:", err)
			return exitNoForward
		}
		go forwardAll(l, out.socket) // it is closed with the sandbox
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it ends with the sandbox
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
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
	done := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // either side may end it
		if c, ok := to.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite()
		}
		done <- struct{}{}
	}
	go pass(out, conn)
	go pass(conn, out)
	<-done
	<-done
}
