package lesson

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// after draws a time at or after another.
func after(t *rapid.T, from time.Time, name string) time.Time {
	return from.Add(time.Duration(rapid.Int64Range(0, int64(400*day)).Draw(t, name)))
}

func tried(t *rapid.T) Lesson {
	return Lesson{
		Kind:  rapid.SampledFrom(Kinds).Draw(t, "kind"),
		State: rapid.SampledFrom([]State{Active, Promoted, Archived, Forgotten, Merged}).Draw(t, "state"),
		Good:  float64(rapid.IntRange(0, 30).Draw(t, "good")), Bad: float64(rapid.IntRange(0, 30).Draw(t, "bad")),
		CountedAt: start,
	}
}

// Confidence is a probability. Evidence for the lesson raises it, evidence against it lowers it, and idle time moves it
// towards one half, never past it.
func TestConfidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tried(t)
		now := after(t, start, "now")
		c, lower := l.Confidence(now), l.Lower(now)
		if c <= 0 || c >= 1 || lower <= 0 || lower >= c+.1 {
			t.Fatalf("confidence %v, lower quantile %v", c, lower)
		}
		if g, b := l.Counts(now); g == b && c != .5 {
			t.Fatalf("as much for as against gives %v", c)
		}
		if l.Count(1, 0, now).Confidence(now) < c || l.Count(0, 1, now).Confidence(now) > c {
			t.Fatal("evidence counts the wrong way")
		}
		later := after(t, now, "later")
		if d, e := math.Abs(c-.5), math.Abs(l.Confidence(later)-.5); e > d+1e-12 {
			t.Fatalf("idle time made it surer: %v, then %v from one half", d, e)
		}
		if g, b := l.Counts(later); l.Good > 0 && l.Bad > 0 && math.Abs(g/b-l.Good/l.Bad) > 1e-9 {
			t.Fatalf("fading changed the balance: %v:%v from %v:%v", g, b, l.Good, l.Bad)
		}
	})
}

// Counts are constant for 30 days and halve every 30 days after that.
func TestDecay(t *testing.T) {
	l := Lesson{Good: 8, Bad: 4, CountedAt: start}
	for days, want := range map[int]float64{0: 8, 29: 8, 30: 8, 60: 4, 90: 2, 120: 1} {
		if g, b := l.Counts(start.Add(time.Duration(days) * day)); math.Abs(g-want) > 1e-9 || math.Abs(b-want/2) > 1e-9 {
			t.Errorf("after %d days %v for and %v against, want %v and %v", days, g, b, want, want/2)
		}
	}
	// What is counted late counts in full on what is left.
	if l = l.Count(1, 0, start.Add(60*day)); l.Good != 5 || l.Bad != 2 || !l.CountedAt.Equal(start.Add(60*day)) {
		t.Errorf("%v for, %v against since %s", l.Good, l.Bad, l.CountedAt)
	}
	// What comes out of order takes nothing away.
	if l = l.Count(1, -3, start); l.Good != 6 || l.Bad != 2 || !l.CountedAt.Equal(start.Add(60*day)) {
		t.Errorf("%v for, %v against since %s", l.Good, l.Bad, l.CountedAt)
	}
}

// Counts that people wrote into a file break nothing, and are limited when the lesson is restored.
func TestImpossibleCounts(t *testing.T) {
	for _, l := range []Lesson{{Good: 6, Bad: -5}, {Good: -1, Bad: -1}, {Good: -2, Bad: 6}, {Good: 1e308, Bad: 1e308}} {
		l.CountedAt = start
		l, _ = l.UpdateState(start)
		if c, low := l.Confidence(start), l.Lower(start); !(c > 0 && c < 1 && low >= 0 && low <= 1) {
			t.Errorf("%v for, %v against: %v, at least %v", l.Good, l.Bad, c, low)
		}
		l.ID, l.Kind, l.State, l.Text, l.CountedAt = "0a0000000001", Success, Active, "x", start.AddDate(9, 0, 0)
		l.Words, l.Occurrences = make([]string, 999), -1
		l = l.Restrain(start)
		if (l.Valid() == nil) != (l.Good > 0 && l.Bad > 0) || l.Good > maxCount || l.Bad > maxCount ||
			len(l.Words) != maxListed || l.Occurrences != 0 || !l.CountedAt.Equal(start) {
			t.Errorf("restored as %v for, %v against, at %s, %v", l.Good, l.Bad, l.CountedAt, l.Valid())
		}
	}
}

