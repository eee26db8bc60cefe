package web

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

// A stretch of checks lasts from the event that began it to the one that ended it, or to now.
func TestStretchesOfStates(t *testing.T) {
	at := func(n int) time.Time { return time.Date(2026, 5, 4, 14, n, 0, 0, time.UTC) }
	var log []moment
	for i, s := range []sia.State{sia.Working, sia.Checking, sia.Checking, sia.Diagnosing, sia.Reviewing, sia.Working,
		sia.Checking} {
		log = append(log, moment{At: at(i), State: s})
	}
	checks := within(log, at(30), sia.Checking)
	want := []span{{at(1), at(3)}, {at(6), at(30)}}
	if d := cmp.Diff(want, checks, cmp.AllowUnexported(span{})); d != "" {
		t.Error(d)
	}
	if none := within(nil, at(30), sia.Checking); len(none) > 0 {
		t.Errorf("in nothing: %v", none)
	}
}

// Pictures hold what strangers wrote as text, and bounds that no time and no number exceeds.
func TestPicturesHoldText(t *testing.T) {
	evil := `</text><script>alert(1)</script>`
	if got := string(bars("x", evil, []tallyLine{{Shown: evil, Share: shareOf(1, 2)}})); strings.Contains(got, "<script") {
		t.Error(got)
	}
	zero := sia.Task{Attempts: make([]sia.Attempt, 300)}
	if got := string(axis(zero, nil, time.Time{})); strings.Contains(got, "NaN") || strings.Contains(got, "Inf") ||
		strings.Count(got, "Attempt 0") > shownAttempts {
		t.Error(got)
	}
}
