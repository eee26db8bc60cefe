package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Notices are recorded per channel, and the first record is kept.
func testNotices(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.SaveNotices(ctx, "webhook", at(0), false, "a"))
	must(t, s.SaveNotices(ctx, "webhook", at(5), true, "a", "b", "c'; DROP TABLE notices"))
	must(t, s.SaveNotices(ctx, "mail", at(6), false, "b"))
	for channel, want := range map[string]map[string]bool{
		"webhook": {"a": true, "b": true, "c'; DROP TABLE notices": true}, "mail": {"b": true}, "other": {},
	} {
		got, err := s.Noticed(ctx, channel, []string{"a", "b", "c'; DROP TABLE notices", "d"})
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", channel, d)
		}
	}
	for _, c := range []struct {
		channel string
		since   time.Time
		single  int
		grouped bool
	}{
		{"webhook", at(-1), 1, true}, {"webhook", at(0), 0, true}, {"webhook", at(5), 0, false}, {"mail", at(0), 1, false},
	} {
		single, grouped, err := s.NoticesSince(ctx, c.channel, c.since)
		must(t, err)
		if single != c.single || grouped != c.grouped {
			t.Errorf("%s since %s: %d, %v", c.channel, c.since, single, grouped)
		}
	}
	must(t, s.SaveNotices(ctx, "webhook", at(0).AddDate(1, 0, 1), false, "z")) // prunes old records
	got, err := s.Noticed(ctx, "webhook", []string{"a", "z"})
	must(t, err)
	if d := cmp.Diff(map[string]bool{"z": true}, got); d != "" {
		t.Error(d)
	}
}

func testSummaries(t *testing.T, s *fixture) {
	ctx := patient(t)
	for _, want := range []time.Time{{}, at(1), at(2)} {
		if !want.IsZero() {
			must(t, s.SaveSummary(ctx, "mail", want))
		}
		got, err := s.SummaryUntil(ctx, "mail")
		must(t, err)
		if d := want.Sub(got).Abs(); d >= time.Microsecond {
			t.Errorf("until %s, want %s", got, want)
		}
	}
	if got, err := s.SummaryUntil(ctx, "webhook"); err != nil || !got.IsZero() {
		t.Errorf("the other channel: %s, %v", got, err)
	}
}
