package tool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia/failure"
)

//go:embed runtests.md
var testDescription string

// TestTool runs the repository's tests.
type TestTool struct{}

type testArgs struct {
	Seconds int `json:"seconds"`
}

// Name is "test".
func (TestTool) Name() string { return NameTest }

// Description is runtests.md.
func (TestTool) Description() string { return testDescription }

// Schema describes the arguments.
func (TestTool) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"seconds":{"type":"integer","minimum":1,"maximum":1800,"description":"after which they are stopped; default 600"}},
"additionalProperties":false}`)
}

// Call runs the tests and reads what failed.
func (TestTool) Call(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	a := testArgs{Seconds: testSeconds}
	if err := decodeArgs(args, &a); err != nil {
		return Result{}, err
	}
	command := TestCommand(env)
	if command == "" {
		return Result{}, errors.New("no way to test this repository was found (go.mod, package.json, Cargo.toml, pytest, " +
			"a test target in Makefile); use run with the right command")
	}
	r, changed, err := runCommand(ctx, env, command, a.Seconds)
	if err != nil {
		return Result{}, err
	}
	out := cleanOutput(r.Output)
	if r.OK() {
		text := fmt.Sprintf("The tests pass: %s\n%s", clipLine(command), lastLines(out, 15))
		return Result{Text: cutMiddle(text, MaxResult), Changed: changed}, nil
	}
	text := fmt.Sprintf("The tests fail: %s, %s\n", clipLine(command), commandEnding(r))
	report, err := failure.Read(ctx, bytes.NewReader([]byte(out)), failure.Options{MaxLines: 60, Name: command})
	if err == nil && len(report.Tests) > 0 {
		text += "\nFailed:\n"
		for i, t := range report.Tests {
			if i == 30 {
				text += fmt.Sprintf("- and %d more\n", len(report.Tests)-i)
				break
			}
			text += "- " + clipLine(t.Name)
			if t.File != "" && t.Line > 0 {
				text += fmt.Sprintf(" (%s:%d)", clipLine(t.File), t.Line)
			} else if t.File != "" {
				text += " (" + clipLine(t.File) + ")"
			}
			text += "\n"
		}
	}
	if err == nil && strings.TrimSpace(report.Text) != "" {
		text += fmt.Sprintf("\nWhy (%s):\n%s\n", strings.ReplaceAll(string(report.Class), "_", " "),
			strings.TrimRight(report.Text, "\n"))
	}
	text += "\nThe end of the output:\n" + lastLines(out, 40)
	return Result{Text: cutMiddle(text, MaxResult), Changed: changed}, nil
}

// lastLines are the last n lines of text.
func lastLines(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "") + "\n"
}

var (
	makeTest   = regexp.MustCompile(`(?m)^(test|check)\s*:([^=]|$)`)
	noTest     = regexp.MustCompile(`no test specified`)
	pytestMark = regexp.MustCompile(`(?m)^\[tool\.pytest|^\[(tool:)?pytest\]`)
)

// TestCommand is how a repository is tested: as it says itself, or a guess from the files
// at its root; "" when nothing says so.
func TestCommand(env Env) string {
	if env.Test != "" {
		return env.Test
	}
	file := func(p string) (string, bool) {
		b, _, err := readText(env.Root, p)
		return string(b), err == nil
	}
	if _, ok := file("go.mod"); ok {
		return "go test ./..."
	}
	if text, ok := file("package.json"); ok {
		var p struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal([]byte(text), &p) == nil && p.Scripts["test"] != "" && !noTest.MatchString(p.Scripts["test"]) {
			return "npm test --silent"
		}
	}
	for _, p := range []string{"pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py",
		"tests/conftest.py"} {
		if text, ok := file(p); ok && (strings.HasSuffix(p, "conftest.py") || p == "pytest.ini" ||
			pytestMark.MatchString(text)) {
			return "python3 -m pytest -q"
		}
	}
	if _, ok := file("Cargo.toml"); ok {
		return "cargo test --offline"
	}
	for _, p := range []string{"Makefile", "makefile", "GNUmakefile"} {
		if text, ok := file(p); ok {
			if m := makeTest.FindStringSubmatch(text); m != nil {
				return "make " + m[1]
			}
		}
	}
	if st, err := env.Root.Stat("tests"); err == nil && st.IsDir() {
		for _, p := range []string{"setup.py", "pyproject.toml", "requirements.txt"} {
			if _, ok := file(p); ok {
				return "python3 -m unittest discover -s tests"
			}
		}
	}
	return ""
}
