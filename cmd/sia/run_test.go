package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/cmd/internal/localrun"
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

// writer starts a model that writes a file in its first turn, and then gives another answer.
func writer(t *testing.T, text string, then scripted.Answer) (url string) {
	t.Helper()
	write := scripted.Answer{Calls: []scripted.Call{{Name: "write",
		Args: map[string]any{"path": "a.txt", "content": text}}}}
	srv, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Name: "writer",
		Turns: []scripted.Answer{write, then}}}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv.URL
}

// halfDone starts a model that writes a file and gives no second answer.
func halfDone(t *testing.T) (url string) {
	t.Helper()
	return writer(t, "half\n", scripted.Answer{Text: "…", Delay: time.Hour})
}

// keptHalf checks that the file of [halfDone] is on the branch of a run.
func keptHalf(t *testing.T, dir string) {
	t.Helper()
	text, err := localgit.At(dir).Run(t.Context(), "show", "sia/write-a-file:a.txt")
	if string(text) != "half\n" || err != nil {
		t.Errorf("the branch has %q, %v", text, err)
	}
}

// Ctrl-C during an attempt keeps its work on the branch, and prints how to continue.
//
//test:thorough
func TestRunStopped(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // folder for the results of runs
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watched{until: "turn 1: write a.txt", then: cancel}, &strings.Builder{}
	dir := testedClone(t)
	code := runCommand(ctx, []string{"run", "--repo", dir, "--issue", "Write a file", "--free", "--model-url", halfDone(t),
		"--model", "m"}, out, errs)
	if code != cli.ExitStopped || errs.String() != "Stopped.\n" ||
		!strings.Contains(out.String(), "To go on from there: sia run --base sia/write-a-file") ||
		strings.Contains(out.String(), "cancelled\n    ") {
		t.Errorf("exit %d, %q:\n%s", code, errs, out)
	}
	keptHalf(t, dir)
}

// onceRed is a check that fails when a run makes it first: its later checks have the same cache.
const onceRed = `echo x >>$XDG_CACHE_HOME/ran; test $(wc -l <$XDG_CACHE_HOME/ran) -gt 1`

// A run from an attempt that was being checked when Ctrl-C came makes no other attempt if the check passes, unless the
// issue is another one.
//
//test:thorough
func TestRunStoppedWhileChecked(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watched{until: "Attempt 1: checking", then: cancel}, &strings.Builder{}
	dir := testedClone(t)
	url := writer(t, "whole\n", scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "It is written."}}}})
	args := []string{"run", "--repo", dir, "--issue", "Write a file", "--free", "--model-url", url, "--model", "m"}
	if code := runCommand(ctx, append(args, "--test", "test ! -f a.txt || tail -f /dev/null"), out, errs); code !=
		cli.ExitStopped {
		t.Fatalf("exit %d, %q:\n%s", code, errs, out)
	}
	again := slices.Concat(args, []string{"--base", "sia/write-a-file", "--test"})
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{slices.Concat(again, []string{"test -f a.txt"}), 0, "It is finished, so no attempt is made."},
		{slices.Concat(again, []string{"test -f b.txt", "--approaches", "1"}), 1, "Attempt 1: working"},
		{slices.Concat(again, []string{onceRed + " && ! test -f b.txt", "--approaches", "1"}), 1, "Attempt 1: working"},
		{slices.Concat(again, []string{"test -f a.txt", "--approaches", "1", "--issue", "Write another file"}), 1,
			"Attempt 1: working"},
	} {
		var out, errs strings.Builder
		if code := runCommand(t.Context(), c.args, &out, &errs); code != c.code || !strings.Contains(out.String(), c.said) ||
			strings.Contains(out.String(), "Attempt 1") == (c.code == 0) {
			t.Errorf("%q: exit %d, %q:\n%s", c.args, code, &errs, &out)
		}
	}
}

