package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// TestLagThatStaysIsSaid: SIA retries a few times if GitHub's data stays outdated, and then shows GitHub's message to
// users.
func TestLagThatStaysIsSaid(t *testing.T) {
	t.Parallel()
	for _, story := range apptest.Stories(t, "testdata/stories") {
		if story.Name != "pass" {
			continue
		}
		s := story.Start(t)
		s.Sim.Lag(1000)
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
			t.Fatal(err)
		}
		s.Settle()
		task := s.Task(1)
		if task.State != sia.OnHold || !strings.Contains(task.Pause.Reason, "Validation Failed: head invalid") {
			t.Errorf("the task is %s: %+v", task.State, task.Pause)
		}
		posts := 0
		for _, c := range s.Sim.Calls() {
			if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/pulls") {
				posts++
			}
		}
		if posts < 2 || posts > 6 {
			t.Errorf("asked %d times", posts)
		}
		s.Sim.Lag(0) // once it is up to date, the task continues
		if _, err := s.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia resume"); err != nil {
			t.Fatal(err)
		}
		s.Settle()
		if got := s.Task(1).State; got != sia.Passed {
			t.Errorf("then the task is %s", got)
		}
	}
}

// TestPullThatStaysBehind: for hours, a pull request may show a head that its branch no longer has. That is no push of
// a person's: SIA waits, asks somebody after the wait in the settings, and goes on when the pull request has caught up.
// https://github.com/strands-labs/robots/issues/2538
func TestPullThatStaysBehind(t *testing.T) {
	t.Parallel()
	for _, story := range apptest.Stories(t, "testdata/stories") {
		if story.Name != "pass-after-sia" {
			continue
		}
		s := story.Start(t)
		s.Hold(apptest.Point{When: "before", Kind: sia.DoPush, Attempt: 2})
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
			t.Fatal(err)
		}
		s.Until()
		if err := s.Sim.LagPulls(apptest.Repo, true); err != nil {
			t.Fatal(err)
		}
		s.Go()
		s.Settle()
		for range 3 {
			s.Wait(10 * time.Minute)
			s.Periodic("look")
			s.Quiet()
		}
		task := s.Task(1)
		if task.State != sia.Escalated || task.Head != task.Attempts[1].Head || len(task.Attempts) != 2 {
			t.Errorf("the task is %s at %s after %d attempts", task.State, task.Head.Short(), len(task.Attempts))
		}
		short := task.Head.Short()
		want := "\nThe pull request does not show " + short + " yet, which has been the head of its branch for 1 minute; "
		if e := task.Escalation; e == nil || !strings.Contains(e.Blocker, want) ||
			e.Question != "Can you see to it that the pull request shows "+short+"?" {
			t.Errorf("it asks %+v", e)
		}
		if err := s.Sim.LagPulls(apptest.Repo, false); err != nil {
			t.Fatal(err)
		}
		s.Settle()
		s.Wait(10 * time.Minute)
		s.Periodic("look")
		s.Settle()
		if task := s.Task(1); task.State != sia.Passed || task.Head != task.Attempts[1].Head {
			t.Errorf("then the task is %s at %s after %d attempts", task.State, task.Head.Short(), len(task.Attempts))
		}
	}
}

// TestClosedAndOpenedAgain: GitHub starts no workflow for a push; a person closes the pull request and opens it again,
// which starts them. The task goes on. Where it stays closed, the task ends.
// https://github.com/lewiswigmore/open-wire/issues/40
// https://github.com/kamp-us/phoenix/issues/1016
func TestClosedAndOpenedAgain(t *testing.T) {
	t.Parallel()
	for _, reopens := range []bool{true, false} {
		s := storyNamed(t, "pass-after-sia").Start(t)
		s.Hold(apptest.Point{When: "before", Kind: sia.DoPush, Attempt: 2})
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
			t.Fatal(err)
		}
		s.Until()
		check(t, s.Sim.SetActions(apptest.Repo, ghsim.Actions{Lost: true}))
		s.Go()
		s.Settle()
		task := s.Task(1)
		if task.State != sia.Escalated || task.Head != task.Attempts[1].Head {
			t.Fatalf("the task is %s at %s", task.State, task.Head.Short())
		}
		check(t, s.Sim.SetActions(apptest.Repo, ghsim.Actions{}))
		check(t, s.Sim.ClosePull(apptest.Repo, task.Pull.Number, apptest.Owner))
		s.Wait(5 * time.Second)
		s.Periodic("look")
		s.Quiet()
		want := sia.Stopped
		if reopens {
			want = sia.Passed
			check(t, s.Sim.ReopenIssue(apptest.Repo, task.Pull.Number, apptest.Owner))
		}
		s.Settle()
		s.Wait(5 * time.Minute)
		if got := s.Task(1); got.State != want {
			t.Errorf("reopened %v: the task is %s: %+v", reopens, got.State, got.Escalation)
		}
	}
}

