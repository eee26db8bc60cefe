package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// oneTask reads a single task and its decisions.
type oneTask struct {
	web.Reader // for everything else; nothing else is used
	task       sia.Task
	decisions  []sia.Decision
}

func (o oneTask) Task(context.Context, sia.TaskID) (sia.Task, error) { return o.task, nil }
func (o oneTask) Pulse(context.Context, store.Visibility, sia.TaskID) (string, error) {
	return "1.0", nil
}
func (o oneTask) Decisions(context.Context, sia.TaskID) ([]sia.Decision, error) {
	return o.decisions, nil
}
func (o oneTask) Turns(context.Context, sia.TaskID, int) ([]json.RawMessage, error) { return nil, nil }
func (o oneTask) EventsInBrief(context.Context, sia.TaskID) ([]store.EventRecord, error) {
	return nil, nil
}
func (o oneTask) Halts(context.Context) ([]store.Halt, error)                { return nil, nil }
func (o oneTask) Retries(context.Context, sia.TaskID) ([]store.Retry, error) { return nil, nil }

// divided is a task with a failed race, and with parts in progress.
func divided() oneTask {
	tests := &sia.CheckRun{Command: "go test ./...", Holds: true}
	return oneTask{
		task: sia.Task{
			ID: "9-12", Repo: sia.Repo{ID: 9, Owner: "acme", Name: "bookings"}, Issue: 12, Title: "Send an email",
			State: sia.Working, Since: start, Attempts: []sia.Attempt{
				{Number: 1, StartedAt: start, EndedAt: start.Add(time.Hour), Outcome: sia.AttemptFail, Coder: "strong",
					Structure: plan.Race, Shape: "one alone has a chance of 31 %", Parts: []sia.Part{
						{Kind: sia.PartRacer, State: sia.PartDone, Coder: "fast", Checked: &sia.CheckRun{Command: "go test ./...",
							Tests: []string{"TestA", "TestB"}}, Cost: 300},
						{Kind: sia.PartRacer, State: sia.PartDone, Coder: "strong", Checked: tests, Pushed: true, Cost: 4500}}},
				{Number: 2, StartedAt: start, Coder: "strong", Structure: plan.Parallel, Parallel: 2,
					Shape: "the issue asks for things that don't touch each other", Parts: []sia.Part{
						{State: sia.PartDone, Part: plan.Part{Do: "Add a `Mailer` " + hostile, DoneWhen: "it builds " + hostile},
							Checked: tests, Cost: 250},
						{State: sia.PartRunning, Tries: 1, Coder: "fast", Assigned: "strong failed at it", Cost: 1200,
							Checked: &sia.CheckRun{Command: "go test ./mail -run " + strings.Repeat("TestConfirmation", 12),
								Excerpt: "mail_test.go:12: no mail " + hostile},
							Part: plan.Part{Do: "Call it in booking/handler.go", DoneWhen: "TestMail passes", Needs: []int{1}}},
						{State: sia.PartGivenUp, Tries: 2, Reason: "the limit of 60 turns was reached",
							Part: plan.Part{Do: "Say so in the docs", DoneWhen: "docs/mail.md names it", Needs: []int{1}}},
						{State: sia.PartWaiting, Kind: sia.PartMerge, Part: plan.Part{Needs: []int{2, 3}}}}}},
		},
		decisions: []sia.Decision{{Attempt: 1, Type: sia.DecideDecompose, Policy: "decompose/1", Choice: "parallel",
			Reason: "the issue asks for things that don't touch each other"}},
	}
}

func TestPartsOnPages(t *testing.T) {
	srv := httptest.NewServer(as(reader(), pages(t, divided(), &doer{})))
	t.Cleanup(srv.Close)
	for name, path := range map[string]string{"parts-task": "/tasks/9-12", "parts-race": "/tasks/9-12/attempts/1",
		"parts-attempt": "/tasks/9-12/attempts/2"} {
		code, _, body := get(t, srv, path, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d", name, code)
		}
		for _, live := range []string{"<script>", "<img", "href=\"javascript"} {
			if strings.Contains(body, live) {
				t.Errorf("%s: what a stranger wrote is alive: %s", name, live)
			}
		}
		golden(t, name+".html", body)
	}
}
