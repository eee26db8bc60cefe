package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Budget of a task with two attempts for GitHub's rate limits.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
const (
	mostCalls    = 30
	mostCreating = 10
)

// TestCallsOfATask counts every incoming request of a task with two attempts, of any kind and with any response.
func TestCallsOfATask(t *testing.T) {
	t.Parallel()
	for _, story := range apptest.Stories(t, "testdata/stories") {
		if story.Name != "pass-after-sia" {
			continue
		}
		s := story.Start(t)
		s.Wait(time.Second)
		// The status comment is recorded before the first attempt reads the issue. If both happen concurrently, comments
		// are read for safety: two more requests.
		s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 1})
		before := len(s.Sim.Calls())
		_, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.",
			"sia")
		if err != nil {
			t.Fatal(err)
		}
		s.Until()
		s.Go()
		s.Settle()
		if task := s.Task(1); task.State != sia.Passed || len(task.Attempts) != 2 {
			t.Fatalf("the task is %s after %d attempts", task.State, len(task.Attempts))
		}
		calls := s.Sim.Calls()[before:]
		n := ghsim.Count(calls)
		if n.All > mostCalls || n.Creating > mostCreating {
			t.Errorf("%d requests, %d create content", n.All, n.Creating)
			for _, c := range calls {
				t.Logf("%d %s %s", c.Status, c.Method, c.Path)
			}
		}
	}
}

// A failure that turns all jobs of a matrix red takes about as many requests as the failure of a few.
func TestCallsOfAMatrix(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	const legs = 40
	var names []string
	for i := range legs {
		names = append(names, fmt.Sprint(i))
	}
	push(t, s, "main", map[string]string{".github/workflows/ci.yml": `on: pull_request
jobs:
  test:
    strategy: {matrix: {leg: [` + strings.Join(names, ", ") + `]}}
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v4}, {run: sh ./check.sh}]
`})
	before := len(s.Sim.Calls())
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	task := s.Task(n)
	if task.State != sia.Passed || len(task.Attempts) != 2 || len(task.Attempts[0].Failures) != legs {
		t.Fatalf("the task is %s after %d attempts", task.State, len(task.Attempts))
	}
	read := 0 // a log, and the number of the failed step
	for _, c := range s.Sim.Calls()[before:] {
		if strings.Contains(c.Path, "/actions/jobs/") {
			read++
		}
	}
	if read != 2*gate.MaxLogs {
		t.Errorf("%d requests for %d red jobs, want %d", read, legs, 2*gate.MaxLogs)
	}
}

// Reactions of users without permission are asked about once, so that strangers can't cause requests in every round.
func TestStrangersReactions(t *testing.T) {
	t.Parallel()
	for _, story := range apptest.Stories(t, "testdata/stories") {
		if story.Name != "pass-after-sia" {
			continue
		}
		s := story.Start(t)
		s.Wait(time.Second)
		issue, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers",
			"Put a greeting into `hello.txt`.", "sia")
		if err != nil {
			t.Fatal(err)
		}
		s.Settle()
		view, err := s.Sim.Issue(apptest.Repo, issue)
		if err != nil {
			t.Fatal(err)
		}
		const strangers = 25
		for i := range strangers {
			who := fmt.Sprint("stranger", i)
			s.Sim.CreateUser(who)
			check(t, s.Sim.SetPermission(apptest.Repo, who, "read"))
			if err := s.Sim.React(apptest.Repo, issue, view.Comments[0].ID, who, "+1"); err != nil {
				t.Fatal(err)
			}
		}
		before := len(s.Sim.Calls())
		for round := range 4 {
			s.Wait(5 * time.Minute)
			s.Periodic("feedback")
			s.Quiet()
			asked := 0
			for _, c := range s.Sim.Calls()[before:] {
				if strings.HasSuffix(c.Path, "/permission") {
					asked++
				}
			}
			if round == 3 && asked != strangers {
				t.Errorf("%d requests for the permissions of %d strangers", asked, strangers)
			}
		}
	}
}
