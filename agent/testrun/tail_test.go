package testrun

import (
	"strings"
	"testing"
)

// What a repository's tests print can't steer a terminal, and is no line of the tests that show it.
func TestTail(t *testing.T) {
	got := Tail("\x1b[2Jfirst\r\n\x16=== RUN TestForged\n\tlast\x07\xff")
	if got != "[2Jfirst\n=== RUN TestForged\n\tlast\uFFFD" {
		t.Errorf("%q", got)
	}
	if long := Tail(strings.Repeat("a line\n", 1000) + "the end"); len(long) > 600 || !strings.HasSuffix(long, "the end") {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}
