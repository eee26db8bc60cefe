//test:plain
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/ghsim"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == cli.ForwardName { // the sandbox runs the program under another name
		main()
	}
	testscript.Main(m, map[string]func(){
		"sia": main,
	})
}

// TestScripts runs the txtar scripts in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireUniqueNames: true, UpdateScripts: *updateGolden,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE"))
			// Use a warm build cache: otherwise every script compiles the standard library.
			caches, err := os.UserCacheDir()
			env.Setenv("XDG_CACHE_HOME", caches)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"decide": decide, "install": install,
			"refusing": refusing, "github": simulated, "newer": newer, "decisions": decisions, "scripted": scriptedModel,
			"fronted": fronted, "story": story, "sql": execute},
	})
}

// install creates a database in a folder, with repositories "owner/name" that have the ids 101, 102 and so on; those
// that end in "?" are private. Each owner has an installation.
func install(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{URL: filepath.Join(ts.MkAbs(args[0]), "sia.db")})
	ts.Check(err)
	defer func() { ts.Check(s.Close()) }()
	_, _, err = s.Migrate(ctx)
	ts.Check(err)
	owners := map[string]int64{}
	for i, full := range args[1:] {
		full, private := strings.CutSuffix(full, "?")
		owner, name, _ := strings.Cut(full, "/")
		if owners[owner] == 0 {
			owners[owner] = int64(1 + len(owners))
			ts.Check(s.UpsertInstallation(ctx, store.Installation{ID: owners[owner], Account: owner}))
		}
		ts.Check(s.UpsertRepository(ctx,
			store.Repository{Repo: sia.Repo{ID: int64(101 + i), Owner: owner, Name: name}, Installation: owners[owner],
				Private: private}))
	}
}

// simulated starts a GitHub with an app: its address is $SIA_GITHUB_URL, its id $SIA_APP_ID, its key app.pem, and
// other.pem another key. Each argument breaks something about it.
func simulated(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), "github-")
	ts.Check(err)
	sim, err := ghsim.New(ghsim.Config{Dir: dir})
	ts.Check(err)
	ts.Defer(func() { ts.Check(sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	ts.Check(err)
	sim.CreateUser("ada")
	_, err = sim.CreateRepo("ada", "shop", ghsim.RepoSpec{Files: map[string]string{"README.md": "A shop."}})
	ts.Check(err)
	app, err := sim.CreateApp("sia")
	ts.Check(err)
	other, err := sim.CreateApp("other")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("app.pem"), app.PrivateKeyPEM, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("other.pem"), other.PrivateKeyPEM, 0o600))
	// On request, the receiver answers like SIA with another secret.
	status := http.StatusAccepted
	if slices.Contains(args, "other-secret") {
		status = http.StatusUnauthorized
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	ts.Defer(srv.Close)
	path := "/webhook"
	if slices.Contains(args, "other-path") {
		path = "/"
	}
	ts.Check(sim.SetWebhook(app.ID, srv.URL+path, "secret"))
	if slices.Contains(args, "few-permissions") {
		ts.Check(sim.SetAppPermissions(app.ID, map[string]string{"metadata": "read", "contents": "read", "issues": "write",
			"pull_requests": "write", "checks": "write", "actions": "write"}))
	}
	if !slices.Contains(args, "nowhere") {
		_, err = sim.Install(app.ID, "ada", "shop")
		ts.Check(err)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		ts.Check(sim.WaitIdle(ctx))
	}
	for name, value := range map[string]string{"SIA_GITHUB_URL": sim.URL(), "SIA_APP_ID": fmt.Sprint(app.ID),
		"SIA_APP_KEY_FILE": ts.MkAbs("app.pem"), "SIA_WEBHOOK_SECRET": "secret", "SIA_MODEL": "big"} {
		ts.Setenv(name, value)
	}
}

// newer creates a database in a folder, as a newer SIA would.
func newer(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	path := filepath.Join(ts.MkAbs(args[0]), "sia.db")
	s, err := store.Open(ctx, store.Config{URL: path})
	ts.Check(err)
	_, _, err = s.Migrate(ctx)
	ts.Check(err)
	ts.Check(s.Close())
	execute(ts, false, []string{args[0], "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)"})
}

// execute executes a statement on the database in a folder.
func execute(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.MkAbs(args[0]), "sia.db"))
	ts.Check(err)
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(errors.Join(err, db.Close()))
}

