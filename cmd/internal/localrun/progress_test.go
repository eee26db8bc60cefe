package localrun

import (
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A run without output reports that after a minute, two and four, and starts over after other output.
func TestQuietIsTold(t *testing.T) {
	start := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	q := quiet{since: start}
	var told []time.Duration
	for after := time.Duration(0); after < 10*time.Minute; after += 30 * time.Second {
		if passed := q.due(start.Add(after)); passed > 0 {
			told = append(told, passed)
		}
	}
	if want := []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}; !slices.Equal(told, want) {
		t.Errorf("told after %v, want %v", told, want)
	}
}

// A slow check reports its current step.
func TestStepIsTold(t *testing.T) {
	r := &run{job: job{settings: sia.Settings{Agent: sia.AgentSettings{Test: "make test",
		Setup: []string{"make deps"}}}}}
	attempt := sia.Task{Pending: map[string]sia.EffectKind{"1": sia.DoAttempt}}
	for kind, want := range map[string]string{
		"builtin": "an attempt prepares its checkout, or the model has not answered yet",
		"command": "an attempt prepares its checkout, or the agent's command runs",
	} {
		r.job.settings.Agent.Kind = kind
		if got := r.waitsFor(attempt); got != want {
			t.Errorf("waits for %q, want %q", got, want)
		}
	}
	for command, want := range map[string]string{"make deps": "setup: make deps", "make test": "the check: make test"} {
		r.begins(command)
		if got := r.waitsFor(sia.Task{}); got != want {
			t.Errorf("waits for %q, want %q", got, want)
		}
	}
}
