package app_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// TestSignedWhateverIsLost: the response to any request that puts a signed commit on the branch may be lost, and the
// process may end before it records the outcome. The branch nevertheless gets one commit, signed by GitHub, nothing
// else is left, and the pull request can be merged.
func TestSignedWhateverIsLost(t *testing.T) {
	t.Parallel()
	lost := func(nth int, suffix string) func(s *apptest.Stage) {
		return func(s *apptest.Stage) {
			f, seen := &ghsim.Fault{After: true, Times: 1}, 0
			s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, suffix) {
					return nil
				}
				if seen++; seen == nth {
					return f
				}
				return nil
			})
		}
	}
	for name, trouble := range map[string]func(*apptest.Stage){
		"nothing":           func(*apptest.Stage) {},
		"the commit":        lost(1, "/git/commits"),
		"the objects' push": lost(1, "/git-receive-pack"),
		"the branch's push": lost(2, "/git-receive-pack"),
		"the ref's end":     lost(3, "/git-receive-pack"),
		"the process": func(s *apptest.Stage) {
			s.Hold(apptest.Point{When: "after", Kind: sia.DoPush, Attempt: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startStory(t, "pass")
			if err := s.Sim.RequireSignatures(apptest.Repo, "main", true); err != nil {
				t.Fatal(err)
			}
			trouble(s)
			if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
				t.Fatal(err)
			}
			if name == "the process" {
				s.Until()
				s.Restart()
			}
			s.Settle()
			task := s.Task(1)
			if task.State != sia.Passed || len(task.Attempts) != 1 || task.Warning != "" {
				t.Fatalf("the task is %s after %d attempts, %q, %+v", task.State, len(task.Attempts), task.Warning, task.Pause)
			}
			refs := strings.Fields(gitIn(t, s, "for-each-ref", "--format=%(refname)"))
			for _, ref := range refs {
				if strings.HasPrefix(ref, "refs/sia/") {
					t.Errorf("%s is left behind", ref)
				}
			}
			if n := strings.TrimSpace(gitIn(t, s, "rev-list", "--count", "main.."+task.Branch)); n != "1" {
				t.Errorf("%s commits on the branch", n)
			}
			if head := strings.TrimSpace(gitIn(t, s, "rev-parse", task.Branch)); head != string(task.Head) {
				t.Errorf("the branch is at %s, the task at %s", head, task.Head)
			}
			if _, err := s.Sim.MergePull(apptest.Repo, task.Pull.Number, apptest.Owner); err != nil {
				t.Errorf("it can't be merged: %v", err)
			}
		})
	}
}

// TestMergeThatIsToldLate: the delivery about a merge shows the pull request as it was before. The task counts as
// merged.
// https://github.com/rocq-prover/bot/issues/255
func TestMergeThatIsToldLate(t *testing.T) {
	t.Parallel()
	s := startStory(t, "pass")
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	pull := s.Task(n).Pull.Number
	check(t, s.Sim.LagMerges(apptest.Repo, true))
	if _, err := s.Sim.MergePull(apptest.Repo, pull, apptest.Owner); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	if task := s.Task(n); !task.Pull.Merged || task.Aftermath != sia.MergedUnchanged {
		t.Errorf("merged %v, and then it is %q", task.Pull.Merged, task.Aftermath)
	}
}

// TestNotSigned: if GitHub creates no commit, the attempt's own is pushed, and users are informed.
func TestNotSigned(t *testing.T) {
	t.Parallel()
	s := startStory(t, "pass")
	if err := s.Sim.RequireSignatures(apptest.Repo, "main", false); err != nil {
		t.Fatal(err)
	}
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/git/commits") {
			return &ghsim.Fault{Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration",` +
				`"documentation_url":"https://docs.github.com/rest","status":"403"}`}
		}
		return nil
	})
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Greet them.", "sia"); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	task := s.Task(1)
	if task.State != sia.Passed || !strings.Contains(task.Warning, "want signed commits") {
		t.Errorf("the task is %s, warning %q", task.State, task.Warning)
	}
	if refs := gitIn(t, s, "for-each-ref", "--format=%(refname)", "refs/sia"); refs != "" {
		t.Errorf("left behind: %s", refs)
	}
	if _, err := s.Sim.MergePull(apptest.Repo, task.Pull.Number, apptest.Owner); err == nil {
		t.Error("what is not signed is merged")
	}
}

// startStory starts a story without playing it.
func startStory(t *testing.T, name string) *apptest.Stage {
	t.Helper()
	for _, story := range apptest.Stories(t, "testdata/stories") {
		if story.Name == name {
			return story.Start(t)
		}
	}
	t.Fatalf("there is no story %s", name)
	return nil
}

// gitIn runs git in the repository on the simulator.
func gitIn(t *testing.T, s *apptest.Stage, args ...string) string {
	t.Helper()
	repo, err := s.Sim.Repo(apptest.Repo)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.Folder(), "..", "github", fmt.Sprintf("%d.git", repo.ID))
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}