// refusing starts a model's endpoint that rejects every key, at $MODEL_URL.
func refusing(ts *testscript.TestScript, _ bool, _ []string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": {"message": "no such key", "code": "invalid_api_key"}}`, http.StatusUnauthorized)
	}))
	ts.Defer(srv.Close)
	ts.Setenv("MODEL_URL", srv.URL+"/v1")
}

// decide creates a database in a folder, with one task and some choices in its log. Further arguments are appended to
// its title and the reasons.
func decide(ts *testscript.TestScript, _ bool, args []string) {
	end := strings.Join(append([]string{""}, args[1:]...), " ")
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{URL: filepath.Join(ts.MkAbs(args[0]), "sia.db")})
	ts.Check(err)
	defer func() { ts.Check(s.Close()) }()
	_, _, err = s.Migrate(ctx)
	ts.Check(err)
	id, start := sia.NewTaskID(7, 12), time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	_, err = s.Apply(ctx, id, sia.Event{ID: "start", At: start, By: sia.Actor{Login: "mia"}, Fact: sia.Start{
		Installation: 3, Repo: sia.Repo{ID: 7, Owner: "acme", Name: "bookings"}, Issue: 12, Title: "Confirm bookings" + end,
		DefaultBranch: "main",
	}})
	ts.Check(err)
	for _, d := range []sia.Decision{
		{ID: "s", Task: id, Attempt: 1, Type: sia.DecideDecompose, Policy: "decompose/1", Choice: "linear", Propensity: 1,
			Reason: "The issue asks for three things.", At: start.Add(time.Second)},
		{ID: "p", Task: id, Attempt: 1, Type: sia.DecideRecover, Policy: "recover/1", Choice: sia.ChooseOtherCoder,
			Propensity: 1, Reason: "It failed twice.", At: start.Add(2 * time.Second),
			Context: json.RawMessage(`{"part":"reproduce","tries":2}`)},
		{ID: "a", Task: id, Attempt: 1, Type: sia.DecideAssign, Policy: "assign/1", Choice: "strong", Propensity: 1,
			Reason: "It costs least for each success.", At: start.Add(3 * time.Second),
			Context: json.RawMessage(`{"part":"part"}`)},
		{
			ID: "7-12/1/diagnose-v9", Task: id, Attempt: 1, Type: sia.DecideTechnique, Policy: "technique/1",
			Choice: "tool-change", Propensity: 0.97,
			Reason: "It resolved 7 of 9 here.", At: start.Add(time.Minute), Outcome: "resolved", Credit: 0.38,
			Context: json.RawMessage(`{"pattern":"wrong-tool","confidence":{"tool-change":0.7,"example-injection":0.4},` +
				`"candidates":[]}`),
			Options: json.RawMessage(`[{"technique":"tool-change","mean":0.62,"low":0.5,"high":0.74,"propensity":0.97,
				"here":{"resolved":7,"tried":9}},
				{"technique":"fresh-start","mean":0.18,"low":0.1,"high":0.28,"propensity":0.03,
				"elsewhere":{"resolved":1,"tried":4}}]`),
		},
		{ID: "r", Task: id, Attempt: 2, Type: sia.DecideRerun, Policy: "rerun/1", Choice: "once", Propensity: 1,
			Reason: "It may be the weather.", At: start.Add(time.Hour), Options: json.RawMessage(`["once","never"]`)},
	} {
		d.Reason += end
		ts.Check(s.LogDecision(ctx, d))
	}
	ts.Check(s.PutLessons(ctx, 7, lesson.NewTaught(7, "x", "Say hello."+end, sia.Actor{Login: "mia"}, sia.Task{}, start)))
}
