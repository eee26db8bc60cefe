package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// The world of these tests: acme has installed the app on bookings and payroll, globex on vault. Every text of a
// repository contains a word of its own that identifies it.
var (
	bookings = sia.Repo{ID: 9, Owner: "acme", Name: "bookings"}
	payroll  = sia.Repo{ID: 10, Owner: "acme", Name: "payroll"}
	vault    = sia.Repo{ID: 20, Owner: "globex", Name: "vault"}
)

// Viewers.
func nobody() viewer.Viewer   { return viewer.Viewer{} }
func operator() viewer.Viewer { return viewer.Viewer{Operator: true, Token: "t"} }

// member has write access to bookings, and sees nothing else.
func member() viewer.Viewer {
	return viewer.Viewer{Actor: sia.Actor{Login: "ada", ID: 7}, Token: "t", Repos: map[int64]viewer.Role{9: viewer.Writes},
		Installations: []viewer.Installation{{ID: 1, Account: "acme"}}}
}

// reader has read access to bookings, and sees nothing else.
func reader() viewer.Viewer { return viewer.Viewer{Repos: map[int64]viewer.Role{9: viewer.Reads}} }

// admin administers all of acme.
func admin() viewer.Viewer {
	return viewer.Viewer{Actor: sia.Actor{Login: "grace", ID: 8}, Token: "t",
		Repos:         map[int64]viewer.Role{9: viewer.Administers, 10: viewer.Administers},
		Installations: []viewer.Installation{{ID: 1, Account: "acme", Whole: true}}}
}

// both administers everything.
func both() viewer.Viewer {
	v := admin()
	v.Repos[20] = viewer.Administers
	v.Installations = append(v.Installations, stranger().Installations...)
	return v
}

// stranger is a member of globex.
func stranger() viewer.Viewer {
	return viewer.Viewer{Actor: sia.Actor{Login: "mallory", ID: 66}, Token: "t",
		Repos:         map[int64]viewer.Role{20: viewer.Administers},
		Installations: []viewer.Installation{{ID: 2, Account: "globex", Whole: true}}}
}

