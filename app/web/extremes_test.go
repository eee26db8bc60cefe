package web_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// endless is a name without a line-break opportunity, as long as GitHub allows.
var endless = strings.Repeat("unbroken", 12) + "name"

// extremes is a database with long, large and many items.
func extremes(t *testing.T) *store.Store {
	t.Helper()
	s := storetest.Open(t, store.Config{Now: func() time.Time { return start }})
	ctx := t.Context()
	repo := sia.Repo{ID: 9, Owner: strings.Repeat("o", 39), Name: endless}
	ok(t, s.UpsertInstallation(ctx, store.Installation{ID: 1, Account: repo.Owner}))
	ok(t, s.UpsertRepository(ctx, store.Repository{Repo: repo, Installation: 1, DefaultBranch: endless}))
	ok(t, s.PlanSetups(ctx, 1, []sia.Repo{repo}, 1, false))
	words := "A sentence of many words that goes on and on, as people's do. "
	task := func(issue int, state sia.State, tune func(*sia.Task)) sia.TaskID {
		id := sia.NewTaskID(repo.ID, issue)
		now := sia.Task{ID: id, Installation: 1, Repo: repo, Issue: issue, Title: strings.Repeat("x", 256), State: state,
			CreatedAt: start.Add(-90 * 24 * time.Hour), StartedAt: start.Add(-90 * 24 * time.Hour), Since: start,
			BaseSHA: sia.SHA(strings.Repeat("a", 40)), Head: sia.SHA(strings.Repeat("b", 40)),
			Credits: sia.Ledger{Budget: 1e6 * sia.Credit, Spent: 12345678}}
		tune(&now)
		_, err := s.Apply(ctx, id, sia.Event{ID: "restored", At: start, Fact: sia.Restored{Task: now}})
		ok(t, err)
		return id
	}
	many := task(1, sia.Passed, func(now *sia.Task) {
		for n := 1; n <= 100; n++ {
			at := start.Add(time.Duration(n-101) * 20 * time.Hour)
			a := sia.Attempt{Number: n, StartedAt: at, EndedAt: at.Add(19 * time.Hour), Outcome: sia.AttemptFail, Turns: 500,
				Cost: 1234567, Coder: endless, Technique: "fresh-start", Reason: strings.Repeat(words, 5),
				Head: sia.SHA(strings.Repeat("c", 40)), Diff: sia.DiffStat{Files: 3000, Added: 99999, Deleted: 99999},
				Failures: []sia.CheckFailure{{Check: endless, Excerpt: strings.Repeat(endless, 20)}}}
			now.Attempts = append(now.Attempts, a)
			now.Interventions = append(now.Interventions, sia.Intervention{Number: n, After: n, Diagnosis: sia.Diagnosis{
				Summary: strings.Repeat(words, 5), Pattern: "wrong-tool", Technique: "fresh-start"}})
		}
		for n := range 60 {
			now.Checks = append(now.Checks, sia.Check{Name: fmt.Sprint(endless, n), Required: true, Colour: sia.Green})
		}
		now.Checks[1].Colour, now.Checks[2].Colour, now.Checks[3].Colour = sia.Red, sia.Running, sia.Blocked
	})
	asks := &sia.Ask{Question: strings.Repeat(words, 6) + endless}
	for range 4 {
		asks.Options = append(asks.Options, strings.Repeat(words, 3)+endless)
	}
	for issue := 2; issue <= 30; issue++ {
		begun(t, s, 1, repo, issue, strings.Repeat("x", 250))(3, sia.AttemptEnded{End: sia.EndAsked, Turns: 1, Cost: 1e7,
			Ask: asks})
	}
	for issue := 31; issue <= 99; issue++ {
		task(issue, sia.Passed, func(*sia.Task) {})
	}
	for n, turn := range []agent.Turn{
		{Kind: agent.TurnBrief, At: start, Text: strings.Repeat(endless, 10)},
		{Number: 1, Kind: agent.TurnModel, At: start.Add(300 * time.Hour), Text: strings.Repeat(endless+"\n\n```\n"+endless+
			"\n```\n", 3), Calls: []agent.Call{
			{Name: "run", Arguments: `{"command":"` + endless + `"}`, Result: strings.Repeat(endless, 5), Took: 90 * time.Hour},
			{Name: "write", Arguments: `{"path":"` + endless + "/" + endless + `","content":"` +
				strings.Repeat(endless, 5) + `"}`},
			{Name: "read", Arguments: `{"path":"` + endless + "/" + endless + `"}`, Result: strings.Repeat(endless, 5)}}},
	} {
		b, err := json.Marshal(turn)
		ok(t, err)
		ok(t, s.AppendTurn(ctx, many, 100, 0, n, b))
	}
	for n := range 60 {
		l := lesson.NewTaught(repo.ID, fmt.Sprint(n), strings.Repeat(words, 4)+endless, sia.Actor{Login: "ada"}, sia.Task{},
			start)
		ok(t, s.PutLessons(ctx, repo.ID, l))
		id := sia.NewTaskID(repo.ID, 1)
		ok(t, s.RecordCoderOutcome(ctx, store.CoderOutcome{Task: id, Attempt: n + 1, Repo: repo.ID, Org: repo.Owner,
			Kind: "fix", Coder: fmt.Sprint(endless, n%20), Cost: 1e7, Resolved: n%2 == 0, At: start}))
		_, err := s.RecordOutcome(ctx, store.Outcome{Task: id, Intervention: n + 1, Repo: repo, Pattern: "wrong-tool",
			Technique: sia.TechniqueID(fmt.Sprint("t-", n%20, endless)), Resolved: n%2 == 0, At: start})
		ok(t, err)
		ok(t, s.LogDecision(ctx, sia.Decision{ID: fmt.Sprint(n), Task: id, Repo: repo.ID, Attempt: n,
			Type: sia.DecideTechnique, Policy: endless, Choice: endless, Propensity: 1, Reason: strings.Repeat(words, 4),
			At: start}))
	}
	return s
}

// Long names, unbreakable words, a hundred attempts and sixty checks fit a phone and a desktop.
//
//test:thorough
//test:plain
func TestPagesHoldWhatIsLong(t *testing.T) {
	srv := httptest.NewServer(as(operator(), pages(t, extremes(t), &doer{})))
	t.Cleanup(srv.Close)
	judge := webtest.NewJudge(webtest.Chromium(t), t, "../..")
	for name, path := range map[string]string{"overview": "/", "tasks": "/tasks", "task": "/tasks/9-1",
		"question": "/tasks/9-2", "attempt": "/tasks/9-1/attempts/100", "costs": "/costs", "escalations": "/escalations",
		"techniques": "/techniques?repo=9", "coders": "/coders?repo=9", "patterns": "/patterns", "policies": "/policies",
		"lessons": "/lessons?repo=9", "settings": "/settings", "installation": "/installations/1"} {
		t.Run(name, func(t *testing.T) {
			judge.Open(t, srv.URL+path)
			for _, width := range []int64{390, 1280} {
				judge.Look(t, fmt.Sprintf("%s-extreme-%d-light", name, width), width, "light")
			}
		})
	}
}
