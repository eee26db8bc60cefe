package store

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// setUserTimeout makes a connection fail when sent data is not acknowledged in time. Keep-alive does not cover this:
// the kernel probes a peer only while no sent data is unacknowledged.
// https://man7.org/linux/man-pages/man7/tcp.7.html (TCP_USER_TIMEOUT)
func setUserTimeout(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(postgresUserTimeout.Milliseconds()))
	})
	return errors.Join(err, failed)
}
