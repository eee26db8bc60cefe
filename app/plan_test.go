package app_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// planned returns a stage on which the plan of issue 1 waits, with the given summary and a step in it.
func planned(t *testing.T, summary, step string) *apptest.Stage {
	t.Helper()
	stage := apptest.Start(t, apptest.Config{
		Files: map[string]string{"check.sh": "true\n",
			".sia/config.yml": "agent: {plan: approve}\nchecks: {settle: 10s, wait: 1m}\n"},
		Model: scripted.Script{Rules: []scripted.Rule{
			{Name: "plan", Model: "coder", System: "you change nothing", Repeat: true,
				Turns: []scripted.Answer{{Calls: []scripted.Call{{Name: "propose", Args: map[string]any{
					"summary": summary, "steps": []map[string]any{{"do": step, "done_when": step}},
				}}}}}},
			{Name: "work", Model: "coder", Turns: []scripted.Answer{
				{Calls: []scripted.Call{{Name: "write", Args: map[string]any{"path": "hello.txt", "content": "Hello\n"}}}},
				{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Done."}}}},
			}},
		}},
	})
	if err := second(stage.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet", "Write a greeting.")); err != nil {
		t.Fatal(err)
	}
	if err := stage.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"); err != nil {
		t.Fatal(err)
	}
	stage.Settle()
	if task := stage.Task(1); task.State != sia.Escalated || task.Escalation.Kind != sia.AskPlan {
		t.Fatalf("%s %s", task.State, render.Waiting(task))
	}
	return stage
}

// While GitHub can't report reactions or permissions, a plan is not approved; when it can again, the 👍 counts.
func TestApprovalWhileGitHubIsDown(t *testing.T) {
	t.Parallel()
	stage := planned(t, "Greet.", "Write it.")
	_, id, _ := strings.Cut(stage.Task(1).Escalation.URL, "#issuecomment-")
	comment, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	stage.Sim.CreateUser("noor")
	if err := stage.Sim.SetPermission(apptest.Repo, "noor", "write"); err != nil {
		t.Fatal(err)
	}
	if err := stage.Sim.React(apptest.Repo, 1, comment, "noor", "+1"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/reactions", "/collaborators/noor/permission"} {
		down := &ghsim.Fault{Status: http.StatusForbidden}
		stage.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
			if strings.HasSuffix(r.URL.Path, path) {
				return down
			}
			return nil
		})
		if err := stage.App.Periodic(t.Context(), "approvals"); err == nil ||
			!strings.Contains(err.Error(), "look for a 👍 on its plan") {
			t.Errorf("%s is down: %v", path, err)
		}
		stage.Sim.ClearFaults()
	}
	if task := stage.Task(1); task.State != sia.Escalated || task.Brief.Plan != nil {
		t.Fatalf("%s, the plan %+v", task.State, task.Brief.Plan)
	}
	stage.Periodic("approvals")
	if task := stage.Task(1); task.Brief.Plan == nil || task.Brief.Plan.By.Login != "noor" {
		t.Errorf("%s, the plan %+v", task.State, task.Brief.Plan)
	}
}

// A 👍 on a plan, or on a comment of SIA's, is found even if more than 500 tasks changed since the plan's.
func TestReactionsAmongManyTasks(t *testing.T) {
	t.Parallel()
	stage := planned(t, "Greet.", "Write it.")
	task := stage.Task(1)
	raw := storetest.Raw(t, stage.Database())
	raw.SetMaxOpenConns(1) // for the temporary table
	for _, statement := range []string{
		`CREATE TEMP TABLE numbers AS
			WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) SELECT i FROM n`,
		`INSERT INTO tasks (id, installation_id, repo_id, issue, state, title, version, task, created_at, updated_at)
			SELECT repo_id || '-' || i, installation_id, repo_id, i, state, title, version,
				json_set(task, '$.id', repo_id || '-' || i, '$.escalation.kind', 'question'), created_at, updated_at + i
			FROM tasks, numbers`,
	} {
		if _, err := raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	status, _, err := stage.App.Store.Surface(t.Context(), task.ID, store.SurfaceStatus)
	if err != nil {
		t.Fatal(err)
	}
	for _, comment := range []int64{sia.CommentNumber(task.Escalation.URL), status} {
		if err := stage.Sim.React(apptest.Repo, 1, comment, apptest.Owner, "+1"); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		stage.Periodic("feedback")
		stage.Periodic("approvals")
	}
	if task = stage.Task(1); task.Brief.Plan == nil || len(task.Ratings) != 1 {
		t.Errorf("%s, the plan %+v, ratings %v", task.State, task.Brief.Plan, task.Ratings)
	}
}

// A plan, and users' comments on it, are shown without secrets.
func TestNoSecretInAPlan(t *testing.T) {
	t.Parallel()
	tok := map[string]string{"summary": leakToken("plan summary"), "step": leakToken("plan step"),
		"words": leakToken("words about a plan")}
	stage := planned(t, "Use "+tok["summary"], "Write "+tok["step"])
	for _, words := range []string{"/sia answer rather use " + tok["words"], "/sia go"} {
		if err := second(stage.Sim.Comment(apptest.Repo, 1, apptest.Owner, words)); err != nil {
			t.Fatal(err)
		}
		stage.Settle()
	}
	task := stage.Task(1)
	if task.Brief.Plan == nil || !strings.Contains(task.Brief.Plan.String(), "[secret: github-pat]") ||
		!strings.Contains(strings.Join(task.Brief.Answers, ""), "[secret: github-pat]") {
		t.Fatalf("%s, the plan %+v, answers %v", task.State, task.Brief.Plan, task.Brief.Answers)
	}
	for where, text := range stage.Written() {
		for what, secret := range tok {
			if secret = strings.TrimPrefix(secret, "ghp_"); strings.Contains(text, secret) {
				t.Errorf("the token of the plan's %s is in %s: …%s…", what, where, around(text, secret))
			}
		}
	}
}
