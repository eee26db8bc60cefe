package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/metrics"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// opened returns an empty database with a clock that is set by at.
func opened(t *testing.T, at *time.Time) *store.Store {
	t.Helper()
	s := storetest.Open(t, store.Config{Now: func() time.Time { return *at }})
	return s
}

func handler(t *testing.T, calls *metrics.Calls, s metrics.Reader, at *time.Time) http.Handler {
	t.Helper()
	h, err := metrics.New(calls, s, func() []github.RateLimit {
		return []github.RateLimit{{Installation: 5, Resource: "core", Limit: 5000, Remaining: 12,
			Resets: at.Add(time.Minute)}}
	}, func() int64 { return 3 }, func() (int64, error) { return 5 << 30, nil }, []string{"intake", "work"},
		slog.New(slog.DiscardHandler), func() time.Time { return *at })
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func shown(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// lacking returns the lines of want that are missing.
func lacking(shown string, want ...string) []string {
	lines := strings.Split(shown, "\n")
	return slices.DeleteFunc(want, func(l string) bool { return slices.Contains(lines, l) })
}

// Waiting work is exported with its age, the database is not queried more often than needed, and its failure is
// exported, too.
func TestBacklog(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	s := opened(t, &at)
	h := handler(t, metrics.NewCalls(), s, &at)
	if l := lacking(shown(t, h), "sia_database_up 1", `sia_waiting{kind="delivery"} 0`,
		`sia_oldest_waiting_seconds{kind="delivery"} 0`, `sia_github_rate_limit_left{installation="5",resource="core"} 12`,
		`sia_deliveries_unread_total 3`, `sia_disk_free_bytes 5.36870912e+09`,
		`sia_tasks{state="queued"} 0`); len(l) > 0 {
		t.Errorf("empty, it lacks %q", l)
	}
	if text := shown(t, h); strings.Contains(text, "_ratio ") {
		t.Errorf("shares of nothing:\n%s", text)
	}
	ctx := context.Background()
	_, err := s.SaveDelivery(ctx, store.Delivery{GUID: "g", Event: "issues", Body: []byte("{}"), Received: at})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(ctx, sia.NewTaskID(7, 12),
		sia.Event{ID: "start", At: at, By: sia.Actor{Login: "mia"}, Fact: sia.Start{
			Installation: 3, Repo: sia.Repo{ID: 7, Owner: "acme", Name: "bookings"}, Issue: 12, Title: "Confirm bookings",
			DefaultBranch: "main",
		}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		s.OfferAttempt(ctx, store.RunnerAttempt{Key: "a", Task: sia.NewTaskID(7, 12), Work: []byte("{}")}),
		s.OfferAttempt(ctx, store.RunnerAttempt{Key: "t", TestsOf: "a", Task: sia.NewTaskID(7, 12), Work: []byte("{}")}),
		s.AddRunner(ctx, "mill", "h")); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.ClaimAttempt(ctx, "mill", "p", false, true, time.Hour); err != nil || !found {
		t.Fatal(found, err)
	}
	if l := lacking(shown(t, h), `sia_waiting{kind="delivery"} 0`); len(l) > 0 {
		t.Errorf("asked again at once")
	}
	at = at.Add(40 * time.Second)
	if l := lacking(shown(t, h), `sia_waiting{kind="delivery"} 1`, `sia_oldest_waiting_seconds{kind="delivery"} 40`,
		`sia_oldest_waiting_seconds{kind="effect"} 40`, `sia_tasks{state="queued"} 1`,
		`sia_runner_attempts{kind="attempt",state="waiting"} 1`, `sia_runner_attempts{kind="attempt",state="running"} 0`,
		`sia_runner_attempts{kind="tests",state="waiting"} 0`,
		`sia_runner_attempts{kind="tests",state="running"} 1`); len(l) > 0 {
		t.Errorf("40 seconds later it lacks %q", l)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	at = at.Add(time.Minute)
	text := shown(t, h)
	if l := lacking(text, "sia_database_up 0"); len(l) > 0 || strings.Contains(text, "sia_tasks{") {
		t.Errorf("without a database:\n%s", text)
	}
}

// refusing is a database that rejects writes.
type refusing struct{ *store.Store }

func (refusing) Refused() string { return "the disk is full" }

func TestRefusedWrites(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	s := opened(t, &at)
	for want, from := range map[string]metrics.Reader{"sia_database_writes 1": s, "sia_database_writes 0": refusing{s}} {
		if l := lacking(shown(t, handler(t, metrics.NewCalls(), from, &at)), want, "sia_database_up 1"); len(l) > 0 {
			t.Errorf("it lacks %q", l)
		}
	}
}

// ledger records the start times of the queries for spent credits.
type ledger struct {
	*store.Store
	since *[]time.Time
}

func (l ledger) TotalCreditsSpent(ctx context.Context, from, until time.Time) (sia.Credits, error) {
	*l.since = append(*l.since, from)
	return l.Store.TotalCreditsSpent(ctx, from, until)
}

// What was spent since the start is exported, without what is older and may be deleted before the next start. Each time
// only the last two days are summed.
func TestSpentIsSummedOnce(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	url := storetest.SQLite(t)
	s := storetest.Open(t, store.Config{URL: url, Now: func() time.Time { return at }})
	id := sia.NewTaskID(7, 12)
	if _, err := s.Apply(t.Context(), id, sia.Event{ID: "start", At: at.AddDate(0, 0, -90), Fact: sia.Start{
		Repo: sia.Repo{ID: 7, Owner: "acme", Name: "bookings"}, Issue: 12, Title: "t", DefaultBranch: "main"}}); err != nil {
		t.Fatal(err)
	}
	db := storetest.Raw(t, url)
	spend := func(at time.Time, kind string, amount sia.Credits) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), `INSERT INTO credits
			(task_id, seq, repo_id, installation_id, at, kind, amount) VALUES (?, 1, 7, 0, ?, ?, ?)`,
			id, at.UnixMicro(), kind, amount); err != nil {
			t.Fatal(err)
		}
	}
	var since []time.Time
	h := handler(t, metrics.NewCalls(), ledger{s, &since}, &at)
	spend(at.AddDate(0, 0, -80), "spend", sia.Credit)
	spend(at.Add(-time.Hour), "overrun", sia.Credit/2)
	spend(at.Add(-time.Hour), "reserve", sia.Credit)
	for i, want := range []string{"0", "0.25", "0.5", "0.75"} {
		since = nil
		if l := lacking(shown(t, h), "sia_credits_spent_total "+want); len(l) > 0 {
			t.Errorf("scrape %d lacks %q", i, l)
		}
		for _, from := range since {
			if at.Sub(from) > 72*time.Hour {
				t.Errorf("scrape %d sums all since %s", i, from)
			}
		}
		spend(at, "spend", sia.Credit/4)
		at = at.Add(23 * time.Hour)
	}
}

// archive counts the reads of tasks; with err they fail.
type archive struct {
	*store.Store
	err  error
	read int
}

func (a *archive) Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error) {
	if a.read++; a.err != nil {
		return nil, a.err
	}
	return a.Store.Tasks(ctx, f)
}

