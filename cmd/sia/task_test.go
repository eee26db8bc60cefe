package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// A task that has begun names the file with its settings.
func TestShowTaskNamesTheSettings(t *testing.T) {
	for from, want := range map[string]string{
		"acme/.github@1a2b3c4d5e6f:.sia/config.yml": "settings    acme/.github@1a2b3c4d5e6f:.sia/config.yml\n",
		"": "settings    defaults: there is no .sia/config.yml\n",
	} {
		var out bytes.Buffer
		e := &cli.Env{Out: &out}
		showTask(e, sia.Task{Title: "Greet", SettingsFrom: from})
		if strings.Contains(out.String(), "settings") {
			t.Errorf("before it began:\n%s", out.String())
		}
		out.Reset()
		showTask(e, sia.Task{Title: "Greet", SettingsFrom: from, Attempts: []sia.Attempt{{Number: 1}}})
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}

// The parts of an attempt are printed one by one.
func TestShowTaskTellsParts(t *testing.T) {
	var out bytes.Buffer
	holds := &sia.CheckRun{Command: "go build ./mail", Holds: true}
	showTask(&cli.Env{Out: &out}, sia.Task{Title: "Greet", Attempts: []sia.Attempt{
		{Number: 1, Coder: "fast", Structure: plan.Linear, Shape: "the issue asks for two things", Parts: []sia.Part{
			{State: sia.PartDone, Checked: holds, Cost: 250, Part: plan.Part{Do: "Add a mailer.", DoneWhen: "it builds"}},
			{State: sia.PartGivenUp, Coder: "strong", Assigned: "fast failed", Tries: 2,
				Reason: "the limit of 60 turns was reached",
				Part:   plan.Part{Do: "Call it.", DoneWhen: "TestMail passes", Needs: []int{1}}}}},
		{Number: 2, Coder: "strong", Ledger: &sia.AttemptLedger{Entries: []sia.LedgerEntry{
			{Kind: sia.LedgerHypothesis, Says: "The \x1bclock.", Unverified: true}}}, Structure: plan.Race, Parts: []sia.Part{
			{Kind: sia.PartRacer, Coder: "fast", State: sia.PartDone,
				Checked: &sia.CheckRun{Command: "x", Tests: []string{"A"}}},
			{Kind: sia.PartRacer, Coder: "strong", State: sia.PartDone, Checked: holds, Pushed: true}}}}})
	for _, want := range []string{
		"  2 parts, one after the other\n    why: the issue asks for two things\n",
		"  1. done  Add a mailer\n     0.25 credits, fast\n     done when it builds\n" +
			"     ✅ SIA saw it hold in the sandbox: `go build ./mail`\n",
		"  2. given up  Call it\n     0 credits, strong\n     why strong: fast failed\n" +
			"     done when TestMail passes\n     ✗ the limit of 60 turns was reached\n",
		"  1. done  fast\n     0 credits\n     1 test fails in the sandbox; ranked lower\n",
		"  2. done  strong\n     0 credits\n     the tests pass in the sandbox; checked\n",
		"  · Hypothesis, unverified: The \ufffdclock.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}

// The final review is printed only for the head that it read.
func TestShowTaskTellsTheFinalReview(t *testing.T) {
	var out bytes.Buffer
	task := sia.Task{Title: "Greet", Head: "f00d",
		Final: &sia.FinalReview{SHA: "f00d", Done: true, URL: "https://github.com/r",
			Demands: []sia.Demand{{Quote: "Greet", State: sia.DemandUnmet, Why: "nobody is greeted"}}}}
	showTask(&cli.Env{Out: &out}, task)
	want := "\n  final review: 0 of 1 requirements done https://github.com/r\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("want %q in:\n%s", want, out.String())
	}
	out.Reset()
	task.Head = "f00d2"
	showTask(&cli.Env{Out: &out}, task)
	if strings.Contains(out.String(), "final review") {
		t.Errorf("the review of another head is told:\n%s", out.String())
	}
}

// Questions are printed with their answers, and an open question with its options.
func TestShowTaskTellsQuestions(t *testing.T) {
	var out bytes.Buffer
	showTask(&cli.Env{Out: &out}, sia.Task{Title: "Sign in", State: sia.Escalated,
		Answers: []sia.Answer{
			{Escalation: 1, Question: "Which provider?", Letter: "A", Text: "Google", By: sia.Actor{Login: "mia"}},
			{Escalation: 2, Text: "Both of them.", By: sia.Actor{Login: "bob"}}},
		Escalation: &sia.Escalation{Number: 3, Question: "Which page?", URL: "https://github.com/q",
			Options: []sia.Option{{Letter: "A", Text: "Home"}, {Letter: "B", Text: "A page of its own"}}}})
	for _, want := range []string{
		"  asked       Which provider?\n  answer      A) Google (@mia, ",
		"  asked       (the question was not kept)\n  answer      Both of them. (@bob, ",
		"  asked       Which page?\n    A) Home\n    B) A page of its own\n  answer      none yet: `/sia answer …` at " +
			"https://github.com/q\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}

// A task's JSON describes in words what it waits for.
func TestTaskJSONSaysWhatItWaitsFor(t *testing.T) {
	var out bytes.Buffer
	task := sia.Task{ID: "7-1", State: sia.OnHold, Pause: &sia.Pause{Kind: sia.PausedByTrouble, Reason: "no luck"}}
	if err := (&cli.Env{Out: &out}).JSON(shown(task)); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["id"] != "7-1" || got["waiting"] != "no luck. `/sia resume` tries again." {
		t.Errorf("got %v", got)
	}
}