// world is a database with everything that pages show, twice.
func world(t testing.TB) *store.Store {
	t.Helper()
	s := storetest.Open(t, store.Config{Now: func() time.Time { return start }})
	for i, account := range []string{"acme", "globex"} {
		ok(t, s.UpsertInstallation(t.Context(), store.Installation{ID: int64(i + 1), Account: account}))
	}
	populate(t, s, 1, bookings)
	populate(t, s, 1, payroll)
	populate(t, s, 2, vault)
	return s
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// populate adds tasks in every kind of state to a repository, and lessons from them.
func populate(t testing.TB, s *store.Store, installation int64, repo sia.Repo) {
	t.Helper()
	ctx := t.Context()
	ok(t, s.UpsertRepository(ctx, store.Repository{Repo: repo, Installation: installation, DefaultBranch: "main"}))
	ok(t, s.PlanSetups(ctx, installation, []sia.Repo{repo}, 1, false))
	word := repo.Name + "-word "
	for issue := 1; issue <= 3; issue++ {
		restore(t, s, installation, repo, issue, word)
	}
	asked(t, s, installation, repo, 4, word)
	solved(t, s, installation, repo, 5, word)
	for i, resolved := range []bool{true, true, false} {
		id := sia.NewTaskID(repo.ID, i+1)
		_, err := s.RecordOutcome(ctx, store.Outcome{Task: id, Intervention: 1, Repo: repo,
			Pattern:   sia.Pattern(repo.Name + "-pattern"),
			Technique: sia.TechniqueID(repo.Name + "-technique"), Resolved: resolved, At: start})
		ok(t, err)
		ok(t, s.RecordCoderOutcome(ctx, store.CoderOutcome{Task: id, Attempt: 1, Repo: repo.ID, Org: repo.Owner, Kind: "fix",
			Coder: repo.Name + "-coder", Cost: 300, Resolved: resolved, At: start}))
		for _, typ := range []sia.DecisionType{sia.DecideTechnique, sia.DecideAssign} {
			ok(t, s.LogDecision(ctx, sia.Decision{ID: fmt.Sprint(typ, id), Task: id, Repo: repo.ID, Attempt: 1, Type: typ,
				Policy: word, Choice: word, Propensity: 1, Reason: word + "resolved 7 of 9 here.", At: start}))
		}
	}
	begun(t, s, installation, repo, 6, word)
	for n, turn := range talk(word) {
		b, err := json.Marshal(turn)
		ok(t, err)
		ok(t, s.AppendTurn(ctx, sia.NewTaskID(repo.ID, 5), 1, 0, n, b))
		if n < 4 {
			ok(t, s.AppendTurn(ctx, sia.NewTaskID(repo.ID, 6), 1, 0, n, b))
		}
	}
	l := lesson.NewTaught(repo.ID, repo.Name, word+"is generated and must not be edited", sia.Actor{Login: "ada"},
		sia.Task{}, start)
	ok(t, s.PutLessons(ctx, repo.ID, l))
	ok(t, s.CountLessons(ctx, repo.ID, lesson.Evidence{Key: "k", Lesson: l.ID, Good: 1, At: start, Why: word + "helped"}))
	ok(t, s.SaveExperiment(ctx, "", store.Experiment{ID: repo.Name + "-change", Installation: installation, Place: repo,
		Decision: "recover",
		Name:     repo.Name + "-policy", Change: word + "0.1 -> 0.3", Reason: word, By: "gpt-5",
		Phase: store.ExperimentRunning, Why: word, CreatedAt: start}, word))
}

// lessonOf is the id of a repository's lesson.
func lessonOf(repo sia.Repo) lesson.ID { return lesson.NewID(repo.ID, repo.Name) }

// restore adds a task that ended, with attempts, failures and an intervention.
func restore(t testing.TB, s *store.Store, installation int64, repo sia.Repo, issue int, word string) {
	t.Helper()
	resolved := issue < 3
	task := sia.Task{ID: sia.NewTaskID(repo.ID, issue), Installation: installation, Repo: repo, Issue: issue,
		Title: fmt.Sprintf("%stask %d", word, issue), State: sia.Passed, CreatedAt: start, StartedAt: start,
		Since:   start.Add(time.Hour),
		BaseSHA: sia.SHA(strings.Repeat("a", 40)), Head: "f00d", Credits: sia.Ledger{Budget: 100 * sia.Credit,
			Spent: 12 * sia.Credit},
		Attempts: []sia.Attempt{
			{Number: 1, StartedAt: start, EndedAt: start.Add(20 * time.Minute), Outcome: sia.AttemptFail, Reason: word +
				"failed", Head: "beef",
				Failures: []sia.CheckFailure{{Check: word + "check", Excerpt: word + "expected 1, got 2"}}},
			{Number: 2, StartedAt: start.Add(25 * time.Minute), EndedAt: start.Add(time.Hour), Outcome: sia.AttemptPass,
				Head:      "f00d",
				Technique: sia.TechniqueID(repo.Name + "-technique")}},
		Checks: []sia.Check{{Name: word + "check", Colour: sia.Green, Required: true}},
		Interventions: []sia.Intervention{{Number: 1, After: 1, Diagnosis: sia.Diagnosis{Summary: word + "summary",
			Pattern: sia.Pattern(repo.Name + "-pattern"), Technique: sia.TechniqueID(repo.Name + "-technique")},
			Resolved: &resolved}},
	}
	if issue == 1 {
		task.Settings.Team = repo.Name + "-team"
	}
	if !resolved {
		task.State, task.Ended = sia.Stopped, word+"was stopped"
	}
	_, err := s.Apply(t.Context(), task.ID, sia.Event{ID: "restored", At: start, Fact: sia.Restored{Task: task}})
	ok(t, err)
}

// unbounded are settings without a limit on parallel tasks.
func unbounded() sia.Settings {
	set := sia.DefaultSettings()
	set.Budget.RepoPerDay, set.Budget.InstallationPerDay = 0, 0
	return set
}

// begun starts a task with a coder, and returns a function that adds events, in minutes after the start.
func begun(
	t testing.TB, s *store.Store, installation int64, repo sia.Repo, issue int, word string,
) func(int, sia.Fact) {
	t.Helper()
	id := sia.NewTaskID(repo.ID, issue)
	effects := map[sia.Kind]sia.EffectKind{sia.KBegun: sia.DoBegin, sia.KDecided: sia.DoDecide,
		sia.KAttemptEnded: sia.DoAttempt,
		sia.KPushed:       sia.DoPush, sia.KPullOpened: sia.DoPull, sia.KJudged: sia.DoGate,
		sia.KFinalReviewed: sia.DoFinalReview}
	apply := func(minutes int, fact sia.Fact) {
		t.Helper()
		e := sia.Event{ID: fmt.Sprint(fact.Kind(), minutes), At: start.Add(time.Duration(minutes) * time.Minute), Fact: fact}
		task, err := s.Task(t.Context(), id)
		for key, kind := range task.Pending {
			if err == nil && kind == effects[fact.Kind()] {
				e.ID, e.Effect = key, key
			}
		}
		res, err := s.Apply(t.Context(), id, e)
		if err != nil || res.Ignored != "" {
			t.Fatalf("%s: %v %s", fact.Kind(), err, res.Ignored)
		}
	}
	apply(0, sia.Start{Installation: installation, Repo: repo, Issue: issue, Title: fmt.Sprintf("%stask %d", word, issue),
		DefaultBranch: "main", Text: word + "said"})
	apply(1, sia.Begun{Settings: unbounded(), BaseBranch: "main", BaseSHA: sia.SHA(strings.Repeat("a", 40)),
		Title: fmt.Sprintf("%stask %d", word, issue)})
	apply(2, sia.Decided{Type: sia.DecideAssign, Choice: "coder", Agent: "builtin/scripted", Reason: "it is the only one"})
	return apply
}

// asked adds a task that waits for the answer to a question.
func asked(t testing.TB, s *store.Store, installation int64, repo sia.Repo, issue int, word string) {
	t.Helper()
	begun(t, s, installation, repo, issue, word)(3, sia.AttemptEnded{End: sia.EndAsked, Turns: 1, Cost: 450,
		Ask: &sia.Ask{Question: word + "which of the two?", Options: []string{word + "first", "Second"}}})
}

// solved adds a task that has passed.
func solved(t testing.TB, s *store.Store, installation int64, repo sia.Repo, issue int, word string) {
	t.Helper()
	apply := begun(t, s, installation, repo, issue, word)
	apply(3, sia.AttemptEnded{End: sia.EndFinished, Commit: "c0ffee", Diff: sia.DiffStat{Files: 2, Added: 12, Deleted: 3},
		Hunks: []uint64{1}, Turns: 3, Cost: 4 * sia.Credit})
	apply(4, sia.Pushed{SHA: "c0ffee"})
	apply(5, sia.PullOpened{Number: 100 + issue, NodeID: "PR", URL: "https://github.com/" + repo.String() + "/pull/1"})
	apply(6, sia.Judged{SHA: "c0ffee", Looked: start.Add(6 * time.Minute), Verdict: sia.VerdictGreen,
		Checks: []sia.Check{{Name: word + "check", Colour: sia.Green, Required: true}}, Explain: []string{word + "is green"}})
	apply(7, sia.FinalReviewed{Review: sia.FinalReview{SHA: "c0ffee", Done: true}})
	apply(8, sia.Judged{SHA: "c0ffee", Looked: start.Add(8 * time.Minute), Verdict: sia.VerdictGreen,
		Checks: []sia.Check{{Name: word + "check", Colour: sia.Green, Required: true}}, Explain: []string{word + "is green"}})
	if task, err := s.Task(t.Context(), sia.NewTaskID(repo.ID, issue)); err != nil || task.State != sia.Passed {
		t.Fatalf("it has not passed: %s %v", task.State, err)
	}
}

// talk is a session with every kind of call, of SIA's agent and of others.
func talk(word string) []agent.Turn {
	at := func(seconds int) time.Time { return start.Add(2*time.Minute + time.Duration(seconds)*time.Second) }
	args := func(pairs ...any) string {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
	long := strings.Repeat("ok  \tgithub.com/acme/bookings/mail\t0.012s\n", 60)
	return []agent.Turn{
		{Kind: agent.TurnBrief, At: at(0), Text: "Resolve issue 5 of " + word + "\n\nSend an email."},
		{Number: 1, Kind: agent.TurnModel, At: at(9), Cost: 400, Text: "I'll look at how `Booking` is **confirmed** first.",
			Calls: []agent.Call{
				{Name: "read", Arguments: args("path", "booking/handler.go", "start", 20), Result: "20 func Confirm() {\n21 }\n"},
				{Name: "search", Arguments: args("pattern", "Mailer", "path", "mail"), Result: "mail/mailer.go:3: type Mailer\n"},
				{Name: "list", Arguments: args("path", "."), Result: "go.mod\nmail/\n"},
				{Name: "plan", Arguments: args("steps", []map[string]string{{"do": "Add a Mailer", "status": "done"},
					{"do": "Call it from the handler", "status": "doing"}, {"do": "Test it", "status": "pending"}}),
					Result: "plan noted\n"}}},
		{Number: 2, Kind: agent.TurnModel, At: at(31), Cost: 900,
			Text: "Two things are needed:\n\n- a `Mailer` interface\n- a double that records", Calls: []agent.Call{
				{Name: "write", Arguments: args("path", "mail/mailer.go", "content",
					"package mail\n\n// Mailer sends a message.\ntype Mailer interface {\n\tSend(to, text string) error\n}\n"),
					Result: "created", Changed: []string{"mail/mailer.go"}},
				{Name: "edit", Arguments: args("path", "booking/handler.go", "old",
					"func Confirm() {\n\tsave()\n}\n", "new",
					"func Confirm(m mail.Mailer) {\n\tsave()\n\t_ = m.Send(\"\", \"\")\n}\n"),
					Result: "edited", Changed: []string{"booking/handler.go"}},
				{Name: "edit", Arguments: args("path", "booking/handler.go", "old", "nowhere", "new", "x"), IsError: true,
					Result: "error: edit booking/handler.go: old does not occur in the file"},
				{Name: "Edit", Arguments: args("file_path", "README.md", "old_string", "# Bookings", "new_string",
					"# Bookings\n\nSends mail."), Result: "ok"},
				{Name: "patch", Arguments: args("patch", "--- a/go.mod\n+++ b/go.mod\n@@ -1 +1 @@\n-go 1.25\n+go 1.26\n"),
					Result: "patched", Changed: []string{"go.mod"}}}},
		{Number: 3, Kind: agent.TurnModel, At: at(95), Cost: 700, Text: "Now the tests.",
			Note: "a tenth of the turns is left",
			Calls: []agent.Call{
				{Name: "run", Arguments: args("command", "go vet ./... && gofmt -l ."), Took: 2300 * time.Millisecond,
					Result: "exit status 1\nbooking/handler.go:22:2: undefined: mail\n"},
				{Name: "shell", Arguments: "ls -la", Result: "total 12\n", Took: 40 * time.Millisecond},
				{Name: "test", Arguments: "{}", Result: "The tests pass: go test ./...\n" + long, Took: 71 * time.Second}}},
		{Number: 4, Kind: agent.TurnModel, At: at(120), Cost: 200,
			Calls: []agent.Call{{Name: "finish", Arguments: args("summary", "Bookings send an email.")}}},
		{Number: 5, Kind: agent.TurnEnd, At: at(120), Text: "finished: Bookings send an email."},
	}
}
