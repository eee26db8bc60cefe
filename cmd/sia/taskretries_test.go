package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// TestTaskRetries: the commands about a task name its steps that keep failing, on both databases.
func TestTaskRetries(t *testing.T) {
	for name, open := range map[string]func(testing.TB) string{
		"SQLite": storetest.SQLite, "PostgreSQL": storetest.Postgres,
	} {
		t.Run(name, func(t *testing.T) { checkTaskRetries(t, open(t)) })
	}
}

func checkTaskRetries(t *testing.T, url string) {
	t.Helper()
	s := storetest.Open(t, store.Config{URL: url})
	id := sia.NewTaskID(7, 1)
	if _, err := s.Apply(t.Context(), id, sia.Event{ID: "start", At: time.Now(), Fact: sia.Start{Installation: 3,
		Repo: sia.Repo{ID: 7, Owner: "acme", Name: "shop"}, Issue: 1, Title: "Mend it",
		DefaultBranch: "main"}}); err != nil {
		t.Fatal(err)
	}
	fails := func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) {
		return nil, &sia.Error{Op: "look", Message: "GitHub is down, with\nghp_" + strings.Repeat("a1B2", 9),
			RetryAfter: time.Hour}
	}
	e, err := s.Start(t.Context(), store.Handlers{Effect: fails,
		Delivery: func(context.Context, store.Delivery) error { return nil }}, store.EngineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	effects, err := s.Effects(t.Context(), id)
	if err != nil || len(effects) == 0 {
		t.Fatal(effects, err)
	}
	next, err := s.NextTry(t.Context(), effects[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	said := string(effects[0].Kind) + "  failed 1 time, next at " + next.Local().Format(time.DateTime) +
		": GitHub is down, with [secret: github-pat]"
	for _, command := range []string{"show", "explain"} {
		var out, log bytes.Buffer
		if code := runArgs(t.Context(), []string{"task", command, string(id), "--db", url}, &out, &log); code != 0 ||
			!strings.Contains(out.String(), said) {
			t.Errorf("sia task %s: exit %d, want %q in\n%s%s", command, code, said, &out, &log)
		}
		out.Reset()
		var got struct{ Retries []retriedStep }
		code := runArgs(t.Context(), []string{"task", command, string(id), "--db", url, "--output", "json"}, &out, &log)
		if err := json.Unmarshal(out.Bytes(), &got); code != 0 || err != nil {
			t.Fatal(code, err, log.String())
		}
		want := retriedStep{Step: effects[0].Kind, Key: effects[0].Key, Tries: 1,
			Error: "GitHub is down, with\n[secret: github-pat]", Next: &next}
		if len(got.Retries) != len(effects) || !cmp.Equal(got.Retries[0], want) {
			t.Errorf("sia task %s: %s", command, cmp.Diff([]retriedStep{want}, got.Retries))
		}
	}
}