// A repository configures how fast its evidence fades. A proven lesson begins to fade after twice as long, and loses
// nothing immediately when it is no longer promoted.
func TestDecayDays(t *testing.T) {
	weak, proved := Lesson{Good: 8, Bad: 4, CountedAt: start}, Lesson{Good: 8, CountedAt: start}
	for _, tt := range []struct {
		name string
		l    Lesson
		days int // of decay
		want map[int]float64
	}{
		{"the default", weak, 0, map[int]float64{30: 8, 60: 4}},
		{"ten days", weak, 10, map[int]float64{10: 8, 20: 4, 30: 2}},
		{"a year", weak, 365, map[int]float64{365: 8, 730: 4}},
		{"proved", proved, 0, map[int]float64{30: 8, 60: 8, 90: 4, 120: 2}},
		{"proved, ten days", proved, 10, map[int]float64{20: 8, 30: 4, 40: 2}},
	} {
		tt.l.Decay = tt.days
		for days, want := range tt.want {
			if g, _ := tt.l.Counts(start.Add(time.Duration(days) * day)); math.Abs(g-want) > 1e-9 {
				t.Errorf("%s: after %d days %v for it, want %v", tt.name, days, g, want)
			}
		}
	}
	before, last := proved, 8.0
	for hours := 0; hours < 200*24; hours++ {
		now := start.Add(time.Duration(hours) * time.Hour)
		before, _ = before.UpdateState(now)
		good, _ := before.Counts(now)
		if last-good > .02 {
			t.Fatalf("after %d hours %v became %v at once (%s)", hours, last, good, before.State)
		}
		last = good
	}
	if before.State != Active {
		t.Errorf("after 200 days it is %s", before.State)
	}
}

// UpdateState describes the change, is idempotent, and follows the numbers in docs/lessons.md.
func TestUpdateState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tried(t)
		now := after(t, start, "now")
		s, why := l.UpdateState(now)
		if again, more := s.UpdateState(now); again.State != s.State || more != "" {
			t.Fatalf("settled twice: %s, then %s (%s)", s.State, again.State, more)
		}
		if (why != "") != (s.State != l.State) {
			t.Fatalf("%s → %s, said %q", l.State, s.State, why)
		}
		good, bad := l.Counts(now)
		switch {
		case l.State == Forgotten || l.State == Merged:
			if s.State != l.State {
				t.Fatalf("%s became %s", l.State, s.State)
			}
		case s.State == Promoted && (good < 5 || l.Lower(now) < .6):
			t.Fatalf("promoted with %v for and %v against", good, bad)
		case s.State != Archived && l.Confidence(now) < .35:
			t.Fatalf("%s with confidence %v", s.State, l.Confidence(now))
		case s.State == Archived && l.State != Archived && l.Confidence(now) >= .35:
			t.Fatalf("archived with confidence %v", l.Confidence(now))
		case l.State == Archived && s.State != Archived && good <= bad:
			t.Fatalf("came back with %v for and %v against", good, bad)
		}
	})
}

func TestLife(t *testing.T) {
	l := Lesson{Kind: Success, State: Active, CountedAt: start}
	count := func(good, bad float64) State {
		l = l.Count(good, bad, start)
		l, _ = l.UpdateState(start)
		return l.State
	}
	for i, step := range []struct {
		good, bad float64
		want      State
	}{{4, 0, Active}, {1, 0, Promoted}, {0, 3, Active}, {0, 10, Archived}, {0, 1, Archived}, {20, 0, Active},
		{40, 0, Promoted}} {
		if got := count(step.good, step.bad); got != step.want {
			t.Errorf("step %d: %s, want %s (%v for, %v against)", i, got, step.want, l.Good, l.Bad)
		}
	}
	// What proved itself long ago has to prove itself again.
	if s, _ := l.UpdateState(start.Add(365 * day)); s.State != Active {
		t.Errorf("after a year it is %s", s.State)
	}
}
