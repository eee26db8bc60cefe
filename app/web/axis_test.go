package web

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

// A period of checks lasts from the event that started it to the one that ended it, or to now.
func TestStretchesOfStates(t *testing.T) {
	at := func(n int) time.Time { return time.Date(2026, 5, 4, 14, n, 0, 0, time.UTC) }
	var log []moment
	for i, s := range []sia.State{sia.Working, sia.Checking, sia.Checking, sia.Diagnosing, sia.Reviewing, sia.Working,
		sia.Checking} {
		log = append(log, moment{At: at(i), State: s})
	}
	checks := spansIn(log, at(30), sia.Checking)
	want := []span{{at(1), at(3)}, {at(6), at(30)}}
	if d := cmp.Diff(want, checks, cmp.AllowUnexported(span{})); d != "" {
		t.Error(d)
	}
	if none := spansIn(nil, at(30), sia.Checking); len(none) > 0 {
		t.Errorf("in nothing: %v", none)
	}
}

// An axis is bounded in time and size, and has no empty rows.
func TestAxisIsBounded(t *testing.T) {
	zero := sia.Task{Attempts: make([]sia.Attempt, 300)}
	got := axis(zero, nil, time.Time{})
	if len(got.Rows) != shownAttempts {
		t.Errorf("%d rows", len(got.Rows))
	}
	for _, r := range got.Rows {
		if strings.Contains(string(r.Bar), "NaN") || strings.Contains(string(r.Bar), "Inf") {
			t.Error(r.Bar)
		}
	}
}
