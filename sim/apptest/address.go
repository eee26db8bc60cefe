package apptest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreeAddress is a loopback address, "127.0.0.1:port", that was unused a moment ago, for programs that need their
// address before they listen. The port is below the ephemeral ones (32768 and up on Linux, 49152 and up elsewhere, RFC
// 6335 §6), which another program may get before it is used.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const least, most, tries = 20_000, 32_767, 100
	var lc net.ListenConfig
	var err error
	for range tries {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(least+rand.IntN(most-least+1)))
		var l net.Listener
		if l, err = lc.Listen(t.Context(), "tcp", at); err == nil {
			if err = l.Close(); err != nil {
				break
			}
			return at
		}
	}
	t.Fatalf("find a free port from %d to %d: %v", least, most, err)
	return ""
}
