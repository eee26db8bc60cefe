package app_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// leakToken returns a token for a place, always the same, so that a leak shows its origin. It is composed here so that
// no file contains one.
func leakToken(place string) string {
	sum := sha256.Sum256([]byte(place))
	return "ghp_" + hex.EncodeToString(sum[:])[:36]
}

// Tokens in everything that SIA reads appear in nothing that it writes.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	places := []string{
		"repository file", "check log", "issue title", "issue text", "comment", "model's words", "tool arguments", "commit",
		"command output", "summary", "diagnosis", "instructions", "review", "settings",
	}
	tok := map[string]string{}
	for _, p := range places {
		tok[p] = leakToken(p)
	}
	files := map[string]string{
		"README.md": "# Shop\n\nDeploy with " + tok["repository file"] + "\n",
		"check.sh": "[ -f hello.txt ] || exit 0\ngot=$(cat hello.txt)\nif [ \"$got\" != \"Hello, world!\" ]; then\n" +
			"\techo \"hello.txt:1: error: the greeting is \\\"$got\\\" with " + tok["check log"] + "\"\n\texit 1\nfi\n",
		".github/workflows/ci.yml": checkWorkflow,
		".sia/config.yml":          "checks: {settle: 10s, wait: 1m}\n",
	}
	call := func(name string, args map[string]any) scripted.Call { return scripted.Call{Name: name, Args: args} }
	write := func(path, content string) scripted.Call {
		return call("write", map[string]any{"path": path, "content": content})
	}
	finish := scripted.Answer{Calls: []scripted.Call{call("finish",
		map[string]any{"summary": "Done with " + tok["summary"]})}}
	diagnosis := func(technique, prompt string) []scripted.Answer {
		return []scripted.Answer{{JSON: map[string]any{
			"diagnosis": "It went wrong with " + tok["diagnosis"], "pattern": "unclear-instructions", "technique": technique,
			"modified_prompt": prompt + " Use " + tok["instructions"], "hypothesis": "It helps, with " + tok["diagnosis"],
			"confidence": 0.8,
		}}}
	}
	log := &lockedBuffer{}
	stage := apptest.Start(t, apptest.Config{Files: files, Log: log, Model: scripted.Script{Rules: []scripted.Rule{
		{Name: "3", Model: "coder", User: "Write the exact line",
			Turns: []scripted.Answer{{Calls: []scripted.Call{write("hello.txt", "Hello, world!\n")}}, finish}},
		{Name: "2", Model: "coder", User: "Leave the key out",
			Turns: []scripted.Answer{{Calls: []scripted.Call{write("hello.txt", "Hello\n")}}, finish}},
		{Name: "1", Model: "coder", Turns: []scripted.Answer{
			{Text: "I found " + tok["model's words"], Calls: []scripted.Call{
				call("read", map[string]any{"path": "README.md"}), call("search", map[string]any{"pattern": tok["tool arguments"]}),
				call("run", map[string]any{"command": "echo " + tok["command output"]}),
				write("config.yml", "a: 1\nkey: "+tok["commit"]+"\n"),
			}}, finish, finish, // the first is answered with the secret's place, and the agent leaves it
		}},
		{Name: "the log", Model: "sia", User: "the greeting is",
			Turns: diagnosis("example-injection", "Write the exact line into hello.txt.")},
		{Name: "the commit", Model: "sia", User: "nothing was pushed",
			Turns: diagnosis("prompt-restructuring", "Leave the key out.")},
		{Name: "review", Model: "reviewer",
			Turns: []scripted.Answer{{JSON: map[string]any{"verdict": "minor",
				"points": []string{"Beware of " + tok["review"]}}}}},
	}}})
	for _, err := range []error{
		second(stage.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet "+tok["issue title"],
			"Write a greeting. "+tok["issue text"])),
		stage.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"),
		second(stage.Sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia learn "+tok["comment"])),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	stage.Settle()

	task := stage.Task(1)
	if task.State != sia.Passed || len(task.Attempts) != 3 || task.Attempts[0].Outcome != sia.AttemptFail ||
		task.Attempts[0].Head != "" {
		t.Fatalf("%s %s, attempts %+v", task.State, render.Waiting(task), task.Attempts)
	}
	if want := "`config.yml:2` (github-pat)"; !strings.Contains(task.Attempts[0].Reason, want) {
		t.Errorf("the first attempt failed because %q, want the place %s", task.Attempts[0].Reason, want)
	}
	// Errors in settings are reported on their commit, and logged.
	push(t, stage, "main", map[string]string{".sia/config.yml": "access: {command_permission: " + tok["settings"] + "}\n"})
	written := stage.Written()
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "who=sia") {
			written["log"] += line
		}
	}
	if len(written) < 20 || written["log"] == "" || !strings.Contains(written["commits"], ".sia/transcripts/1/1.md") {
		t.Fatalf("only %d things were written; the test looks in the wrong place", len(written))
	}
	if !strings.Contains(written["log"], "settings can't be used") {
		t.Error("nothing is said of the settings; the test plants in the wrong place")
	}
	// The application's own secrets must not appear either.
	tok["webhook secret"] = apptest.Secret
	for place, secret := range tok {
		for where, text := range written {
			for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))[:16],
				strings.TrimPrefix(secret, "ghp_")} {
				if strings.Contains(text, form) {
					t.Errorf("the token of the %s is in %s: …%s…", place, where, around(text, form))
				}
			}
		}
	}
	if !strings.Contains(written["commits"], "[secret: github-pat]") {
		t.Error("nothing was masked in what was committed; the test plants in the wrong place")
	}
}