// A person closes the pull request while SIA waits for checks, and starts the task again before the closing counts. The
// task begins anew, and the closing does not end the new run.
func TestClosedAndStartedAgain(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "pass").Start(t)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	before := s.Task(n)
	check(t, s.Sim.ClosePull(apptest.Repo, before.Pull.Number, apptest.Owner))
	s.Wait(5 * time.Second)
	if _, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia start"); err != nil {
		t.Fatal(err)
	}
	s.Quiet()
	if now := s.Task(n); before.State != sia.Checking || !now.StartedAt.After(before.StartedAt) {
		t.Errorf("the task was %s, and is %s since %s", before.State, now.State, now.Since)
	}
	s.Go()
	s.Settle()
	s.Wait(5 * time.Minute)
	if now := s.Task(n); now.State != sia.Passed || now.Pull.Number == before.Pull.Number {
		t.Errorf("in the end the task is %s with pull request #%d: %s", now.State, now.Pull.Number, now.Ended)
	}
}

// TestStaleConflict: GitHub says that the branch conflicts with its base, which it contains. Nothing is merged or held
// for that, before the pass and after it.
func TestStaleConflict(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		s := storyNamed(t, "pass").Start(t)
		check(t, s.Sim.StaleMerges(apptest.Repo, !after))
		n := openLabelled(t, s, apptest.Owner)
		s.Settle()
		if after {
			check(t, s.Sim.StaleMerges(apptest.Repo, true))
			s.Wait(31 * time.Hour)
			s.Periodic("watch")
			s.Settle()
		}
		task := s.Task(n)
		if task.State != sia.Passed || task.Updates != 0 || len(task.Former) != 0 ||
			!strings.Contains(task.Warning, "To have GitHub look again") {
			t.Errorf("after the pass %v: the task is %s after %d updates, warned of %q: %+v", after, task.State, task.Updates,
				task.Warning, task.Pause)
		}
	}
}

// TestDefaultSetupFails: code scanning's default setup fails for a reason outside the code, and GitHub runs it for
// nobody again. SIA does not ask for that; a person may go on without it.
// https://github.com/github/codeql-action/issues/3465
func TestDefaultSetupFails(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "pass").Start(t)
	check(t, s.Sim.SetActions(apptest.Repo, ghsim.Actions{Default: "name: CodeQL\non: dynamic\njobs:\n" +
		"  analyze: {name: Analyze (go), steps: [{run: 'echo \"curl: (7) Failed to connect to github.com port 443: " +
		"Connection timed out\"; exit 7'}]}\n"}))
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	task := s.Task(n)
	if task.State != sia.Escalated || !strings.Contains(task.Escalation.Blocker, "GitHub lets nobody run it again") ||
		!slices.Equal(task.Escalation.Waives, []string{"Analyze (go)"}) || task.Gate.Reruns != 0 {
		t.Fatalf("the task is %s after %d re-runs: %v, %+v", task.State, task.Gate.Reruns, task.Gate.Explain,
			task.Escalation)
	}
	for _, call := range s.Sim.Calls() {
		if strings.HasSuffix(call.Path, "/rerun-failed-jobs") {
			t.Errorf("it was asked for %s", call.Path)
		}
	}
}

// TestNoWorkflowStarts: GitHub starts no workflow for the first push, and a deploy preview is green. The workflow file
// says that it runs for pull requests, so nothing passes without it.
// https://github.com/lewiswigmore/open-wire/issues/40
func TestNoWorkflowStarts(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "pass").Start(t)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	check(t, s.Sim.SetActions(apptest.Repo, ghsim.Actions{Lost: true}))
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Until()
	_, err := s.Sim.CreateCheck(apptest.Repo, string(s.Task(1).Head), ghsim.AppCheck{App: "vercel",
		Name: "Vercel Preview", Status: "completed", Conclusion: "success"})
	check(t, err)
	s.Go()
	s.Settle()
	task := s.Task(1)
	if e := task.Escalation; task.State != sia.Escalated || !strings.Contains(e.Blocker, ".github/workflows/ci.yml") {
		t.Errorf("the task is %s: %v", task.State, task.Gate.Explain)
	}
	check(t, s.Sim.SetActions(apptest.Repo, ghsim.Actions{}))
	check(t, s.Sim.ClosePull(apptest.Repo, task.Pull.Number, apptest.Owner))
	check(t, s.Sim.ReopenIssue(apptest.Repo, task.Pull.Number, apptest.Owner))
	s.Settle()
	if got := s.Task(1); got.State != sia.Passed {
		t.Errorf("then the task is %s", got.State)
	}
}
