package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/flavour"
)

// The brief names the places where the change may belong if there is evidence, and after a failure those of the failure
// first.
func TestBriefNamesPlaces(t *testing.T) {
	b := newBench(t, turns(done))
	b.write("http/header.go", "package http\n\nfunc ParseHeader() {}\n")
	b.write("http/header_test.go", "package http\n\nfunc TestParse(t *testing.T) { ParseHeader() }\n")
	b.write("http/status.go", "package http\n\nfunc Status() {}\n")
	b.in.Title, b.in.Body = "Headers are cut", "`ParseHeader` cuts long ones."
	b.in.Past = []locate.Commit{{Paths: []string{"http/status.go", "http/header_test.go"}}}
	b.run()
	got := b.prompt()
	if !strings.Contains(got, "## Where it may belong") || !strings.Contains(got, "1. http/header.go: ") ||
		!strings.Contains(got, "defines ParseHeader, which the text names") ||
		!strings.Contains(got, "Tests: http/header_test.go") || strings.Contains(got, "Not all files were read") {
		t.Error(got)
	}

	b = newBench(t, turns(done))
	b.write("http/header.go", "package http\n\nfunc ParseHeader() {}\n")
	b.write("http/status.go", "package http\n\nfunc Status() {}\n")
	b.write("http/all_test.go", "package http\n\nfunc TestWhole(t *testing.T) { Status() }\n")
	b.write("http/large.go", "package http\n"+strings.Repeat("// Filler.\n", 60_000))
	b.in.Title, b.in.Body, b.in.Attempt = "It is slow", "Very.", 2
	b.in.Previous = []agent.PreviousAttempt{{Number: 1, Failures: []sia.CheckFailure{{Check: "test",
		Excerpt: "--- FAIL: TestWhole (0.00s)", Tests: []string{"TestWhole"}}}}}
	b.run()
	if got := b.prompt(); !strings.Contains(got, "1. http/status.go: ") ||
		!strings.Contains(got, "has the failing test's words status") ||
		!strings.Contains(got, "look elsewhere. Not all files were read: others may fit as well.") {
		t.Error(got)
	}
	b = newBench(t, turns(done))
	b.in.Title, b.in.Body = "Please", "Do it."
	b.run()
	if got := b.prompt(); strings.Contains(got, "Where it may belong") {
		t.Error(got)
	}
}

// Failing tests, and those that reproduce the fault, are run before the attempt, and the brief starts with the files
// that they execute. If they can't be run, a note is added.
func TestBriefNamesWhatTestsCover(t *testing.T) {
	b := newBench(t, turns(done))
	b.write("http/header.go", "package http\n\nfunc ParseHeader() {}\n")
	b.write("http/status.go", "package http\n\nfunc Status() {}\n")
	b.write("http/all_test.go", "package http\n\nfunc TestWhole(t *testing.T) { Do() }\nfunc TestHalf(t *testing.T) {}\n")
	b.in.Title, b.in.Body, b.in.Attempt = "It is slow", "Very.", 2
	b.in.Previous = []agent.PreviousAttempt{{Number: 1, Failures: []sia.CheckFailure{{Check: "test",
		Tests: []string{"TestWhole/long", "TestGone"}}}}}
	b.in.Shown = []string{"http/half_test.go", "http/header.go"}
	b.write("http/half_test.go", "package http\n")
	var asked []locate.Test
	b.in.Cover = func(ctx context.Context, tests []locate.Test) ([]locate.Run, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("it may take for ever")
		}
		asked = tests
		return []locate.Run{{Failed: true, Blocks: []locate.Block{{Path: "app/http/status.go", From: 3, To: 3}}}}, nil
	}
	b.run()
	if d := cmp.Diff([]locate.Test{{File: "http/all_test.go", Name: "TestWhole/long"}, {File: "http/half_test.go"}},
		asked); d != "" {
		t.Error(d)
	}
	if got := b.prompt(); !strings.Contains(got, "1. http/status.go: 1 of 1 failing tests and 0 of 0 passing ones ran") {
		t.Error(got)
	}
	b.in.Cover = func(context.Context, []locate.Test) ([]locate.Run, error) { return nil, errors.New("no disk") }
	b.run()
	if got := b.rec.notes(); !strings.Contains(got, "which lines the failing tests run is not known: no disk") {
		t.Error(got)
	}
}

