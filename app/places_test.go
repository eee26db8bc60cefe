package app_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// Files that changed together before are fetched in parallel with an attempt's workspace, and are in its brief.
func TestPlacesOfTheHistory(t *testing.T) {
	t.Parallel()
	finish := scripted.Answer{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Nothing to do."}}}}
	stage := apptest.Start(t, apptest.Config{
		Files: map[string]string{"app/greet_test.go": "package app\n", "app/words.go": "package app\n",
			"app/other.go": "package app\n"},
		Model: scripted.Script{Rules: []scripted.Rule{{Name: "all", Turns: []scripted.Answer{finish}, Repeat: true}}}})
	for _, text := range []string{"package app\n\n// One.\n", "package app\n\n// Two.\n"} {
		if _, err := stage.Sim.PushFiles(apptest.Repo, "main", apptest.Owner, "words", map[string]string{
			"app/greet_test.go": text, "app/words.go": text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := second(stage.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Broken", "app/greet_test.go is red.")); err != nil {
		t.Fatal(err)
	}
	if err := stage.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"); err != nil {
		t.Fatal(err)
	}
	stage.Settle()
	for _, r := range stage.Model.Requests() {
		if r.Model == "coder" {
			if got := r.Messages[1].Content; !strings.Contains(got, "app/words.go: ") ||
				!strings.Contains(got, "changed together with greet_test.go in 2 of 2 commits") {
				t.Error(got)
			}
			return
		}
	}
	t.Error("no coder was asked")
}
