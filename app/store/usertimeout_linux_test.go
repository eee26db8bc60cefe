package store

import (
	"errors"
	"net"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection to the database fails when the peer does not acknowledge sent data.
func TestUnheardConnectionsBreak(t *testing.T) {
	c := silent(t)
	conn, err := c.DialFunc(t.Context(), "tcp", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var bound int
	var failed error
	err = raw.Control(func(fd uintptr) {
		bound, failed = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	})
	if err = errors.Join(err, failed); err != nil || int64(bound) != postgresUserTimeout.Milliseconds() {
		t.Errorf("it breaks after %d ms, %v", bound, err)
	}
}