// around returns the text around the first occurrence of words.
func around(text, words string) string {
	i := strings.Index(text, words)
	return text[max(0, i-100):min(len(text), i+len(words)+50)]
}

func second[T any](_ T, err error) error { return err }

// lockedBuffer is written by an application and read by its test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A model's summary of a user's fix is proposed without secrets, and the model does not get those in the fix.
func TestNoSecretInAProposal(t *testing.T) {
	t.Parallel()
	token, pushed := leakToken("proposal"), leakToken("fix")
	files := map[string]string{
		"check.sh": "[ ! -f hello.txt ] || grep -qx 'Hello, world!' hello.txt || " +
			"{ echo 'hello.txt:1: error: wrong greeting'; exit 1; }\n",
		".github/workflows/ci.yml": checkWorkflow,
		".sia/config.yml":          "checks: {settle: 10s, wait: 1m}\n",
	}
	stage := apptest.Start(t, apptest.Config{Files: files, Model: scripted.Script{Rules: []scripted.Rule{
		{Name: "1", Model: "coder", Turns: []scripted.Answer{
			{Calls: []scripted.Call{{Name: "write", Args: map[string]any{"path": "hello.txt", "content": "Hello\n"}}}},
			{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Done."}}}},
		}},
		{Name: "study", Model: "sia", User: "What the person changed", Not: pushed,
			Turns: []scripted.Answer{{JSON: map[string]any{
				"summary": "They used " + token, "resembles": "", "id": "use-the-key", "name": token,
				"when":     "a key such as " + token + " is at hand",
				"patterns": []string{"environment"}, "changes": []string{"quote"}, "instructions": "Use " + token,
			}}}},
		{Name: "why", Model: "sia", Turns: []scripted.Answer{{JSON: map[string]any{
			"diagnosis": "Nobody said which greeting.", "pattern": "unclear-specification", "technique": "",
			"modified_prompt": "", "hypothesis": "", "confidence": 0.9,
			"needs_person": true, "blocker": "no greeting is named", "question": "Which greeting?",
			"options": []map[string]any{{"text": "One", "fastest": true}, {"text": "Another"}},
		}}}},
	}}})
	if err := second(stage.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet", "Write a greeting.")); err != nil {
		t.Fatal(err)
	}
	if err := stage.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"); err != nil {
		t.Fatal(err)
	}
	stage.Settle()
	if _, err := stage.Sim.PushFiles(apptest.Repo, stage.Task(1).Branch, apptest.Owner, "Fix",
		map[string]string{"hello.txt": "Hello, world!\n", "deploy.txt": "with " + pushed + "\n"}); err != nil {
		t.Fatal(err)
	}
	stage.Settle()
	task := stage.Task(1)
	if task.State != sia.Passed || task.Fix == nil || task.Fix.Technique != "use-the-key" || task.Fix.PullURL == "" {
		t.Fatalf("%s %s, fix %+v", task.State, render.Waiting(task), task.Fix)
	}
	written := stage.Written()
	if !strings.Contains(written["commits"], ".sia/techniques/use-the-key.md") {
		t.Fatal("nothing was proposed; the test looks in the wrong place")
	}
	for where, text := range written {
		if strings.Contains(text, strings.TrimPrefix(token, "ghp_")) {
			t.Errorf("the token is in %s: …%s…", where, around(text, token))
		}
	}
}
