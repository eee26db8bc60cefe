package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// A database that was restored from a backup knows less than GitHub. What it lacks is found there: the task ends as it
// did, with nothing made twice, from whatever moment the backup is.
//
//test:thorough
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	c := crashStories()[0]
	sim, _, v := crashWorld(t, nil, c.model, c.files)
	v.Kills.Every = 4
	db := filepath.Join(v.Config.Dir, "sia.db")
	var backups []string
	for process := begin(t, sim, v); process.wait(t); process = launch(t, v) {
		backups = append(backups, copyDatabase(t, db, t.TempDir()))
	}
	if len(backups) < c.least/v.Kills.Every/2 {
		t.Fatalf("%d backups", len(backups))
	}
	v.Kills.Every = 0
	for i, from := range backups {
		for _, left := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(db + left); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		copyDatabase(t, filepath.Join(from, "sia.db"), v.Config.Dir)
		before := restoredState(t, v)
		if launch(t, v).wait(t) {
			t.Fatal("it was killed")
		}
		ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
		check(t, sim.WaitIdle(ctx))
		cancel()
		if wrong := twice(t, sim); wrong != "" {
			t.Errorf("after backup %d, of a task %s: %s", i+1, before, wrong)
		}
		if after := restoredState(t, v); !strings.HasPrefix(after, string(sia.Passed)) {
			t.Errorf("after backup %d, of a task %s, the task is %s", i+1, before, after)
		}
	}
}

// copyDatabase copies a database that no process has open, with what is beside it, and returns the folder.
func copyDatabase(t *testing.T, db, to string) string {
	t.Helper()
	for _, part := range []string{"", "-wal"} {
		b, err := os.ReadFile(db + part)
		if os.IsNotExist(err) {
			continue
		}
		check(t, err)
		check(t, os.WriteFile(filepath.Join(to, filepath.Base(db)+part), b, 0o600))
	}
	return to
}

// restoredState is how far the task is in the database.
func restoredState(t *testing.T, v victim) string {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: v.Config.WithDefaults().DB})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	task, err := s.Task(t.Context(), v.Task)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, %d attempts", task.State, len(task.Attempts))
}

// twice says what was made twice, or is not as it was; empty: nothing.
func twice(t *testing.T, sim *ghsim.Server) string {
	t.Helper()
	issues, err := sim.Issues(apptest.Repo)
	check(t, err)
	pulls := 0
	for _, i := range issues {
		if i.IsPull {
			pulls++
		}
		said := map[string]bool{}
		for _, c := range i.Comments {
			if said[c.Body] {
				return "a comment was made twice: " + c.Body
			}
			said[c.Body] = true
		}
		if i.Number == 1 && !strings.Contains(strings.Join(i.Labels, " "), render.LabelPassed) {
			return fmt.Sprintf("the issue has the labels %v", i.Labels)
		}
	}
	pull, err := sim.Pull(apptest.Repo, 2)
	check(t, err)
	text, err := sim.File(apptest.Repo, pull.Head, "hello.txt")
	check(t, err)
	if pulls != 1 || len(issues) != 2 || text != "Hello, world!\n" {
		return fmt.Sprintf("%d issues, %d pull requests, %d commits, hello.txt is %q", len(issues), pulls, len(pull.Commits),
			text)
	}
	return ""
}
