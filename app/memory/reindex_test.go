package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia/lesson"
)

// Of more live lessons than a repository may have, a reindex takes those with the highest confidence.
func TestReindexLimitsLessons(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var all []lesson.Lesson
	for n := range maxLessons + 10 {
		all = append(all, lesson.Lesson{ID: lesson.ID(fmt.Sprintf("%012x", n)), State: lesson.Active,
			Good: float64(n % maxLessons), CountedAt: now})
	}
	all[3].State = lesson.Archived
	known := []lesson.Lesson{all[0], {ID: "ffffffffffff", State: lesson.Active}}
	x := &rebuild{branches: &Branches{now: func() time.Time { return now }}}
	var left []string
	got := x.limit(slices.Clone(all), known)
	for _, l := range all {
		if !slices.ContainsFunc(got, func(g lesson.Lesson) bool { return g.ID == l.ID }) {
			left = append(left, string(l.ID[9:]))
		}
	}
	// Of 2008 new ones, 1998 have room: the first and the fourth are no new live ones.
	if want := "001 002 004 005 7d0 7d1 7d2 7d3 7d4 7d5"; strings.Join(left, " ") != want ||
		!strings.HasPrefix(fmt.Sprint(x.out.Problems), "[10 lessons with the lowest confidence are left out") {
		t.Errorf("left out %v, want %s: %v", left, want, x.out.Problems)
	}
	if got := x.limit(all[:maxLessons], nil); len(got) != maxLessons || len(x.out.Problems) != 1 {
		t.Errorf("%d of as many as there may be; %v", len(got), x.out.Problems)
	}
}
