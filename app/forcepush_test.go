package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// storyNamed returns a story by its name.
func storyNamed(t *testing.T, name string) apptest.Story {
	t.Helper()
	all := apptest.Stories(t, "testdata/stories")
	i := slices.IndexFunc(all, func(s apptest.Story) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no story %s", name)
	}
	return all[i]
}

// TestForcePushBlocked: a fresh start replaces what is on the branch, also where a rule lets branches only move
// forward. The commit is a merge commit only if the base has moved, because another rule may forbid those.
func TestForcePushBlocked(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		s := storyNamed(t, "fresh-start").Start(t)
		s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 2})
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
			t.Fatal(err)
		}
		s.Until()
		branch, first := s.Task(1).Branch, string(s.Task(1).Head)
		if moved {
			_, err := s.Sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Add a file",
				map[string]string{"OTHER.md": "Else.\n"})
			check(t, err)
		}
		s.Hold(apptest.Point{When: "before", Kind: sia.DoPush, Attempt: 2})
		s.Go()
		s.Until()
		check(t, s.Sim.AddRule(apptest.Repo, branch, ghsim.Rule{Type: "non_fast_forward"}))
		s.Go()
		s.Settle()
		task := s.Task(1)
		if task.State != sia.Passed {
			t.Fatalf("the task is %s: %+v", task.State, task.Pause)
		}
		pull, err := s.Sim.Pull(apptest.Repo, task.Pull.Number)
		check(t, err)
		want := 2
		if moved {
			want = 3 // also the attempt's own commit, by which the branch contains the base
		}
		if files := strings.Join(pull.Files, " "); files != "hello.txt" || len(pull.Commits) != want {
			t.Errorf("base moved %v: the pull request changes %s in %d commits", moved, files, len(pull.Commits))
		}
		if string(task.Head) == first || task.Attempts[1].Head != task.Head {
			t.Errorf("the head is %s", task.Head)
		}
	}
}

// TestTakenBackWithoutForce: a follow-up that fails is taken back where a rule lets branches only move forward: SIA's
// own commit with the files that were green follows it.
func TestTakenBackWithoutForce(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "demand-red").Start(t)
	s.Hold(apptest.Point{When: "before", Kind: sia.DoTakeBack, Attempt: 2})
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers",
		"Put a greeting into `hello.txt`. Say in the README where it stands.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Until()
	task := s.Task(1)
	failed, green := task.Head, task.Omission.Review.SHA
	check(t, s.Sim.AddRule(apptest.Repo, task.Branch, ghsim.Rule{Type: "non_fast_forward"}))
	s.Go()
	s.Settle()
	task = s.Task(1)
	if task.State != sia.Passed || task.Head == failed || task.Head == green || task.HeadBy != (sia.Actor{}) {
		t.Fatalf("the task is %s at %s by %+v: %+v", task.State, task.Head.Short(), task.HeadBy, task.Pause)
	}
	if !task.Omission.StaysUnmet(task.Head) || !task.Final.Of(task.Head) {
		t.Errorf("%+v, the final review is of %s", task.Omission, task.Final.SHA.Short())
	}
	pull, err := s.Sim.Pull(apptest.Repo, task.Pull.Number)
	check(t, err)
	if files := strings.Join(pull.Files, " "); files != "hello.txt" || pull.Head != string(task.Head) {
		t.Errorf("the pull request changes %s at %s", files, pull.Head)
	}
}

// TestPushWhileQueued: GitHub takes no push to a branch whose pull request is in a merge queue. SIA waits until it is
// out of it.
// https://github.com/SharezoneApp/sharezone-app/pull/605
func TestPushWhileQueued(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "follow-up").Start(t)
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	task := s.Task(1)
	if task.State != sia.Passed {
		t.Fatalf("the task is %s", task.State)
	}
	before := task.Head
	s.Hold(apptest.Point{When: "before", Kind: sia.DoPush, Attempt: len(task.Attempts) + 1})
	_, err := s.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia start Greet in German, too, in hallo.txt.")
	check(t, err)
	s.Until()
	check(t, s.Sim.SetDraft(apptest.Repo, task.Pull.Number, apptest.Owner, false))
	_, err = s.Sim.Enqueue(apptest.Repo, task.Pull.Number, apptest.Owner)
	check(t, err)
	s.Go()
	s.Wait(20 * time.Minute)
	waits := strings.Contains(s.Task(1).Warning, "merge queue")
	if task := s.Task(1); task.State != sia.Working || task.Head != before || !waits {
		t.Errorf("the task is %s at %s: %q, %+v", task.State, task.Head.Short(), task.Warning, task.Pause)
	}
	check(t, s.Sim.Dequeue(apptest.Repo, task.Pull.Number, apptest.Owner, false))
	s.Settle()
	if task := s.Task(1); task.Head == before || task.State == sia.OnHold {
		t.Errorf("then the task is %s at %s: %+v", task.State, task.Head.Short(), task.Pause)
	}
}

// TestUpdateRefused: a rule refuses the merge of the base. The green head passes, with a warning.
func TestUpdateRefused(t *testing.T) {
	t.Parallel()
	s := storyNamed(t, "base-moved").Start(t)
	check(t, s.Sim.SetRuleset(apptest.Repo, "main", "test"))
	check(t, s.Sim.RequireUpToDate(apptest.Repo, "main"))
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Until()
	_, err := s.Sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Add a file", map[string]string{"OTHER.md": "Else.\n"})
	check(t, err)
	check(t, s.Sim.AddRule(apptest.Repo, s.Task(1).Branch, ghsim.Rule{Type: "required_linear_history"}))
	s.Go()
	s.Settle()
	task := s.Task(1)
	if task.State != sia.Passed || !strings.Contains(task.Warning, "bring the branch up to date before you merge it") {
		t.Errorf("the task is %s: %q, %+v", task.State, task.Warning, task.Pause)
	}
}
