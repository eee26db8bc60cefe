package store

import (
	"testing"
	"time"
)

// The schedule of an installation with 3,000 repositories respects GitHub's limits in every minute and hour, and ends.
func TestPlanOfManySetups(t *testing.T) {
	const writes = 7 // for one repository
	for _, n := range []int{1, 8, 300, 3000} {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		var due []time.Time
		var last time.Time
		for range n {
			var at time.Time
			last, at = setupSlot(now, last)
			due = append(due, at)
		}
		for _, limit := range []struct {
			per  time.Duration
			most int
		}{{time.Minute, 80}, {time.Hour, 500}} {
			first := 0
			for i := range due {
				for due[i].Sub(due[first]) >= limit.per {
					first++
				}
				if made := (i - first + 1) * writes; made > limit.most {
					t.Fatalf("%d repositories: %d writes within %s at number %d", n, made, limit.per, i)
				}
			}
		}
		if took := due[n-1].Sub(now); took > time.Duration(n)*time.Minute {
			t.Errorf("%d repositories take %s", n, took)
		}
		if n <= setupBurst && !due[n-1].Equal(now) {
			t.Errorf("the last of %d repositories waits until %s", n, due[n-1])
		}
	}
}
