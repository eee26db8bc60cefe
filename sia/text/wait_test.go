package text

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 0 ": 0, "2.5": 2500 * time.Millisecond, "1e300": longestWait, "+Inf": longestWait,
		"Sun, 01 Mar 2026 12:00:09 GMT": 9 * time.Second, "Sunday, 01-Mar-26 12:00:09 GMT": 9 * time.Second,
		"Sun Mar  1 12:00:09 2026": 9 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"Fri, 01 Mar 9999 12:00:09 GMT": longestWait,
		"":                              -1, "soon": -1, "-3": -1, "NaN": -1, "7 seconds": -1,
	} {
		if wait, ok := RetryAfter(header, now); ok != (want >= 0) || ok && wait != want {
			t.Errorf("%q: %v, %v, want %v", header, wait, ok, want)
		}
	}
}
