package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// A backup taken while an attempt runs replaces a lost database: the server continues, whether nothing has changed
// since or the task has already passed.
//
//test:thorough
func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		name := "the world stood still"
		if moved {
			name = "the world moved on"
		}
		t.Run(name, func(t *testing.T) {
			s := passStory(t)
			s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
			issue, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers",
				"Put a greeting into `hello.txt`.", "sia")
			if err != nil {
				t.Fatal(err)
			}
			s.Until()

			file := filepath.Join(t.TempDir(), "monday.db")
			var out, errs strings.Builder
			args := []string{"backup", file, "--db", s.Database(), "--output", "json"}
			if code := runCommand(t.Context(), args, &out, &errs); code != cli.ExitDone {
				t.Fatalf("exit %d: %s", code, errs.String())
			}
			var done backedUp
			if err := json.Unmarshal([]byte(out.String()), &done); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() != done.Bytes || done.Schema == 0 {
				t.Errorf("%v %v, %+v", info, err, done)
			}
			if moved {
				s.Go()
				s.Settle()
				if state := s.Task(issue).State; state != sia.Passed {
					t.Fatalf("before the loss it is %s", state)
				}
			}

			s.Lose()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, database, _ := strings.Cut(s.Database(), ":")
			if err := os.WriteFile(database, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s.Restart()
			s.Settle()
			task := s.Task(issue)
			if task.State != sia.Passed || len(task.Attempts) != 1 {
				t.Errorf("restored, it is %s after %d attempts: %+v", task.State, len(task.Attempts), task.Pause)
			}
			if _, err := s.Sim.Pull(apptest.Repo, task.Pull.Number+1); task.Pull.Number == 0 || err == nil {
				t.Errorf("its pull request is #%d, and there is another one", task.Pull.Number)
			}
		})
	}
}

// passStory returns a stage on which every issue passes at its first attempt.
func passStory(t *testing.T) *apptest.Stage {
	t.Helper()
	for _, story := range apptest.Stories(t, "../../app/testdata/stories") {
		if story.Name == "pass" {
			return story.Start(t)
		}
	}
	t.Fatal("there is no story pass")
	return nil
}