// The reader of the output may exit, as head does, or tee with Ctrl-C. Then the run stops, the work is kept, and
// standard error has its location.
//
//test:thorough
func TestRunUnread(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	finished := writer(t, "half\n", scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "It is written."}}}})
	for name, c := range map[string]struct {
		model, output string
		until         string // line of standard output after which the reader exits; "": it reads nothing
		interrupt     bool
		code          int
		said, ended   string // on standard error, and at its end
		kept          bool
	}{
		"Ctrl-C": {halfDone(t), "text", "turn 1: write a.txt", true, cli.ExitStopped,
			"Not passed: it was stopped.", "Stopped.\n", true},
		"head": {halfDone(t), "text", "Attempt 1: ", false, cli.ExitUnread, "Not passed: nobody reads its output.",
			"To go on from there: sia run --base sia/write-a-file, with the same --issue.\n", true},
		"before anything is begun": {halfDone(t), "text", "Issue: ", false, cli.ExitUnread,
			"Not passed: nobody reads its output.", "No change was committed.\n", false},
		"JSON": {finished, "json", "", false, cli.ExitUnread, "Attempt 1: ",
			"sia: nobody read the result; the change is on the branch sia/write-a-file\n", true},
	} {
		dir := testedClone(t)
		cmd := exec.CommandContext(t.Context(), "sia", "run", "--repo", dir, "--issue", "Write a file", "--free",
			"--model-url", c.model, "--model", "m", "--output", c.output)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); c.until != "" && lines.Scan() && !strings.Contains(lines.Text(), c.until); {
		}
		err = out.Close()
		if c.interrupt {
			err = errors.Join(err, cmd.Process.Signal(os.Interrupt))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != c.code || !strings.Contains(errs.String(), c.said) ||
			!strings.HasSuffix(errs.String(), c.ended) {
			t.Errorf("%s: %v, %s", name, err, &errs)
		}
		if c.kept {
			keptHalf(t, dir)
		}
	}
}

// What a person ignores outside of the commits is not committed.
//
//test:thorough
func TestRunIgnores(t *testing.T) {
	own := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", own)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(own, "gitconfig"))
	dir := testedClone(t)
	for name, text := range map[string]string{filepath.Join(dir, ".git", "info", "exclude"): "deps/",
		filepath.Join(own, "gitconfig"): "[core]\n\texcludesFile = " + filepath.Join(own, "ignore") + "\n",
		filepath.Join(own, "ignore"):    "*.tmp"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string) scripted.Call {
		return scripted.Call{Name: "write", Args: map[string]any{"path": path, "content": "x\n"}}
	}
	srv, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Name: "writer", Turns: []scripted.Answer{
		{Calls: []scripted.Call{write("a.txt"), write("deps/b.txt"), write("c.tmp")}},
		{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Written."}}}}}}}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var out, errs strings.Builder
	if code := runCommand(t.Context(), []string{"run", "--repo", dir, "--issue", "Write a file", "--free", "--model-url",
		srv.URL, "--model", "m"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d, %s\n%s", code, &errs, &out)
	}
	changed, err := localgit.At(dir).Run(t.Context(), "diff", "--name-only", "HEAD", "sia/write-a-file")
	if string(changed) != "a.txt\n" || err != nil {
		t.Errorf("the branch changes %q, %v", changed, err)
	}
}

// What setup leaves is not committed, unless the attempt changes it.
//
//test:thorough
func TestRunLeavesWhatSetupMade(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := testedClone(t)
	url := writer(t, "changed\n", scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "It is written."}}}})
	var out, errs strings.Builder
	if code := runCommand(t.Context(), []string{"run", "--repo", dir, "--issue", "Write a file", "--free", "--model-url",
		url, "--model", "m", "--setup",
		"mkdir deps && touch deps/made a.txt && echo '# lock' >> Makefile"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d, %s\n%s", code, &errs, &out)
	}
	changed, err := localgit.At(dir).Run(t.Context(), "diff", "--name-only", "HEAD", "sia/write-a-file")
	if string(changed) != "a.txt\n" || err != nil ||
		!strings.Contains(out.String(), "left out what setup changed and the attempt did not: `Makefile`.") {
		t.Errorf("the branch changes %q, %v; said:\n%s", changed, err, &out)
	}
}

