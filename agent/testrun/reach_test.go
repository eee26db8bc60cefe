package testrun

import (
	"net"
	"net/http/httptest"
	"testing"
)

// TestAnswers tests that a server that accepts connections without a response counts as unreachable.
func TestAnswers(t *testing.T) {
	registry := httptest.NewTLSServer(nil)
	defer registry.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for {
			conn, err := mute.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	for address, want := range map[string]bool{registry.Listener.Addr().String(): true, mute.Addr().String(): false} {
		if got := answers(t.Context(), address); got != want {
			t.Errorf("%s answers: %v", address, got)
		}
	}
}
