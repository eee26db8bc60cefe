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

//go:embed testthis.md
var testDescription string

// Test runs the repository's tests.
type Test struct{}

type testArgs struct {
	Seconds int `json:"seconds"`
}

// Name is "test".
func (Test) Name() string { return NameTest }

// Description is testthis.md.
func (Test) Description() string { return testDescription }

// Schema describes the arguments.
func (Test) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"seconds":{"type":"integer","minimum":1,"maximum":1800,"description":"after which they are stopped; default 600"}},
"additionalProperties":false}`)
}

// Call runs the tests and reads what failed.
func (Test) Call(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	a := testArgs{Seconds: testSeconds}
	if err := decode(args, &a); err != nil {
		return Result{}, err
	}
	command := env.Test
	if command == "" {
		if command = testCommand(env); command == "" {
			return Result{}, errors.New("no way to test this repository was found (go.mod, package.json, Cargo.toml, pytest, a test target in Makefile); use run with the right command")
		}
	}
	r, changed, err := execute(ctx, env, command, a.Seconds)
	if err != nil {
		return Result{}, err
	}
	out := printed(r.Output)
	if r.OK() {
		return Result{Text: middle(fmt.Sprintf("The tests pass: %s\n%s", oneLine(command), lastLines(out, 15)), MaxResult), Changed: changed}, nil
	}
	text := fmt.Sprintf("The tests fail: %s, %s\n", oneLine(command), ending(r))
	report, err := failure.Read(bytes.NewReader([]byte(out)), failure.Options{MaxLines: 60, Name: command})
	if err == nil && len(report.Tests) > 0 {
		text += "\nFailed:\n"
		for i, t := range report.Tests {
			if i == 30 {
				text += fmt.Sprintf("- and %d more\n", len(report.Tests)-i)
				break
			}
			text += "- " + oneLine(t.Name)
			if t.File != "" && t.Line > 0 {
				text += fmt.Sprintf(" (%s:%d)", oneLine(t.File), t.Line)
			} else if t.File != "" {
				text += " (" + oneLine(t.File) + ")"
			}
			text += "\n"
		}
	}
	if err == nil && strings.TrimSpace(report.Text) != "" {
		text += fmt.Sprintf("\nWhy (%s):\n%s\n", strings.ReplaceAll(string(report.Class), "_", " "), strings.TrimRight(report.Text, "\n"))
	}
	text += "\nThe end of the output:\n" + lastLines(out, 40)
	return Result{Text: middle(text, MaxResult), Changed: changed}, nil
}

// lastLines are the last n lines of text.
func lastLines(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "") + "\n"
}

// oneLine is text on one line, cut to a readable length.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

var (
	makeTest   = regexp.MustCompile(`(?m)^(test|check)\s*:([^=]|$)`)
	noTest     = regexp.MustCompile(`no test specified`)
	pytestMark = regexp.MustCompile(`(?m)^\[tool\.pytest|^\[(tool:)?pytest\]`)
)

// testCommand guesses how a repository is tested, from the files at its root;
// "" when nothing says so.
func testCommand(env Env) string {
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
	for _, p := range []string{"pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py", "tests/conftest.py"} {
		if text, ok := file(p); ok && (strings.HasSuffix(p, "conftest.py") || p == "pytest.ini" || pytestMark.MatchString(text)) {
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
