package app_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// If the app may not mark a pull request ready, the task passes nevertheless, and a comment asks a user to do it.
func TestReadyRefused(t *testing.T) {
	t.Parallel()
	var pass apptest.Story
	for _, s := range apptest.Stories(t, "testdata/stories") {
		if s.Name == "pass" {
			pass = s
		}
	}
	stage := pass.Start(t)
	stage.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.URL.Path != "/graphql" && r.URL.Path != "/api/graphql" {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte("markPullRequestReadyForReview")) {
			return nil
		}
		return &ghsim.Fault{Status: http.StatusOK, Body: `{"data":null,"errors":[{"type":"FORBIDDEN",` +
			`"message":"Resource not accessible by integration"}]}`}
	})
	n, err := stage.Sim.OpenIssue(apptest.Repo, "ada", "Greet the customers", "Put a greeting into `hello.txt`.")
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Sim.Label(apptest.Repo, n, "ada", "sia"); err != nil {
		t.Fatal(err)
	}
	stage.Settle()
	task := stage.Task(n)
	if task.State != sia.Passed || !task.Pull.Draft {
		t.Errorf("%s with %+v", task.State, task.Pull)
	}
	for _, want := range []string{"contents: write", "pull_requests: write", "Ready for review"} {
		if !strings.Contains(task.Warning, want) {
			t.Errorf("the warning says nothing of %q: %s", want, task.Warning)
		}
	}
}
