package render_test

import (
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// The tasks of these tests are moments of one story: a confirmation email for a restaurant's bookings.

var links = render.Links{Web: "https://sia.example.com", Host: "https://github.com"}

func clock(minute int) time.Time {
	return time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

var now = clock(95)

// queued is the task right after the request.
func queued() sia.Task {
	return sia.Task{
		ID: "4711-12", Version: 1, Repo: sia.Repo{ID: 4711, Owner: "acme", Name: "bookings"}, Issue: 12,
		Title: "Send a confirmation email when a booking is made", Body: "Guests should get an email.",
		AskedBy: sia.Actor{Login: "mia", ID: 1}, CreatedAt: clock(0), StartedAt: clock(0), Since: clock(0),
		State: sia.Queued, Settings: sia.DefaultSettings(), BaseBranch: "main",
		BaseSHA: "0b39ccb0b39ccb0b39ccb0b39ccb0b39ccb0b39cc",
		Branch:  "sia/issue-12-send-a-confirmation-email", Approaches: 5, Credits: sia.Ledger{Budget: 100 * sia.Credit},
	}
}

func working() sia.Task {
	t := queued()
	t.State, t.Since = sia.Working, clock(1)
	t.Attempts = []sia.Attempt{{Number: 1, StartedAt: clock(1), Agent: "builtin/gpt-5", PromptHash: "aa",
		Reserved: 80 * sia.Credit}}
	t.Prompts = []sia.Prompt{{Version: 1, Hash: "aa"}}
	t.Credits.Reserved = 80 * sia.Credit
	return t
}

func checking() sia.Task {
	t := working()
	t.State, t.Since = sia.Checking, clock(9)
	t.Head = "abc1234def5678abc1234def5678abc1234def56"
	t.Pull = sia.Pull{Number: 13, URL: "https://github.com/acme/bookings/pull/13", Draft: true}
	a := &t.Attempts[0]
	a.EndedAt, a.Head, a.Cost, a.Turns = clock(8), t.Head, 12500, 14
	a.Diff = sia.DiffStat{Files: 3, Added: 61, Deleted: 4,
		Paths: []string{"mail/send.go", "booking/handler.go", "booking/handler_test.go"}}
	a.Summary = "Wired the hosted provider into the handler.\n\nI believe this is complete."
	t.Credits = sia.Ledger{Budget: 100 * sia.Credit, Spent: 12500}
	t.Checks = []sia.Check{
		{Name: "test", Colour: sia.Running, Required: true, URL: "https://github.com/acme/bookings/runs/1"},
		{Name: "vet", Colour: sia.Green, Required: true},
		{Name: "preview | site", Colour: sia.Excused, Why: "red on the base commit too"},
	}
	return t
}

const log = `--- FAIL: TestBookingSendsMail (0.00s)
    handler_test.go:31: POST /bookings: status 500, want 201
        mailer: MAIL_API_KEY is not set
panic: runtime error: invalid memory address
	booking/handler.go:48 +0x1d
FAIL	example.com/bookings/booking	0.012s`

func failed() sia.Task {
	t := checking()
	a := &t.Attempts[0]
	a.Outcome = sia.AttemptFail
	a.Failures = []sia.CheckFailure{{
		Check: "test", URL: "https://github.com/acme/bookings/actions/runs/7/job/9#step:4:31", Line: 131,
		Excerpt: log, Signature: "s1", Class: "test", Tests: []string{"TestBookingSendsMail"},
	}}
	t.Checks[0].Colour = sia.Red
	t.Failures = 1
	t.Credits.Spent = 14 * sia.Credit
	t.State, t.Since = sia.Reviewing, clock(12)
	return t
}

func intervention() sia.Intervention {
	return sia.Intervention{
		Number: 1, After: 1, MemorySHA: "feed123",
		Signals: []sia.Signal{
			{Name: sia.SameTask, Evidence: "attempt 1 ended without passing"},
			{Name: sia.NoProgress, Evidence: "passing before: vet; passing now: vet"},
		},
		Review: sia.Review{Verdict: sia.Minor,
			Points: []string{"The recorder should be the default only outside production."}},
		Diagnosis: sia.Diagnosis{
			Summary: "The handler calls a hosted provider, whose key `MAIL_API_KEY` is not there when the checks run. No " +
				"change to the handler can make that call succeed.",
			Pattern:   sia.MissingCredentials,
			Technique: sia.AbstractionLevelShift,
			Prompt: "Goal: a confirmation email per booking.\n\n1. Define `type Mailer interface { Send(Message) error " +
				"}`.\n2. Write a recorder that keeps messages.\n3. Do not contact real services.",
			Hypothesis: "With an interface and a recorder, the tests can see the message without a key, and `test` turns green.",
			Confidence: 0.85,
			Answers: sia.SixAnswers{
				Goal: "Send an email after a booking.", FailedAt: "mailer.New in the handler", Pattern: "missing credentials",
				SeenBefore: "twice, in #3 and #8",
				Addressing: []sia.TechniqueID{sia.AbstractionLevelShift, sia.ConstraintRelaxation},
				Untried:    []sia.TechniqueID{sia.AbstractionLevelShift, sia.ConstraintRelaxation},
			},
			Brief:   sia.Brief{Technique: sia.AbstractionLevelShift, WithoutTools: []string{"fetch_url"}, FromBase: true},
			Ratings: sia.Ratings{sia.FreshStart: 0.2}, // no candidate, so the table has no column for it
			Candidates: []sia.Candidate{
				{Technique: sia.AbstractionLevelShift, Score: 0.62, Resolved: 7, Tried: 9, Chosen: true,
					Reason: "the rule of first choice for missing credentials; 7 of 9 here"},
				{Technique: sia.ConstraintRelaxation, Score: 0.21, Reason: "no record here"},
			},
		},
	}
}

func announced() sia.Task {
	t := failed()
	t.State, t.Since = sia.Announced, clock(14)
	iv := intervention()
	iv.CommentURL = "https://github.com/acme/bookings/pull/13#issuecomment-5"
	t.Interventions = []sia.Intervention{iv}
	return t
}

func second() sia.Task {
	t := announced()
	t.State, t.Since = sia.Checking, clock(25)
	t.Head = "fedcba9876543210fedcba9876543210fedcba98"
	t.Attempts = append(t.Attempts, sia.Attempt{
		Number: 2, StartedAt: clock(15), EndedAt: clock(24), PromptHash: "bb", Technique: sia.AbstractionLevelShift,
		Cost: 9 * sia.Credit,
		Head: t.Head, Diff: sia.DiffStat{Files: 5, Added: 120, Deleted: 2, Paths: []string{"mail/mailer.go"}},
		Summary: "Added the interface and a recorder.",
	})
	t.Prompts = append(t.Prompts, sia.Prompt{Version: 2, Hash: "bb", Technique: sia.AbstractionLevelShift})
	t.Credits.Spent = 23 * sia.Credit
	t.Checks[0].Colour = sia.Running
	return t
}

func passed() sia.Task {
	t := second()
	t.State, t.Since = sia.Passed, clock(31)
	t.Attempts[1].Outcome = sia.AttemptPass
	t.Checks[0].Colour = sia.Green
	return t
}

func tampered() sia.Task {
	t := second()
	t.Gate.AwaitsPerson = true
	t.Checks[0].Colour = sia.Green
	t.Gate.Explain = []string{"test: green",
		"The attempt changed how it is checked: booking/handler_test.go:31: an assertion was removed: `if got != want {`.",
		"It does not pass until a person with write access accepts that."}
	return t
}

func paused() sia.Task {
	t := announced()
	t.State, t.Since = sia.OnHold, clock(20)
	t.Credits = sia.Ledger{Budget: 100 * sia.Credit, Spent: 100 * sia.Credit, Overrun: 700}
	t.Pause = &sia.Pause{From: sia.Announced, Kind: sia.PausedByCredits,
		Reason: "the task's 100 credits are used up (100.7 spent)"}
	return t
}

// pausedByTrouble is paused because GitHub kept failing.
func pausedByTrouble() sia.Task {
	t := pausedByPerson()
	t.Pause = &sia.Pause{From: sia.Checking, Kind: sia.PausedByTrouble,
		Reason: "GitHub is failing (502). See githubstatus.com"}
	return t
}

func pausedByPerson() sia.Task {
	t := second()
	t.State, t.Since = sia.OnHold, clock(26)
	t.Pause = &sia.Pause{From: sia.Checking, By: sia.Actor{Login: "mia"}, Kind: sia.PausedByPerson,
		Reason: "asked to pause"}
	return t
}

func escalation() sia.Escalation {
	return sia.Escalation{
		Number: 1, Kind: sia.AskIssue, AskedAt: clock(60),
		Blocker: "login_test.go:20: want providers, got none\nThe issue says \"their social account\" and names no " +
			"provider.",
		Question: "Which sign-in providers should be offered?",
		Options: []sia.Option{
			{Letter: "A", Text: "One provider: GitHub", Fastest: true},
			{Letter: "B", Text: "Two: GitHub and Google"},
			{Letter: "C", Text: "Three: GitHub, Google and Apple"},
		},
		Issue: 14, URL: "https://github.com/acme/bookings/issues/14",
	}
}

func escalated() sia.Task {
	t := second()
	t.State, t.Since = sia.Escalated, clock(60)
	t.Attempts[1].Outcome, t.Attempts[1].Reason = sia.AttemptFail, "it changed nothing"
	t.Attempts[1].Head = ""
	e := escalation()
	t.Escalation = &e
	t.Approaches = 2
	return t
}

// wholePlan is a plan of attempt 1, with words that must be neutralised.
func wholePlan() sia.Plan {
	return sia.Plan{Attempt: 1, Summary: "Bookings are confirmed by mail, behind an interface.\n\n- [ ] **A** — " +
		"@everyone <!-- sia:v1 -->", Steps: []plan.Part{
		{Do: "Add `Mailer` in mail/mailer.go", DoneWhen: "`go build ./...` passes"},
		{Do: "# Call it in booking/book.go", DoneWhen: "TestConfirm in booking/book_test.go passes"},
	}}
}

func planning() sia.Task {
	t := working()
	t.Attempts[0].Planning, t.Prompts = true, nil
	return t
}

// planned is a task with a plan that waits for approval.
func planned() sia.Task {
	t := planning()
	p := wholePlan()
	a := &t.Attempts[0]
	a.Outcome, a.EndedAt, a.Cost, a.Summary = sia.AttemptAsked, clock(4), 450, p.Summary
	t.State, t.Since = sia.Escalated, clock(4)
	t.Credits = sia.Ledger{Budget: 100 * sia.Credit, Spent: 450}
	t.Escalation = &sia.Escalation{
		Number: 1, Kind: sia.AskPlan, AskedAt: clock(4), Question: "Shall it be done like this?", Plan: &p, Issue: t.Issue,
		URL:     "https://github.com/acme/bookings/issues/12#issuecomment-5",
		Options: []sia.Option{{Letter: "A", Text: "Go ahead", Fastest: true}, {Letter: "B", Text: "Stop here"}},
	}
	return t
}

// stale is planned after its issue was edited, with a person's push.
func stale() sia.Task {
	t := planned()
	t.Head, t.HeadBy = "0123456789abcdef0123456789abcdef01234567", sia.Actor{Login: "noor"}
	t.Escalation.Stale = true
	return t
}

// noPlan is paused because an attempt made no plan.
func noPlan() sia.Task {
	t := planning()
	a := &t.Attempts[0]
	a.Outcome, a.EndedAt, a.Cost, a.Reason = sia.AttemptError, clock(4), 450, "the limit of 40 turns was reached"
	t.State, t.Since, t.Pause = sia.OnHold, clock(4),
		&sia.Pause{From: sia.Queued, Kind: sia.PausedByTrouble,
			Reason: "attempt 1 made no plan: the limit of 40 turns was reached"}
	t.Credits = sia.Ledger{Budget: 100 * sia.Credit, Spent: 450}
	return t
}

// approved is a task that passed as planned.
func approved() sia.Task {
	t := passed()
	p := wholePlan()
	p.By, p.At = sia.Actor{Login: "anna"}, clock(9)
	t.Brief.Plan = &p
	return t
}

func noChecks() sia.Task {
	t := checking()
	t.State, t.Since = sia.Escalated, clock(30)
	t.Checks = nil
	t.Escalation = &sia.Escalation{
		Number: 1, Kind: sia.AskNoChecks, Issue: 14, Question: "How should this change be checked?",
		Blocker: "No check run and no commit status appeared on abc1234 within 15m0s.",
		Options: []sia.Option{{Letter: "A", Text: "Checks run now: look again", Fastest: true},
			{Letter: "B", Text: "There will be no checks: stop here"}},
	}
	return t
}

func stopped() sia.Task {
	t := second()
	t.State, t.Since = sia.Stopped, clock(27)
	t.Ended = "@mia asked to stop"
	t.Attempts[1].Outcome = sia.AttemptCancelled
	return t
}

// hurt are tasks with a warning, a person's push, and many attempts.
func hurt() sia.Task {
	t := second()
	t.Warning = "`.sia/config.yml` on main is broken, so the last good settings are in force: 3:9: checks.settel: " +
		"there is no such setting"
	t.HeadBy = sia.Actor{Login: "noor"}
	for n := 3; n <= 25; n++ {
		t.Attempts = append(t.Attempts,
			sia.Attempt{Number: n, StartedAt: clock(30 + n), EndedAt: clock(31 + n), Outcome: sia.AttemptCheckpoint,
				Reason: "time limit of 30m reached"})
	}
	t.Answers = []sia.Answer{{Escalation: 1, By: sia.Actor{Login: "mia"}, Letter: "B",
		Text: "Two: GitHub and Google — but no Apple", At: clock(70)}}
	return t
}

// fixed is a task that passed with a person's push after SIA had failed.
func fixed() sia.Task {
	t := passed()
	t.HeadBy = sia.Actor{Login: "ada", ID: 7}
	t.Fix = &sia.Fix{
		By: t.HeadBy, From: "1111111111111111111111111111111111111111", Head: t.Head, Paths: []string{"mail/mail.go"},
		Summary: "Ada let the handler take the sender as a value, so that the test gives it one of its own. <!-- sia:v1 -->",
	}
	return t
}

// moments are the tasks of the story, by name.
func moments() map[string]sia.Task {
	pushed := checking()
	pushed.State = sia.PushedOut
	diagnosing := failed()
	diagnosing.State = sia.Diagnosing
	return map[string]sia.Task{
		"queued": queued(), "working": working(), "pushed": pushed, "checking": checking(), "diagnosing": diagnosing,
		"reviewing": failed(),
		"announced": announced(), "second": second(), "passed": passed(), "fixed": fixed(), "tampered": tampered(),
		"paused":            paused(),
		"paused-by-trouble": pausedByTrouble(),
		"paused-by-person":  pausedByPerson(), "escalated": escalated(), "no-checks": noChecks(), "stopped": stopped(),
		"hurt":     hurt(),
		"planning": planning(), "plan-waits": planned(), "plan-stale": stale(), "no-plan": noPlan(),
		"plan-approved": approved(),
	}
}

// inTree maps each name in a log that is a changed path, or the end of one, to that path.
func inTree(t sia.Task) render.Placed {
	in := render.Placed{}
	for _, n := range render.NamedLines(t) {
		for _, path := range t.Attempt().Diff.Paths {
			if path == n.Name || strings.HasSuffix(path, "/"+n.Name) {
				in[n] = path
			}
		}
	}
	return in
}
