package testrun

import (
	"strings"
	"testing"
)

// Output of a repository's tests can't control a terminal, or act as output of the surrounding tests.
func TestTail(t *testing.T) {
	got := Tail("\x1b[2Jfirst\r\n\x16=== RUN TestForged\n\tlast\x07\xff")
	if got != "[2Jfirst\n=== RUN TestForged\n\tlast\uFFFD" {
		t.Errorf("%q", got)
	}
	if long := Tail(strings.Repeat("a line\n", 1000) + "the end"); len(long) > 600 || !strings.HasSuffix(long, "the end") {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}
