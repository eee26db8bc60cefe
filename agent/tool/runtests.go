package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/project"
)

// TestTool runs the repository's tests.
func TestTool() Tool {
	return newTool(NameTest, testArgs{Seconds: testSeconds}, callTest, `{"type":"object","properties":{
"seconds":{"type":"integer","minimum":1,"maximum":1800,"description":"after which they are stopped; default 600"}}}`)
}

type testArgs struct {
	Seconds int `json:"seconds"`
}

// callTest runs the tests and extracts the failures.
func callTest(ctx context.Context, env Env, a testArgs) (Result, error) {
	command := TestCommand(env)
	if command == "" {
		return Result{}, errors.New("no way to test this repository was found (a workflow that tests, go.mod, " +
			"package.json, Cargo.toml, pom.xml, pytest, a test target in Makefile); use run with the right command")
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

// lastLines returns the last n lines of text.
func lastLines(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "") + "\n"
}

// TestCommand returns the test command of a repository: the configured one, or a guess from its workflows and files;
// "" if there is none.
func TestCommand(env Env) string {
	if env.Test != "" {
		return env.Test
	}
	return project.Look(func(dir string) []string {
		entries, _ := fs.ReadDir(env.Root.FS(), dir)
		names := make([]string, len(entries))
		for i, e := range entries {
			if names[i] = e.Name(); e.IsDir() {
				names[i] += "/"
			}
		}
		return names
	}, func(p string) ([]byte, bool) {
		b, _, err := readText(env.Root, p)
		return b, err == nil
	}).Test.Line
}