// The work is kept under another name if the branch is checked out during the run, and in a file if Git refuses such
// branches.
//
//test:thorough
func TestRunKeepsItsResult(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	url := writer(t, "whole\n", scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "It is written."}}}})
	for name, c := range map[string]struct {
		during []string // git commands during the run
		code   int
		said   string   // with the location of the result
		show   []string // command that shows the result
	}{
		"checked out": {[]string{"checkout", "--quiet", "-b", "sia/write-a-file"}, cli.ExitDone,
			`The change is on the branch (\S+):`, []string{"show", "--format=", "--numstat"}},
		"no such branch": {[]string{"branch", "sia"}, cli.ExitFailed,
			`the change is in (\S+\.patch), which`, []string{"apply", "--numstat"}},
	} {
		dir := testedClone(t)
		out, errs := &watched{until: "Check: ", then: sync.OnceFunc(func() {
			if _, err := localgit.At(dir).Run(t.Context(), c.during...); err != nil {
				t.Error(err)
			}
		})}, &strings.Builder{}
		code := runCommand(t.Context(), []string{"run", "--repo", dir, "--issue", "Write a file", "--free", "--model-url",
			url, "--model", "m"}, out, errs)
		place := regexp.MustCompile(c.said).FindStringSubmatch(out.String())
		if code != c.code || len(place) == 0 {
			t.Errorf("%s: exit %d, %s:\n%s", name, code, errs, out)
			continue
		}
		if stat, err := localgit.At(dir).Run(t.Context(), append(c.show, place[1])...); err != nil ||
			string(stat) != "1\t0\ta.txt\n" {
			t.Errorf("%s: %s has %s, %v", name, place[1], stat, err)
		}
	}
}

// A model's endpoint that refuses for longer than an answer may take ends the run with the reason, in text and JSON,
// and at once if it announces such a delay. Nothing is lost.
//
//test:thorough
func TestRunWithABusyModel(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for status, c := range map[int]struct{ after, timeout, want string }{
		http.StatusTooManyRequests: {"9000", "1h", "the model m could not be asked (it is asked too often, HTTP 429). The " +
			"endpoint limits how much may be asked (it says: not now); wait, or raise the account's limit. It can be tried " +
			"again in 2 hours, and --model-timeout is 1h0m0s."},
		http.StatusInternalServerError: {"0", "1s", "the model m could not be asked (its endpoint has trouble, HTTP 500)"},
	} {
		want := c.want
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.after)
			http.Error(w, `{"error": {"message": "not now"}}`, status)
		}))
		t.Cleanup(srv.Close)
		args := []string{"run", "--repo", testedClone(t), "--issue", "Write a file", "--free", "--model-url", srv.URL + "/v1",
			"--model", "m", "--model-timeout", c.timeout, "--output", "json"}
		var out, errs strings.Builder
		code := runCommand(t.Context(), args, &out, &errs)
		var said localrun.Result
		if err := json.Unmarshal([]byte(out.String()), &said); err != nil || code != cli.ExitFailed ||
			!strings.Contains(said.Reason, want) || !strings.Contains(errs.String(), want) {
			t.Errorf("exit %d, %v, want %q:\n%s\n%s", code, err, want, &out, &errs)
		}
	}
}

