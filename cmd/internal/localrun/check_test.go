//test:plain
package localrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/failure"
)

// A test runner that is not installed is no failure of the code.
func TestLacksRunner(t *testing.T) {
	for _, c := range []struct {
		command, output string
		want            bool
	}{
		{"python3 -m pytest -q", "/usr/bin/python3: No module named pytest\n", true},
		{"python3 -m pytest", "some words\n/opt/venv/bin/python3.12: No module named 'pytest'\n", true},
		{"python3 -m pytest -q", "E   ModuleNotFoundError: No module named 'shop'\n", false},
		{"python3 -m pytest -q", "/usr/bin/python3: No module named shop\n", false}, // run by a test
		{"python3 -m unittest", "Ran 1 test\nOK\n", false},
	} {
		if got := lacksRunner(c.command, []byte(c.output)); got != c.want {
			t.Errorf("%s printed %q: %v", c.command, c.output, got)
		}
	}
}

// A check of a change is run again only if all tests that fail are known to fail now and then.
func TestFailsAsBase(t *testing.T) {
	const x, y = "FAILED test_a.py::test_x\n", "FAILED test_a.py::test_y\n"
	base := checkResult{log: x}
	for name, c := range map[string]struct {
		base, change checkResult
		want         bool
	}{
		"the same test":        {base, checkResult{log: x}, true},
		"another":              {base, checkResult{log: y}, false},
		"another, too":         {base, checkResult{log: x + y}, false},
		"one of them":          {checkResult{log: x + y}, checkResult{log: y}, true},
		"it names none":        {base, checkResult{log: "exit status 1"}, false},
		"base names none":      {checkResult{log: "exit status 1"}, checkResult{log: x}, false},
		"out of time":          {base, checkResult{log: x, timedOut: true}, false},
		"it was not run":       {base, checkResult{log: x, err: errors.New("no sandbox")}, false},
		"it passes":            {base, checkResult{log: x, passed: true}, false},
		"too many to name":     {base, checkResult{log: x + manyFailed()}, false},
		"a compile error, too": {base, checkResult{log: x + "main.c:3:5: error: expected ';' before 'return'\n"}, false},
		"a crash, too":         {base, checkResult{log: x + "Segmentation fault (core dumped)\n"}, false},
		"another time and line": {checkResult{log: x + "1 failed, 3 passed in 0.1s\nmake: *** [Makefile:3: test] Error 1\n"},
			checkResult{log: x + "1 failed, 5 passed in 0.2s\nmake: *** [Makefile:4: test] Error 1\n"}, true},
		"the base has many": {checkResult{log: manyFailed()}, checkResult{log: "FAILED test_a.py::test_1\n"}, false},
	} {
		r := run{flaky: c.base.failedTests(t.Context()), flakyLog: c.base.log}
		if got := r.failsAsBase(t.Context(), c.change); got != c.want {
			t.Errorf("%s: %v, with %q", name, got, r.flaky)
		}
	}
}

// manyFailed is a log with more failed tests than a report names.
func manyFailed() string {
	var log strings.Builder
	for i := range failure.MaxTests + 1 {
		fmt.Fprintf(&log, "FAILED test_a.py::test_%d\n", i)
	}
	return log.String()
}

// TestCheckedOutIsARepository: a commit that is checked out is a repository of its own, also if no branch has it.
func TestCheckedOutIsARepository(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	made := localgit.At(filepath.Join(t.TempDir(), "made"))
	git := func(g localgit.Repo, args ...string) string {
		t.Helper()
		out, err := g.Run(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(made.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(made, "init", "--quiet")
	commit := []string{"-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--allow-empty"}
	git(made, append(commit, "-m", "Begin")...)
	sha := git(made, "rev-parse", "HEAD")
	git(made, append(commit, "--amend", "-m", "Another")...)
	dir := filepath.Join(t.TempDir(), "checked-out")
	if err := (&run{bare: made}).checkOut(t.Context(), sha, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(made.Dir); err != nil {
		t.Fatal(err)
	}
	if got := git(localgit.At(dir), "log", "--format=%H %s"); got != sha+" Begin" {
		t.Errorf("git log prints %q", got)
	}
}
