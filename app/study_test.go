package app_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// TestAFixIsStudiedOnce: a model's summary of a user's fix is proposed, even if GitHub accepts it only at the second
// try. Asked again, the model might propose something else in addition.
func TestAFixIsStudiedOnce(t *testing.T) {
	t.Parallel()
	i := 0
	stories := apptest.Stories(t, "testdata/stories")
	for stories[i].Name != "person-fixes-while-asked" {
		i++
	}
	s := stories[i].Start(t)
	_, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.",
		"sia")
	if err != nil {
		t.Fatal(err)
	}
	s.Settle()
	var pulls atomic.Int64
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pulls") {
			return nil
		}
		if pulls.Add(1) > 1 {
			return nil
		}
		return &ghsim.Fault{Status: http.StatusBadGateway}
	})
	_, err = s.Sim.PushFiles(apptest.Repo, s.Task(1).Branch, apptest.Owner, "fix",
		map[string]string{"hello.txt": "Hello, world!\n"})
	if err != nil {
		t.Fatal(err)
	}
	s.Settle()
	task, asked := s.Task(1), 0
	for _, r := range s.Model.Requests() {
		for _, m := range r.Messages {
			if strings.Contains(m.Content, "What the person changed") {
				asked++
			}
		}
	}
	if task.State != sia.Passed || task.Fix == nil || task.Fix.PullURL == "" || pulls.Load() != 2 || asked != 1 {
		t.Errorf("%s, %+v; %d tries to open a pull request, asked %d times", task.State, task.Fix, pulls.Load(), asked)
	}
}
