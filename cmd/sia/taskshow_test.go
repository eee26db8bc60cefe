package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
)

// tasksIn creates a database with tasks of one repository, each with 50 events, and returns its file.
func tasksIn(t testing.TB, tasks int) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "sia.db")
	s := storetest.Open(t, store.Config{URL: file})
	id := sia.NewTaskID(7, 1)
	if _, err := s.Apply(t.Context(), id, sia.Event{ID: "start", At: time.Now(), Fact: sia.Start{Installation: 3,
		Repo: sia.Repo{ID: 7, Owner: "acme", Name: "shop"}, Issue: 1, Title: "Mend it", DefaultBranch: "main"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 49 {
		if _, err := s.Apply(t.Context(), id, sia.Event{ID: fmt.Sprint("edit-", i), At: time.Now(),
			Fact: sia.Edited{Title: fmt.Sprint("Mend it, edition ", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	installed := store.Installation{ID: 3, Account: "acme"}
	if err := errors.Join(s.UpsertInstallation(t.Context(), installed), s.UpsertRepository(t.Context(),
		store.Repository{Repo: sia.Repo{ID: 7, Owner: "acme", Name: "shop"}, Installation: installed.ID})); err != nil {
		t.Fatal(err)
	}
	raw := storetest.Raw(t, "sqlite:"+file)
	for _, statement := range []string{
		`CREATE TEMP TABLE numbers AS
			WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n`,
		`INSERT INTO tasks SELECT '7-' || i, installation_id, repo_id, i, state, title, version,
			json_set(task, '$.id', '7-' || i, '$.issue', i), created_at, updated_at + i, temperature,
			temperature_of, needs
			FROM tasks, numbers WHERE 1 OR ?`,
		`INSERT INTO task_events SELECT '7-' || i, seq, event_id, kind, at + i, by_id, by_login, event, from_state, to_state,
			why, ignored FROM task_events, numbers WHERE 1 OR ?`,
	} {
		raw.SetMaxOpenConns(1) // of the temporary table
		if _, err := raw.Exec(statement, tasks); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// TestTaskByItsIssue: a task is found by its issue's name, no matter how many came after it.
func TestTaskByItsIssue(t *testing.T) {
	db := tasksIn(t, 30)
	var out, said bytes.Buffer
	if code := runArgs(t.Context(), []string{"task", "show", "Acme/Shop#2", "--db", db}, &out, &said); code != 0 ||
		!strings.Contains(out.String(), "acme/shop#2") {
		t.Errorf("exit %d\n%s%s", code, &out, &said)
	}
	if err := storetest.Open(t, store.Config{URL: db}).RemoveInstallation(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if code := runArgs(t.Context(), []string{"task", "show", "acme/shop#2", "--db", db}, io.Discard, &said); code != 0 {
		t.Errorf("after SIA is gone from there: exit %d\n%s", code, &said)
	}
	for _, name := range []string{"acme/shop#31", "acme/else#2"} {
		if code := runArgs(t.Context(), []string{"task", "show", name, "--db", db}, io.Discard, io.Discard); code != 1 {
			t.Errorf("%s: exit %d, want 1", name, code)
		}
	}
}

// TestTasksOfStrangers: untrusted titles and reasons can't control a terminal, and break no table.
func TestTasksOfStrangers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sia.db")
	s := storetest.Open(t, store.Config{URL: file})
	id := sia.NewTaskID(7, 1)
	const theirs = "Mend \x1b]0;it\x07\n\u202enow\u009b"
	for _, fact := range []sia.Fact{
		sia.Start{Installation: 3, Repo: sia.Repo{ID: 7, Owner: "acme", Name: "shop"}, Issue: 1, Title: theirs,
			DefaultBranch: "main"},
		sia.PauseAsked{Reason: theirs}, sia.Stop{Reason: theirs},
	} {
		if _, err := s.Apply(t.Context(), id, sia.Event{ID: string(fact.Kind()), At: time.Now(), Fact: fact}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := learn.NewLessons(s, &secret.Masker{}, slog.New(slog.DiscardHandler), time.Now).Learn(t.Context(),
		lesson.NewTaught(7, "x", theirs, sia.Actor{Login: "mia"}, sia.Task{}, time.Now())); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"task list", "task show 7-1", "task explain 7-1", "lessons list", "lessons show x",
		"lessons forget mend"} {
		var out strings.Builder
		code := runArgs(t.Context(), append(strings.Fields(command), "--db", file), &out, &out)
		if strings.ContainsAny(out.String(), "\x1b\x07\r\u009b\u202e") || !strings.Contains(out.String(), "Mend \ufffd]0") &&
			command != "lessons show x" {
			t.Errorf("%s: exit %d: %q", command, code, out.String())
		}
		if command == "task list" && strings.Count(out.String(), "\n") != 2 {
			t.Errorf("broken table: %q", out.String())
		}
	}
}

// BenchmarkTaskShow: sia task show, of 20,000 tasks with a million events.
func BenchmarkTaskShow(b *testing.B) {
	args := []string{"task", "show", "acme/shop#2", "--db", tasksIn(b, 20_000)}
	for b.Loop() {
		if code := runArgs(b.Context(), args, io.Discard, io.Discard); code != 0 {
			b.Fatal(code)
		}
	}
}