// If the targets can't be read, all other metrics are exported, and the targets are read again after their interval.
// Their last values are reused; before the first there are none.
func TestTargetsAreReadApart(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	s := &archive{Store: opened(t, &at), err: context.DeadlineExceeded}
	h := handler(t, metrics.NewCalls(), s, &at)
	for _, c := range []struct {
		after time.Duration
		err   error
		known bool
		read  int
	}{
		{0, s.err, false, 1}, {time.Minute, s.err, false, 1}, {5 * time.Minute, nil, true, 2},
		{5 * time.Minute, s.err, true, 3}, {time.Minute, s.err, true, 3},
	} {
		at, s.err = at.Add(c.after), c.err
		text := shown(t, h)
		l := lacking(text, "sia_database_up 1", `sia_waiting{kind="delivery"} 0`, "sia_halts 0")
		if known := strings.Contains(text, "sia_month_tasks{"); len(l) > 0 || known != c.known || s.read != c.read {
			t.Errorf("%s: it lacks %q; targets told: %v, read %d times", at, l, known, s.read)
		}
	}
}

// Calls are counted by their outcome; wrong token counts of an endpoint can't decrease a counter.
func TestCalls(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	calls := metrics.NewCalls()
	h := handler(t, calls, opened(t, &at), &at)
	calls.Ended(t.Context(), llm.Call{Client: "coder", Usage: llm.Usage{Input: 100, CachedInput: 60, Output: 7},
		Took: 3 * time.Second})
	calls.Ended(t.Context(), llm.Call{Client: "coder", Failed: llm.KindRateLimit})
	calls.Ended(t.Context(), llm.Call{Client: "coder", Ended: true,
		Usage: llm.Usage{Input: -5, CachedInput: 3, Output: -1}})
	if l := lacking(shown(t, h), `sia_model_calls_total{model="coder",outcome="answered"} 1`,
		`sia_model_calls_total{model="coder",outcome="rate_limit"} 1`,
		`sia_model_calls_total{model="coder",outcome="ended"} 1`, `sia_model_tokens_total{kind="input",model="coder"} 40`,
		`sia_model_tokens_total{kind="cached",model="coder"} 63`, `sia_model_tokens_total{kind="output",model="coder"} 7`,
		`sia_model_call_seconds_bucket{model="coder",le="2"} 2`,
		`sia_model_call_seconds_bucket{model="coder",le="5"} 3`); len(l) > 0 {
		t.Errorf("it lacks %q", l)
	}
}

// The dashboard, the alerts and their page use existing metrics, and each metric is used by one of them.
func TestEveryNameIsShown(t *testing.T) {
	names := source(t)
	histogram := "sia_model_call_seconds"
	used := map[string]bool{}
	for _, file := range []string{"dashboard.json", "alerts.yml"} {
		b, err := os.ReadFile(filepath.Join("../../docs/operations", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bsia_[a-z_]+`).FindAllString(string(b), -1) {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if strings.TrimSuffix(name, suffix) == histogram {
					name = histogram
				}
			}
			used[name] = true
			if !slices.Contains(names, name) {
				t.Errorf("%s names %s, which there is not", file, name)
			}
		}
	}
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("%s is in no panel and no alert", name)
		}
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s is not in docs/operations.md", name)
		}
	}
}

// source returns the names of all metrics in the source.
func source(t *testing.T) (names []string) {
	t.Helper()
	for _, file := range []string{"names.go", "calls.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`desc\("([a-z_]+)"|Name: "sia_([a-z_]+)"`).FindAllStringSubmatch(string(b), -1) {
			names = append(names, "sia_"+m[1]+m[2])
		}
	}
	if len(names) < 15 {
		t.Fatalf("found only %q", names)
	}
	return names
}
