package sia

import "testing"

// Said reports only what was observed: failed tests count as fixed only if they were run again.
func TestAffectedSaid(t *testing.T) {
	failed := []string{"a::One", "a::Two"}
	for _, c := range []struct {
		affected *AffectedTests
		said     string
		saved    bool
	}{
		{nil, "", false},
		{&AffectedTests{Ran: 3}, "", false},
		{&AffectedTests{Failed: failed}, "2 tests failed before the push", false},
		{&AffectedTests{Failed: failed, Told: true}, "2 tests failed before the push", false},
		{&AffectedTests{Failed: failed, Told: true, Again: true}, "2 tests failed before the push, none does now", true},
		{&AffectedTests{Failed: failed, Told: true, Again: true, Left: failed[:1]},
			"2 tests failed before the push, 1 still does", false},
		{&AffectedTests{Failed: failed, Told: true, Again: true, Left: failed},
			"2 tests failed before the push, 2 still do", false},
	} {
		if got := c.affected.Said(); got != c.said || c.affected.Saved() != c.saved {
			t.Errorf("%+v: %q, saved %v, want %q, %v", c.affected, got, c.affected.Saved(), c.said, c.saved)
		}
	}
}
