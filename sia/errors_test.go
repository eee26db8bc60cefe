package sia

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// A server or a runner can request a wait of at most a day.
func TestRetryAfter(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{
		-1: 0, 0: 0, time.Hour: time.Hour, 24 * time.Hour: 24 * time.Hour, 25 * time.Hour: 24 * time.Hour,
		math.MaxInt64: 24 * time.Hour,
	} {
		if got := RetryAfter(fmt.Errorf("try: %w", &Error{RetryAfter: asked})); got != want {
			t.Errorf("%v: %v, want %v", asked, got, want)
		}
	}
}
