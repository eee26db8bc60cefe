package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// Changes of policies are shown with their state, and strangers' words as text.
func TestPoliciesOnPages(t *testing.T) {
	srv, s := serve(t)
	if code, _, body := get(t, srv, "/policies", ""); code != http.StatusOK ||
		!strings.Contains(body, "None was proposed yet") {
		t.Errorf("%d: %s", code, body)
	}
	x := store.Experiment{ID: "recover-1-abc", Installation: 1, Place: sia.Repo{ID: 9, Owner: "acme", Name: "bookings"},
		Layer: 1, Decision: "recover", Name: "recover", File: ".sia/policies/recover.yml", Present: "recover/1@1",
		Candidate: "recover/2@2", Change: "parameters.base.retry: 0.1 -> 0.3 " + hostile, Path: "parameters.base.retry",
		Value: "0.3", Reason: "Because. " + hostile, By: "gpt-5", Number: 1, Phase: store.ExperimentPromoted,
		Why: "it does better, and was merged", Gate: "not replayed", Pull: 7,
		PullURL: "https://github.com/acme/bookings/pull/7", CreatedAt: start, StartedAt: start,
		PromotedAt: start.Add(time.Hour)}
	must(t, s.SaveExperiment(t.Context(), "", x, "it does better, and was merged "+hostile))
	var rows []store.ExperimentTask
	for i := range 90 {
		row := store.ExperimentTask{ID: sia.TaskID(fmt.Sprint("9-", i)),
			Task: evolve.Task{Candidate: i%2 == 0, After: i >= 60, At: start}}
		_, err := s.Enrol(t.Context(), x.ID, row)
		must(t, err)
		if row.Came = evolve.Failed; row.Candidate || i%4 == 1 {
			row.Came = evolve.Resolved
		}
		rows = append(rows, row)
	}
	must(t, s.SettleExperimentTasks(t.Context(), x.ID, rows))
	must(t, s.UpsertInstallation(t.Context(), store.Installation{ID: 1, Account: "acme"}))
	must(t, s.UpsertRepository(t.Context(), store.Repository{Repo: x.Place, Installation: 1, DefaultBranch: "main"}))
	recover := policies.ShippedSet().For(policies.TypeRecover, policies.Context{})
	for i := range 40 {
		d := sia.Decision{ID: fmt.Sprint("recover", i), Task: "9-12", Repo: 9, Attempt: 1, Type: sia.DecideRecover,
			Policy: recover.ID(), Choice: "sia", Propensity: 1, Reason: "it pays " + hostile, At: start}
		came := "failed"
		if i%2 == 0 {
			d.Policy, d.Choice = x.Candidate, "retry"
		}
		if i%4 > 0 {
			came = "resolved"
		}
		must(t, s.LogDecision(t.Context(), d))
		must(t, s.SettleDecision(t.Context(), d.ID, came, 0))
	}
	for name, path := range map[string]string{"policies": "/policies", "change": "/policies/recover-1-abc"} {
		code, _, body := get(t, srv, path, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d", name, code)
		}
		for _, live := range []string{"<script>", "<img", "href=\"javascript"} {
			if strings.Contains(body, live) {
				t.Errorf("%s: what a stranger wrote is alive: %s", name, live)
			}
		}
		for _, want := range map[string][]string{"policies": {"In force", "version 1", "shipped", recover.ID(),
			"What follows an attempt, or a part of one, that failed.",
			"learned against shipped: -50 points (95 % confidence: -70 to -24)", ">Retry</th>", "10 of 20"},
			"change": {"Evidence that it is better"}}[name] {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, body)
			}
		}
		golden(t, name+".html", body)
	}
	if code, _, _ := get(t, srv, "/policies/nothing", ""); code != http.StatusNotFound {
		t.Errorf("a change that there is not: %d", code)
	}
}
