package app_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
)

// shownMetrics returns the metrics for Prometheus, one per line.
func shownMetrics(t *testing.T, s *apptest.Stage) []string {
	t.Helper()
	w := httptest.NewRecorder()
	s.App.Metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", w.Code, w.Body)
	}
	return strings.Split(w.Body.String(), "\n")
}

// A task resolved by an intervention counts for the targets, with its models' usage, and the metrics don't reveal what
// was worked on.
//
//test:race
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	resolve(t, s, "Greet the customers")
	lines := shownMetrics(t, s)
	for _, want := range []string{
		`sia_database_up 1`,
		`sia_tasks{state="passed"} 1`, `sia_tasks{state="working"} 0`,
		`sia_waiting{kind="delivery"} 0`, `sia_waiting{kind="effect"} 0`, `sia_deliveries_given_up 0`, `sia_halts 0`,
		`sia_month_tasks{what="passed"} 1`, `sia_month_tasks{what="rescued"} 1`,
		`sia_interventions_resolved_ratio 1`, `sia_first_technique_resolved_ratio 1`, `sia_escalated_ratio 0`,
		`sia_techniques_per_resolution 1`,
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return l == want }) {
			t.Errorf("lacks %s", want)
		}
	}
	for _, begin := range []string{
		`sia_github_rate_limit_left{installation="`, `sia_credits_spent_total `, `sia_credits_per_solved_task `,
		`sia_model_calls_total{model="coder",outcome="answered"} `, `sia_model_calls_total{model="sia",outcome="answered"} `,
		`sia_model_calls_total{model="reviewer",outcome="answered"} `, `sia_model_tokens_total{kind="output",model="coder"} `,
		`sia_model_call_seconds_count{model="coder"} `, `go_goroutines `, `process_open_fds `,
	} {
		if !slices.ContainsFunc(lines,
			func(l string) bool { return strings.HasPrefix(l, begin) && !strings.HasSuffix(l, " 0") }) {
			t.Errorf("nothing but 0 begins with %s", begin)
		}
	}
	for _, secret := range []string{apptest.Name, apptest.Owner, "hello"} {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, `"`+secret) }) {
			t.Errorf("tells of %q", secret)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(lines, "\n"))
	}
}
