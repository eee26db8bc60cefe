package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
)

func TestMetricsGolden(t *testing.T) {
	day := time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	solved := story()
	solved.Since, solved.Credits.Spent = day, 2150
	second := story()
	second.Issue, second.Title, second.Since = 7, "Escape | and [this](x) <b>`now`", day.Add(-time.Hour)
	second.Interventions = append(second.Interventions, second.Interventions[0])
	second.Interventions[0].Resolved = ptr(false)
	failed := []string{"greet::TestGreet"}
	solved.Attempts[0].Affected = &sia.AffectedTests{Failed: failed, Told: true, Again: true}
	second.Attempts[0].Affected = &sia.AffectedTests{Failed: failed, Told: true, Again: true, Left: failed}
	asked := story()
	asked.Issue, asked.State, asked.Since, asked.Escalation = 8, sia.Escalated, day.Add(-10*24*time.Hour),
		&sia.Escalation{Kind: sia.AskIssue}
	asked.Interventions[0].Resolved, asked.Attempts = ptr(false), asked.Attempts[:0]
	old := story()
	old.Since, old.Attempts = day.Add(-40*24*time.Hour), nil
	later := story()
	later.Since = day.Add(24 * time.Hour)
	tasks := []sia.Task{second, solved, old, asked, later}
	got := memory.Metrics(day, solved.Repo, tasks)
	golden(t, "metrics.md", got)
	tasks[0], tasks[4] = tasks[4], tasks[0]
	if d := cmp.Diff(string(got), string(memory.Metrics(day.Add(-time.Hour), solved.Repo, tasks))); d != "" {
		t.Error("the same tasks at another hour of the day: ", d)
	}
	if p := memory.MetricsPath(day); p != ".sia/metrics/2026-03-01.md" {
		t.Error(p)
	}
}

func TestMetricsOfNothing(t *testing.T) {
	got := string(memory.Metrics(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), sia.Repo{Owner: "o", Name: "n"}, nil))
	if !strings.Contains(got, "None.") || strings.Contains(got, "NaN") {
		t.Error(got)
	}
}
