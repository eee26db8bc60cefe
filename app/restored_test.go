package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// A database restored from a backup is behind GitHub. The missing data is found there: the task ends as before, with
// nothing duplicated, for every time of the backup.
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
		restore(t, from, v.Config.Dir)
		before := restoredState(t, v)
		if launch(t, v).wait(t) {
			t.Fatal("it was killed")
		}
		ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
		check(t, sim.WaitIdle(ctx))
		cancel()
		if wrong := findDuplicates(t, sim); wrong != "" {
			t.Errorf("after backup %d, of a task %s: %s", i+1, before, wrong)
		}
		if after := restoredState(t, v); !strings.HasPrefix(after, string(sia.Passed)) {
			t.Errorf("after backup %d, of a task %s, the task is %s", i+1, before, after)
		}
	}
}

// Deliveries after the backup succeeded then, so they are not listed as failed. They are requested nevertheless: an
// issue labeled after the backup gets a task again, whether its pull request was ready already or its attempt had just
// begun.
func TestRestoredBeforeTheLabel(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Periodic("redeliver")
	s.Stop()
	db := filepath.Join(s.Folder(), "sia.db")
	backup := copyDatabase(t, db, t.TempDir())
	s.Restart()
	issues := []int{resolve(t, s, "Greet the customers")}
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	issues = append(issues, open(t, s, "Greet the customers"))
	s.Until()
	s.Stop()
	restore(t, backup, s.Folder())
	s.Restart()
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "It arrives before the first look", ""); err != nil {
		t.Fatal(err)
	}
	s.Quiet()
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	s.Periodic("redeliver") // the first request fails, and its process ends
	s.Quiet()
	s.Restart()
	s.Sim.DropDeliveries(nil)
	s.Periodic("redeliver")
	s.Settle()
	for _, n := range issues {
		if task := s.Task(n); task.State != sia.Passed {
			t.Errorf("the task of issue %d is %s: %s", n, task.State, task.Ended)
		}
	}
	all, err := s.Sim.Issues(apptest.Repo)
	check(t, err)
	for _, i := range all {
		if body := duplicateComments(i); body != "" {
			t.Errorf("on #%d a comment was made twice: %s", i.Number, body)
		}
	}
	asked := askedAgain(s)
	s.Restart()
	s.Periodic("redeliver")
	if at, err := s.App.Store.Answered(t.Context()); err != nil || !at.Equal(s.Clock.Now()) {
		t.Errorf("when all has arrived, the database has what was answered until %s, at %s; %v", at, s.Clock.Now(), err)
	}
	if n := askedAgain(s) - asked; n != 0 {
		t.Errorf("when all has arrived, it asks for %d", n)
	}
}

// A standby that lacks the last seconds may become the primary without the running server noticing.
func TestLostWhileItRuns(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Periodic("redeliver")
	resolve(t, s, "Greet the customers")
	if _, err := storetest.Raw(t, s.Database()).Exec(`DELETE FROM deliveries WHERE event = 'issues'`); err != nil {
		t.Fatal(err)
	}
	for want := range 2 {
		s.Periodic("redeliver")
		s.Quiet()
		if asked := askedAgain(s); (asked > 0) != (want > 0) {
			t.Errorf("%d asked for, after %d waits", asked, want)
		}
		s.Clock.Jump(s.Clock.Now().Add(10 * time.Minute))
	}
	asked := askedAgain(s)
	s.Periodic("redeliver")
	if n := askedAgain(s) - asked; n != 0 {
		t.Errorf("what has arrived is asked for again, %d times", n)
	}
}

// A new database does not request what GitHub delivered to a previous one.
func TestNewDatabaseAsksForNothing(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Periodic("redeliver")
	resolve(t, s, "Greet the customers")
	s.Lose()
	s.Restart()
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "It arrives before the first look", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.Quiet()
		s.Periodic("redeliver")
	}
	if n := askedAgain(s); n != 0 {
		t.Errorf("it asked for %d deliveries", n)
	}
}

// restore replaces a database that no process has open by a copy.
func restore(t *testing.T, from, folder string) {
	t.Helper()
	for _, left := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(folder, "sia.db"+left)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	copyDatabase(t, filepath.Join(from, "sia.db"), folder)
}

// copyDatabase copies a database that no process has open, including its side files, and returns the folder.
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

// restoredState returns the task's state in the database.
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

// duplicateComments returns the duplicate comments on an issue; empty: none.
func duplicateComments(i ghsim.IssueView) string {
	said := map[string]bool{}
	for _, c := range i.Comments {
		if said[c.Body] {
			return c.Body
		}
		said[c.Body] = true
	}
	return ""
}

// findDuplicates returns what was duplicated, or differs from before; empty: nothing.
func findDuplicates(t *testing.T, sim *ghsim.Server) string {
	t.Helper()
	issues, err := sim.Issues(apptest.Repo)
	check(t, err)
	pulls := 0
	for _, i := range issues {
		if i.IsPull {
			pulls++
		}
		if body := duplicateComments(i); body != "" {
			return "a comment was made twice: " + body
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