// In a repository of 5,000 files, a coder that first reads the files in the brief needs fewer turns to find the right
// file than one that searches for the words of the issue.
func TestBriefSavesTurns(t *testing.T) {
	b := newBench(t, turns(done))
	for i := range 5000 {
		b.write(fmt.Sprintf("store/p%d/file%d.go", i%100, i), fmt.Sprintf("package p%d\n\n// Load%d loads old entries of a "+
			"log.\nfunc Load%d() {}\n", i%100, i, i))
	}
	b.write(rightFile, "package p33\n\n// Retention says how long entries of the audit log are kept; older ones are "+
		"pruned.\n"+
		"func Retention(days int) bool { return days > 90 }\n")
	if with, without := turnsToFile(t, b, true), turnsToFile(t, b, false); with >= without || with > 3 {
		t.Errorf("%d turns with the brief's files and %d without", with, without)
	} else {
		t.Logf("%d turns with the brief's files and %d without", with, without)
	}
}

// rightFile is the file with the fault of the test's issue.
const rightFile = "store/p33/retention.go"

// turnsToFile counts the turns of a scripted coder until it reads the right file. If heeding, it first reads the files
// in the brief, in order. Then it searches for each word of the title and reads the matches.
func turnsToFile(t *testing.T, b *bench, heeding bool) int {
	b.rec = &transcript{}
	var todo []string
	at := 0
	found := regexp.MustCompile(`(?m)^(\S+\.go):\d+:`)
	coder := flavour.Flavour{Say: func(a flavour.Ask) flavour.Turn {
		if a.Turn == 0 {
			if heeding {
				_, section, _ := strings.Cut(firstUser(a), "## Where it may belong")
				for _, m := range regexp.MustCompile(`(?m)^\d+\. (\S+\.go): `).FindAllStringSubmatch(section, -1) {
					todo = append(todo, "read "+m[1])
				}
			}
			for _, w := range []string{"entries", "log", "retention"} {
				todo = append(todo, "search "+w)
			}
		}
		for _, m := range found.FindAllStringSubmatch(lastResult(a), 20) {
			if !slices.Contains(todo, "read "+m[1]) {
				todo = append(todo, "read "+m[1])
			}
		}
		if at == len(todo) || at > 0 && todo[at-1] == "read "+rightFile {
			return flavour.Turn{Calls: []flavour.Call{{Name: "finish", Arguments: `{"summary":"Done.","ledger":[]}`}}}
		}
		what, arg, _ := strings.Cut(todo[at], " ")
		at++
		args, _ := json.Marshal(map[string]string{map[string]string{"read": "path", "search": "pattern"}[what]: arg})
		return flavour.Turn{Calls: []flavour.Call{{Name: what, Arguments: string(args)}}}
	}}
	s := flavour.Start(coder)
	t.Cleanup(s.Close)
	a, err := agent.NewBuiltin(agent.BuiltinConfig{Model: clientOf(t, s), Tools: tool.DefaultTools(),
		Now: time.Now, Logger: noLog})
	if err != nil {
		t.Fatal(err)
	}
	b.agent, b.in.Title, b.in.Body = a, "Entries of the audit log are pruned too late", "Retention should be 30 days."
	b.in.Limits = agent.Limits{Turns: 60, Credits: 10_000 * sia.Credit}
	b.run()
	for n, turn := range b.rec.turns {
		for _, c := range turn.Calls {
			if c.Name == tool.NameRead && strings.Contains(c.Arguments, rightFile) {
				return n
			}
		}
	}
	return len(b.rec.turns)
}

// firstUser and lastResult return texts of a request in chat completions.
func firstUser(a flavour.Ask) string { return messageText(a, "user", false) }

func lastResult(a flavour.Ask) string { return messageText(a, "tool", true) }

func messageText(a flavour.Ask, role string, last bool) (text string) {
	list, _ := a.Body["messages"].([]any)
	for _, m := range list {
		if one, _ := m.(map[string]any); one["role"] == role && (text == "" || last) {
			text, _ = one["content"].(string)
		}
	}
	return text
}
