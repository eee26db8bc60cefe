package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/scripted"
)

// story starts a model that plays a script, at $MODEL_URL.
func story(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join("testdata", "models", args[0]))
	ts.Check(err)
	script, err := scripted.Parse(text)
	ts.Check(err)
	srv, err := scripted.Start(script, scripted.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(srv.Close()) })
	ts.Setenv("MODEL_URL", srv.URL)
}

// Ctrl-C in the midst of an attempt keeps what it had done on the branch, and says how to go on.
//
//test:thorough
func TestRunStopped(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // where it remembers what runs came to
	write := scripted.Answer{Calls: []scripted.Call{{Name: "write", Args: map[string]any{"path": "a.txt",
		"content": "half\n"}}}}
	srv, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Name: "slow",
		Turns: []scripted.Answer{write, {Text: "…", Delay: time.Hour}}}}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watched{until: "turn 1: write a.txt", then: cancel}, &strings.Builder{}
	dir := testedClone(t)
	code := runCommand(ctx, []string{"run", "--repo", dir, "--issue", "Write a file", "--free", "--model-url", srv.URL,
		"--model", "m"}, out, errs)
	if code != cli.ExitStopped || errs.String() != "Stopped.\n" ||
		!strings.Contains(out.String(), "To go on from there: sia run --base sia/write-a-file") {
		t.Errorf("exit %d, %q:\n%s", code, errs, out)
	}
	text, err := localGit{dir}.run(t.Context(), "show", "sia/write-a-file:a.txt")
	if string(text) != "half\n" || err != nil {
		t.Errorf("the branch has %q, %v", text, err)
	}
}

// Others on the machine see and do nothing on the GitHub of a run, whatever they call themselves.
func TestRunIsClosed(t *testing.T) {
	reached := false
	h := stageConfig{closed: true}.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	for path, open := range map[string]bool{
		"/": false, "/ada/shop/issues/1": false, "/ada/shop/comment": false, "/ada/shop/x.git/info/refs": false,
		"/login/oauth/access_token": false, "/api/v3/user": true, "/ada/shop.git/info/refs": true,
		"/ada/shop.git/git-receive-pack": true,
	} {
		reached = false
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set("Authorization", "Bearer anything")
		if h.ServeHTTP(httptest.NewRecorder(), r); reached != open {
			t.Errorf("%s is reached: %v", path, reached)
		}
	}
}
