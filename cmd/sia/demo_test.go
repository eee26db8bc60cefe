package main

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// watched is a writer that calls a function when a text appears.
type watched struct {
	mu    sync.Mutex
	b     strings.Builder
	until string
	then  func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	if strings.Contains(w.b.String(), w.until) {
		w.then()
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// Ctrl-C ends the demo without an error message.
func TestDemoStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watched{until: "opens #", then: cancel}, &strings.Builder{}
	if code := runCommand(ctx, []string{"demo"}, out, errs); code != cli.ExitStopped || errs.String() != "Stopped.\n" ||
		strings.Contains(out.String(), "fail") || strings.Contains(out.String(), "Summary") {
		t.Errorf("exit %d, %q, and\n%s", code, errs, out)
	}
}
