package app_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// The input is real: a published module at a version with a known bug, and the test that its next version added.
// Version 1.0.0 of go-wordwrap (MIT) counts bytes instead of characters, and breaks lines at non-breaking spaces; 1.0.1
// fixes both.
// https://github.com/mitchellh/go-wordwrap
const (
	buggy    = "github.com/mitchellh/go-wordwrap@v1.0.0"
	repaired = "github.com/mitchellh/go-wordwrap@v1.0.1"
)

// download fetches a module through the Go proxy, or the module cache, and reads its files.
func download(t *testing.T, module string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // outside of any module
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go mod download %s: %v: %s; the Go module proxy has to be reachable", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(m.Dir, path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// SIA resolves a real bug in a real module: the first attempt fixes only half of it, which the next version's own test
// detects; the second attempt passes.
func TestRealModule(t *testing.T) {
	t.Parallel()
	old, repair := download(t, buggy), download(t, repaired)
	files := map[string]string{}
	for name, text := range old {
		files[name] = text
	}
	files[".github/workflows/ci.yml"] = "name: CI\non: [pull_request]\njobs:\n  test:\n" +
		"    runs-on: ubuntu-latest\n    steps:\n" +
		"      - uses: actions/checkout@v4\n      - uses: actions/setup-go@v5\n      - run: go test ./...\n"
	files[".sia/config.yml"] = "checks: {settle: 10s, wait: 10m}\n"

	// Half of the fix: non-breaking spaces, while bytes are still counted.
	half := strings.Replace(old["wordwrap.go"], "unicode.IsSpace(char)", "unicode.IsSpace(char) && char != 0xA0", 1)
	if half == old["wordwrap.go"] {
		t.Fatal("the module is not what this test knows")
	}
	write := func(path, content string) scripted.Call {
		return scripted.Call{Name: "write", Args: map[string]any{"path": path, "content": content}}
	}
	finish := scripted.Answer{Calls: []scripted.Call{{Name: "finish",
		Args: map[string]any{"summary": "Wrapping is right now."}}}}
	stage := apptest.Start(t, apptest.Config{Files: files, Model: scripted.Script{Rules: []scripted.Rule{
		{Name: "the whole repair", Model: "coder", User: "(?s)wraps too early.*count characters, not bytes",
			Turns: []scripted.Answer{
				{Calls: []scripted.Call{{Name: "read", Args: map[string]any{"path": "wordwrap.go"}}}},
				{Calls: []scripted.Call{write("wordwrap.go", repair["wordwrap.go"])}}, finish,
			}},
		{Name: "half a repair", Model: "coder", User: "wraps too early", Repeat: true, Turns: []scripted.Answer{
			{Calls: []scripted.Call{write("wordwrap.go", half), write("wordwrap_test.go", repair["wordwrap_test.go"])}}, finish,
		}},
		{Name: "diagnosis", Model: "sia", User: "Expected Output", Turns: []scripted.Answer{{JSON: map[string]any{
			"diagnosis": "Non-breaking spaces are kept now, but lengths are still counted in bytes, so a line of three-byte " +
				"characters is broken too early.",
			"pattern": "repeated-error", "technique": "error-pattern-recognition",
			"modified_prompt": "In wordwrap.go count characters, not bytes: keep the lengths of the word and of the space " +
				"beside their buffers.",
			"hypothesis": "The case of multi-byte characters passes.", "confidence": 0.8,
		}}}},
		{Name: "review", Model: "reviewer",
			Turns: []scripted.Answer{{JSON: map[string]any{"verdict": "approved", "points": []string{}}}}},
	}}})

	if _, err := stage.Sim.OpenIssue(apptest.Repo, apptest.Owner, "WrapString wraps too early",
		"Text with characters of several bytes wraps too early, and lines are broken at non-breaking spaces."); err != nil {
		t.Fatal(err)
	}
	if err := stage.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"); err != nil {
		t.Fatal(err)
	}
	stage.Settle()

	task := stage.Task(1)
	if len(task.Attempts) != 2 || task.Attempts[0].Outcome != sia.AttemptFail || len(task.Attempts[0].Failures) != 1 {
		t.Fatalf("attempts: %+v, %s %s", task.Attempts, task.State, render.Waiting(task))
	}
	failed := task.Attempts[0].Failures[0]
	if failed.Class != "test_failure" || !slices.Contains(failed.Tests, "TestWrapString") {
		t.Errorf("the first attempt's failure was read as %+v", failed)
	}
	// The model's files pass the check. The task does not pass because of the gate: the attempt changed an existing test,
	// so a user has to review it.
	if task.State == sia.Checking {
		if _, err := stage.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia accept-tests"); err != nil {
			t.Fatal(err)
		}
		stage.Settle()
		task = stage.Task(1)
	}
	if task.State != sia.Passed {
		t.Errorf("the task is %s: %s; %v", task.State, render.Waiting(task), task.Gate.Explain)
	}
	got, err := stage.Sim.File(apptest.Repo, string(task.Head), "wordwrap.go")
	if err != nil {
		t.Fatal(err)
	}
	if got != repair["wordwrap.go"] {
		t.Error("the branch does not hold the repair")
	}
}
