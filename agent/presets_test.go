package agent_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// agentsDir contains the third party agents that the tests run, by lock file.
const agentsDir = "testdata/agents"

// installed installs them on first use; they take a gigabyte.
var installed = sync.OnceValue(func() error {
	if _, err := os.Stat(filepath.Join(agentsDir, "node_modules", ".package-lock.json")); err == nil {
		return nil
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = agentsDir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in agent/%s: %w\n%s", agentsDir, err, out)
	}
	return nil
})

// programs are the folders of their packages.
var programs = map[string]string{
	"claude-code": "@anthropic-ai/claude-code-linux-x64",
	"codex":       "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl",
	"opencode":    "opencode-linux-x64",
}

// TestRealAgents runs the real programs with the settings of a repository, against the scripted model: each uses its
// own protocol, gets the brief, calls a tool of its own that changes a file, and is recorded. aider is a Python program
// without an npm package, so that only TestPresets covers it.
func TestRealAgents(t *testing.T) {
	if err := installed(); err != nil {
		t.Fatal(err)
	}
	look := "env; cat /proc/*/environ | tr '\\0' '\\n'; echo changed > made"
	for name, tool := range map[string]struct {
		name, args string
		shown      string // as in the transcript
	}{
		"claude-code": {"Bash", fmt.Sprintf(`{"command":%q,"description":"make it"}`, look), "Bash"},
		"codex":       {"exec_command", fmt.Sprintf(`{"cmd":%q}`, look), "shell"},
		"opencode":    {"bash", fmt.Sprintf(`{"command":%q,"description":"make it"}`, look), "bash"},
	} {
		t.Run(name, func(t *testing.T) {
			script := turns(scripted.Answer{Text: "I make it.", Calls: []scripted.Call{{Name: tool.name, Args: tool.args}}},
				scripted.Answer{Text: "It is made now."})
			c := newCLI(t, name, script, func(cfg *agent.CommandAgentsConfig) {
				cfg.Path = []string{filepath.Join(agentsDir, "node_modules", programs[name])}
			})
			c.in.Limits.Time = 5 * time.Minute
			res := c.run()
			if res.End != sia.EndFinished || res.Summary != "It is made now." || res.Turns != 2 || res.Cost == 0 {
				t.Errorf("%+v", res)
			}
			if c.agent.Name() != name+"/coder" {
				t.Errorf("name %q", c.agent.Name())
			}
			if b, err := os.ReadFile(filepath.Join(c.in.Dir, "made")); err != nil || string(b) != "changed\n" {
				t.Errorf("what it made: %q, %v", b, err)
			}
			if p := c.prompt(); !strings.Contains(p, "Add a greeting") || !strings.Contains(p, "Say hello.") {
				t.Errorf("it was told:\n%.3000s", p)
			}
			var calls []agent.Call
			for _, turn := range c.rec.turns {
				calls = append(calls, turn.Calls...)
			}
			if len(calls) != 1 || calls[0].Name != tool.shown || !strings.Contains(calls[0].Arguments, "echo changed > made") ||
				!strings.Contains(calls[0].Result, "SIA_MODEL_URL=http://127.0.0.1:3129/v1") {
				t.Errorf("its calls: %.3000v", calls)
			}
			if strings.Contains(c.transcribed(), realKey) {
				t.Error("it saw the real key")
			}
		})
	}
}

// TestRealAgentsFail tests that an agent's message about a model's refusal is passed on.
func TestRealAgentsFail(t *testing.T) {
	if err := installed(); err != nil {
		t.Fatal(err)
	}
	c := newCLI(t, "claude-code", turns(scripted.Answer{Fault: &scripted.Fault{Status: 400, Code: "bad"}}),
		func(cfg *agent.CommandAgentsConfig) {
			cfg.Path = []string{filepath.Join(agentsDir, "node_modules", programs["claude-code"])}
		})
	if res := c.run(); res.End != sia.EndError || !strings.Contains(res.Reason, "claude-code failed: exit status 1") ||
		!strings.Contains(res.Reason, "a fault of the script") {
		t.Errorf("%+v", res)
	}
}

// TestPresets tests the arguments and the environment of each preset with a fake program that prints them.
func TestPresets(t *testing.T) {
	dir := t.TempDir()
	var all strings.Builder
	for _, p := range agent.Presets() {
		script := "#!/bin/sh\necho \"$0 $*\"\nenv | grep -E " +
			"'^(ANTHROPIC|OPENAI|OPENCODE|CLAUDE|DISABLE|IS_|DO_NOT|SIA_|PATH=)' | sort\ncat > /dev/null\n"
		if err := os.WriteFile(filepath.Join(dir, p.Program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		c := newCLI(t, p.Name, says, func(cfg *agent.CommandAgentsConfig) { cfg.Path = []string{dir} })
		if res := c.run(); res.End != sia.EndFinished {
			t.Errorf("%s: %+v", p.Name, res)
		}
		token, path := "", ""
		for line := range strings.Lines(c.rec.turns[1].Text) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "SIA_MODEL_KEY="); ok {
				token = v
			}
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PATH="); ok {
				path = v
			}
		}
		if token == "" || !strings.HasPrefix(path, dir+"/bin:") {
			t.Errorf("%s: key %q, path %q", p.Name, token, path)
		}
		fmt.Fprintf(&all, "%s (%s, asks %s, %s)\n%s\n\n", p.Name, p.Program, p.Asks, p.Install,
			strings.NewReplacer(token, "<the attempt's key>", "PATH="+path, "PATH=<agents, toolchains, system>", dir,
				"<dir>").Replace(c.rec.turns[1].Text))
	}
	const golden = "testdata/presets.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), all.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestFind tests that a program is found only where commands can access it.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", ".bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "node_modules", ".bin", "aider")
	commands, err := agent.NewCommandAgents(agent.CommandAgentsConfig{Path: []string{dir},
		Commands: commandsIn(t, sandboxtest.New(t, sandbox.Options{}), "")})
	if err != nil {
		t.Fatal(err)
	}
	p := agent.Presets()[3]
	if got := commands.Find(p); got != "" {
		t.Errorf("found at %s", got)
	}
	if err := os.WriteFile(want, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := commands.Find(p); got != want {
		t.Errorf("found at %q, want %q", got, want)
	}
}
