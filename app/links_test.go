package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// If SIA's pages have a public address, the status comment and the check run link to the task's timeline; otherwise
// nothing links to this machine.
func TestTimelineIsLinked(t *testing.T) {
	t.Parallel()
	for _, pages := range []string{"", "https://sia.example.com/"} {
		stage := apptest.Start(t, apptest.Config{Pages: pages, Files: map[string]string{
			"check.sh": "grep -q hello hello.txt\n",
			".github/workflows/ci.yml": "name: CI\non: [pull_request]\njobs:\n  test:\n" +
				"    runs-on: ubuntu-latest\n    steps:\n" +
				"      - uses: actions/checkout@v4\n      - run: sh ./check.sh\n",
		}, Model: scripted.Script{Rules: []scripted.Rule{{Name: "1", Model: "coder", Turns: []scripted.Answer{
			{Calls: []scripted.Call{{Name: "write", Args: map[string]any{"path": "hello.txt", "content": "hello\n"}}}},
			{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Done."}}}},
		}}}}})
		if _, err := stage.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet", "Put hello into hello.txt."); err != nil {
			t.Fatal(err)
		}
		if err := stage.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"); err != nil {
			t.Fatal(err)
		}
		stage.Go()
		stage.Settle()
		task := stage.Task(1)
		if task.State != sia.Passed {
			t.Fatalf("the task is %s", task.State)
		}
		status := ""
		for _, p := range stage.Posts() {
			if p.Kind == "status" {
				status = p.Body
			}
		}
		details := ""
		for _, d := range stage.Sim.Deliveries() {
			var p struct {
				CheckRun struct {
					Name       string
					DetailsURL string `json:"details_url"`
				} `json:"check_run"`
			}
			if err := json.Unmarshal(d.Payload, &p); err != nil {
				t.Fatal(err)
			}
			if p.CheckRun.Name == "SIA" {
				details = p.CheckRun.DetailsURL
			}
		}
		want := "https://sia.example.com/tasks/" + string(task.ID)
		if pages == "" {
			if strings.Contains(status, "timeline") || strings.Contains(details, "/tasks/") {
				t.Errorf("links to pages without an address: %s\n%s", details, status)
			}
		} else if !strings.Contains(status, "[timeline]("+want+")") || details != want {
			t.Errorf("the check run links %q, want %s; the status is\n%s", details, want, status)
		}
	}
}