// A check that fails before any change and then passes is nothing to repair. Where the same test fails on a change, it
// is run again.
//
//test:thorough
func TestRunWithAFlakyCheck(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	url := writer(t, "whole\n", scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "It is written."}}}})
	const named = onceRed + " || { echo FAILED test_a.py::test_x; exit 1; }; test ! -e a.txt || "
	for test, c := range map[string]struct{ code, again int }{
		onceRed:                         {cli.ExitDone, 0},
		onceRed + " && test ! -e a.txt": {cli.ExitFailed, 0}, // no test is named
		named + "{ echo FAILED test_a.py::test_x; exit 1; }": {cli.ExitFailed, 1},
		named + "{ echo FAILED test_a.py::test_y; exit 1; }": {cli.ExitFailed, 0},
	} {
		var out, errs strings.Builder
		code := runCommand(t.Context(), []string{"run", "--repo", testedClone(t), "--issue", "Write a file", "--free",
			"--model-url", url, "--model", "m", "--approaches", "1", "--test", test}, &out, &errs)
		if said := out.String(); code != c.code || strings.Count(said, "and is run once more:") != c.again ||
			!strings.Contains(said, "The check failed before any change, and passed when it was run again") ||
			strings.Contains(said, "has to repair") {
			t.Errorf("%s: exit %d, %s:\n%s", test, code, &errs, said)
		}
	}
}

// A pass of a second run says so.
//
//test:thorough
func TestRunThatPassesLater(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	mend := sync.OnceFunc(func() { // the cache with which the second run begins
		err := filepath.WalkDir(temporary, func(path string, _ os.DirEntry, err error) error {
			if filepath.Base(path) != "ran" {
				return err
			}
			return os.WriteFile(path, []byte("x\nx\nx\nx\n"), 0o600)
		})
		if err != nil {
			t.Error(err)
		}
	})
	url := writer(t, "whole\n", scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "It is written."}}}})
	const red = " || { echo FAILED test_a.py::test_x; exit 1; }"
	var out strings.Builder
	errs := &watched{until: "and is run once more:", then: mend}
	code := runCommand(t.Context(), []string{"run", "--repo", testedClone(t), "--issue", "Write a file", "--free",
		"--model-url", url, "--model", "m", "--approaches", "1", "--output", "json",
		"--test", onceRed + red + "; test ! -e a.txt || test $(wc -l <$XDG_CACHE_HOME/ran) -gt 4" + red}, &out, errs)
	var got localrun.Result
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || code != cli.ExitDone || !got.Passed ||
		!got.SecondRun {
		t.Errorf("exit %d, %v, %+v:\n%s", code, err, got, errs)
	}
}

// The review of a change against the issue is shown: before the follow-up, and with the result.
//
//test:thorough
func TestRunShowsTheReview(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	finish := call("finish", map[string]any{"summary": "It is written."})
	review := `{"demands": [{"quote": "Write a file", "state": "met", "path": "a.txt", "line": 1, "code": "whole"},` +
		`{"quote": "and say who wrote it", "state": "unmet", "why": "It has no name.", "path": ""}],` +
		`"remarks": [{"about": "scope", "why": "Nothing asks for this word.", "path": "a.txt", "line": 1, "code": "whole"}]}`
	srv, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{
		{Name: "review", System: "Before people read its pull request", Turns: []scripted.Answer{{Text: review}}},
		{Name: "follow-up", User: "This is attempt 2", Turns: []scripted.Answer{finish}},
		{Name: "coder", User: "This is attempt 1",
			Turns: []scripted.Answer{call("write", map[string]any{"path": "a.txt", "content": "whole\n"}), finish}},
	}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	var out, errs strings.Builder
	code := runCommand(t.Context(), []string{"run", "--repo", testedClone(t), "--issue",
		"Write a file, and say who wrote it", "--free", "--model-url", srv.URL, "--model", "m"}, &out, &errs)
	for _, want := range []string{
		"says that 1 of 2 requirements is not done. One more attempt does that; if it does not pass, its commit is not " +
			"kept.\n  Not done: “and say who wrote it”: It has no name.\nAttempt 2: working\n",
		"This is advice:\n  Not done: “and say who wrote it”: It has no name.\n" +
			"  Not asked for (a.txt:1): Nothing asks for this word.\n"} {
		if code != cli.ExitDone || strings.Count(out.String(), want) != 1 {
			t.Errorf("exit %d, %s, want %q:\n%s", code, &errs, want, &out)
		}
	}
}
