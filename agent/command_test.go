package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// realKey is the model's key, which must stay invisible to commands.
const realKey = "real-model-key-2b7d"

// cli is a bench with a command as its agent.
type cli struct {
	*bench
	agent agent.Agent
}

// newCLI returns a command's bench. Its scripted model requires the real key.
func newCLI(t *testing.T, command string, script scripted.Script, change ...func(*agent.CommandAgentsConfig)) *cli {
	t.Helper()
	srv, err := scripted.Start(script, scripted.Options{Key: realKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	b := newBench(t, script)
	b.model = srv
	b.in.Limits = agent.Limits{Time: time.Minute, Credits: 1000 * sia.Credit, Turns: 20}
	cfg := agent.CommandAgentsConfig{Upstream: srv.URL, Key: realKey, Model: "coder",
		Price: llm.Price{Input: 1, Output: 5}, Room: &gateway.Room{},
		Commands: commandsIn(t, sandboxtest.New(t, sandbox.Options{Self: forwarding(t)}), ""),
		Environ:  []string{"NEEDED=yes", "UNASKED=too", "SIA_MODEL_KEY=" + realKey}, Now: time.Now, Logger: noLog}
	for _, f := range change {
		f(&cfg)
	}
	commands, err := agent.NewCommandAgents(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := commands.Agent(sia.AgentSettings{Kind: "command", Command: command, Env: []string{"NEEDED", "SIA_MODEL_KEY"}})
	if !ok {
		t.Fatal("a command is no agent")
	}
	b.write("ask.js", `
const [path, model = process.env.SIA_MODEL, key = process.env.SIA_MODEL_KEY] = process.argv.slice(2);
fetch(process.env.SIA_MODEL_URL + path, { method: 'POST', headers: { 'content-type': 'application/json', `+
		`authorization: 'Bearer ' + key },
  body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] }) })
  .then(async (r) => console.log(r.status, await r.text()), (e) => console.log('no answer', e.cause?.code));
`)
	return &cli{b, a}
}

func (c *cli) run() agent.Result {
	c.t.Helper()
	res, err := c.agent.Run(c.t.Context(), c.in, c.rec)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// transcribed returns the rendered transcript.
func (c *cli) transcribed() string { return agent.Markdown(c.rec.turns, agent.Header{}) }

var says = turns(scripted.Answer{Text: "word", Usage: &scripted.Usage{Input: 1000, Output: 200}})

func TestCommand(t *testing.T) {
	seen := make(chan llm.Call, 2)
	c := newCLI(t, `cat > /tmp/brief; grep -c 'Add a greeting' /tmp/brief; grep -c 'attempt 1' /tmp/brief; echo `+
		`"NEEDED=$NEEDED$UNASKED"
		env > /tmp/env; cat /tmp/env /proc/*/environ 2>/dev/null | grep -c `+realKey+`; echo new > made; echo 'token `+
		`ghp_0123456789abcdefghij0123456789abcdef'
		node ask.js /chat/completions; node ask.js /chat/completions; echo 'All `+
		`done.'`, says, func(cfg *agent.CommandAgentsConfig) {
		cfg.Env, cfg.ModelName = []string{"NEEDED", "UNASKED"}, "main"
		cfg.Observe = func(_ context.Context, call llm.Call) { seen <- call }
	})
	res := c.run()
	for range 2 {
		if got := <-seen; got.Client != "main" || got.Failed != "" || got.Ended || got.Provider != "openai" ||
			got.Usage != (llm.Usage{Input: 1000, Output: 200, USD: 0.002}) {
			t.Errorf("observed %+v", got)
		}
	}
	if res.End != sia.EndFinished || res.Reason != "" || res.Summary != "All done." || res.Turns != 2 ||
		res.Usage != (llm.Usage{Input: 2000, Output: 400, USD: 0.004}) || res.Cost != 4*sia.Credit/10 {
		t.Errorf("%+v", res)
	}
	if c.agent.Name() != "command/coder" {
		t.Errorf("name %q", c.agent.Name())
	}
	kinds := ""
	for i, turn := range c.rec.turns {
		if turn.Number != i {
			t.Errorf("turn %d has number %d", i, turn.Number)
		}
		kinds += string(turn.Kind) + " "
	}
	if kinds != "brief model model model end " {
		t.Errorf("turns: %s", kinds)
	}
	if first := c.rec.turns[1]; first.Text != "1\n1\nNEEDED=yes\n0\ntoken [secret: github-pat]" {
		t.Errorf("it said %q", first.Text)
	}
	if !strings.Contains(c.rec.notes(), "SIA_MODEL_KEY (the server does not allow it with --agent-env)") {
		t.Errorf("notes: %s", c.rec.notes())
	}
	if strings.Contains(c.transcribed(), realKey) {
		t.Error("the real key is in the transcript")
	}
	if b, err := os.ReadFile(filepath.Join(c.in.Dir, "made")); err != nil || string(b) != "new\n" {
		t.Errorf("what it made: %q %v", b, err)
	}
}

// Output of a command during an answer belongs to that answer's turn.
func TestCommandPrintsBeforeAnAnswerEnds(t *testing.T) {
	c := newCLI(t, `echo begun; node stream.js; echo over`, turns(scripted.Answer{
		Text: "one two three", Fault: &scripted.Fault{After: 1, Stall: true}}))
	c.write("stream.js", `
const body = JSON.stringify({ model: process.env.SIA_MODEL, max_tokens: 100, stream: true, `+
		`messages: [{ role: 'user', content: 'hello' }] });
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.SIA_MODEL_KEY };
fetch(process.env.SIA_MODEL_URL + '/chat/completions', { method: 'POST', headers, body }).then(async (r) => {
  await r.body.getReader().read();
  require('fs').writeSync(1, 'first\n');
  process.exit(0); // the answer ends when the program goes away
});
`)
	if res := c.run(); res.End != sia.EndFinished {
		t.Errorf("%+v", res)
	}
	var said []string
	for _, turn := range c.rec.turns {
		if turn.Kind == agent.TurnModel {
			said = append(said, turn.Text)
		}
	}
	if want := []string{"begun", "first\nover"}; !slices.Equal(said, want) {
		t.Errorf("the turns say %q, want %q", said, want)
	}
}

// A known command that goes round in circles is interrupted, as the builtin agent is.
func TestCommandInCircles(t *testing.T) {
	dir := t.TempDir()
	program := `#!/bin/sh
cat > /dev/null
for i in 1 2 3 4 5 6 7 8; do
	echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"'$i'","name":"Bash",` +
		`"input":{"command":"npm test"}}]}}'
	echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"'$i'",` +
		`"content":"1 failed","is_error":true}]}}'
	node ask.js /chat/completions > /dev/null
done
sleep 717274
`
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newCLI(t, "claude-code", says, func(cfg *agent.CommandAgentsConfig) { cfg.Path = []string{dir} })
	res := c.run()
	if res.End != sia.EndStuck || len(res.Signals) != 1 || res.Signals[0].Name != sia.AboutToStick ||
		!strings.Contains(res.Reason, "ended in an error 3 times in a row: 1 failed") || res.Turns > 5 {
		t.Errorf("%+v", res)
	}
	if left := alive(t, "sleep\x00717274"); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// A question in a command's last words ends the attempt as the builtin agent's does.
func TestCommandAsksFirst(t *testing.T) {
	const question = `{"question":"Which format?","why":"The issue names none.","options":["CSV","JSON"]}`
	want := sia.Ask{Question: "Which format?", Why: "The issue names none.", Options: []string{"CSV", "JSON"}}
	for name, c := range map[string]struct {
		question string
		canAsk   bool
		asked    bool
		note     string
	}{
		"asked":          {question, true, true, ""},
		"no longer":      {question, false, false, "its question is not asked: no question can be asked in this attempt"},
		"one option":     {`{"question":"a","why":"b","options":["c"]}`, true, false, "must be 2 to 4 options, not 1"},
		"not a question": {`Which?`, true, false, "its question is not asked: "},
	} {
		t.Run(name, func(t *testing.T) {
			b := newCLI(t, "cat > brief; printf '%s\\n' 'I stop here.' '```ask' '"+c.question+"' '```'", says)
			b.in.CanAsk = c.canAsk
			res := b.run()
			asked := res.End == sia.EndAsked && res.Ask != nil
			if asked != c.asked || asked && !cmp.Equal(*res.Ask, want) || !asked && res.End != sia.EndFinished ||
				res.Summary != "I stop here." {
				t.Errorf("%+v", res)
			}
			if !strings.Contains(b.rec.notes(), c.note) {
				t.Errorf("notes: %s", b.rec.notes())
			}
			brief, err := os.ReadFile(filepath.Join(b.in.Dir, "brief"))
			if strings.Contains(string(brief), "```ask") != c.canAsk || strings.Contains(string(brief), "{{") {
				t.Errorf("brief: %s, %v", brief, err)
			}
		})
	}
}

// A command with a change that can't be pushed is started once more, with the reason.
func TestCommandWithAChangeThatCantBePushed(t *testing.T) {
	c := newCLI(t, `if grep -q 'fails: it adds a secret'; then rm key; echo 'Taken back.'; else echo x > key; fi`, says)
	asked := 0
	c.in.PushRefusal = func(context.Context) (string, error) {
		asked++
		return "it adds a secret", nil
	}
	if res := c.run(); res.End != sia.EndFinished || res.Summary != "Taken back." || asked != 1 {
		t.Errorf("asked %d times: %+v", asked, res)
	}
	if _, err := os.Stat(filepath.Join(c.in.Dir, "key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("key: %v", err)
	}
}

func TestCommandThatEndsBadly(t *testing.T) {
	for name, c := range map[string]struct {
		command, script string
		limits          agent.Limits
		end             sia.AttemptEnd
		reason          string
	}{
		"a status": {command: "seq 3; echo broken >&2; exit 3", end: sia.EndError,
			reason: "the command failed: exit status 3. It printed at the end: 1\n2\n3\nbroken"},
		"no such program": {command: "no-such-agent", end: sia.EndError, reason: "exit status 127"},
		"endless output":  {command: "yes $(printf %9999d)", end: sia.EndError, reason: "it printed more than 64 MiB"},
		"too long": {command: "sleep 717273", limits: agent.Limits{Time: time.Second, Credits: sia.Credit},
			end: sia.EndTime, reason: "the time limit of 1s was reached"},
		"too dear": {command: "for i in 1 2 3 4 5 6 7 8 9; do node ask.js /chat/completions; done; sleep 717273",
			limits: agent.Limits{Time: time.Minute, Credits: sia.Credit / 2}, end: sia.EndCredits, reason: "credits are spent"},
		"too many": {command: "for i in 1 2 3 4; do node ask.js /chat/completions; done; sleep 717273",
			limits: agent.Limits{Time: time.Minute, Credits: 100 * sia.Credit, Turns: 2}, end: sia.EndTurns,
			reason: "the limit of 2 turns was reached"},
		"the model is down": {command: "node ask.js /chat/completions; exit 1", script: "down", end: sia.EndError,
			reason: "the endpoint answered 503"},
	} {
		t.Run(name, func(t *testing.T) {
			script := says
			if c.script == "down" {
				script = turns(scripted.Answer{Fault: &scripted.Fault{Status: 503}})
			}
			b := newCLI(t, c.command, script)
			if c.limits != (agent.Limits{}) {
				b.in.Limits = c.limits
			}
			res := b.run()
			if res.End != c.end || !strings.Contains(res.Reason, c.reason) {
				t.Errorf("it ended %s: %s", res.End, res.Reason)
			}
			if res.Cost > b.in.Limits.Credits {
				t.Errorf("it spent %s of %s", res.Cost, b.in.Limits.Credits)
			}
			if last := b.rec.turns[len(b.rec.turns)-1]; last.Kind != agent.TurnEnd || !strings.Contains(last.Text, c.reason) {
				t.Errorf("the transcript ends %+v", last)
			}
			if left := alive(t, "sleep\x00717273"); len(left) > 0 {
				t.Errorf("still running: %v", left)
			}
		})
	}
}

//test:race
func TestCommandReachesItsModelOnly(t *testing.T) {
	c := newCLI(t, `for a in '/chat/completions other-model' '/chat/completions coder another-key' '/files' `+
		`'/../admin'; do node ask.js $a; done
		(exec 3<>/dev/tcp/1.1.1.1/443) 2>/dev/null && echo OUT; true`, says)
	if res := c.run(); res.End != sia.EndFinished || res.Turns != 0 {
		t.Errorf("%+v", res)
	}
	text := c.rec.turns[1].Text
	for _, want := range []string{"403 ", `asks the model \"coder\" and no other`, "401 ", "404 "} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "200 ") || strings.Contains(text, "OUT") || len(c.model.Requests()) != 0 {
		t.Errorf("%d requests came through:\n%s", len(c.model.Requests()), text)
	}
}

// A command that hangs up before its answer pays for it, and each call counts as a turn.
//
//test:race
func TestCommandThatHangsUp(t *testing.T) {
	c := newCLI(t, "for i in 1 2 3 4 5 6; do node hang.js; done; true",
		turns(scripted.Answer{Text: "word", Delay: time.Minute}))
	c.write("hang.js", `
const wait = new AbortController();
fetch(process.env.SIA_MODEL_URL + '/chat/completions', { method: 'POST', signal: wait.signal,
  headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.SIA_MODEL_KEY },
  body: JSON.stringify({ model: process.env.SIA_MODEL, messages: [{ role: 'user', content: 'hello' }] }) })
  .catch(() => {});
setTimeout(() => { wait.abort(); setTimeout(process.exit, 100) }, 400);
`)
	c.in.Limits.Turns = 4
	res := c.run()
	// Four answers of 32,000 tokens each, at 5 USD per million.
	if res.End != sia.EndTurns || res.Turns != 4 || res.Usage.Output != 4*32_000 || res.Cost < 64*sia.Credit {
		t.Errorf("%+v", res)
	}
}

// A command can read the configuration of agents and editors, but can't leave any for the next command.
func TestCommandCannotConfigureTheNext(t *testing.T) {
	c := newCLI(t, `cat CLAUDE.md sub/AGENTS.md .claude/settings.json > seen
		for f in CLAUDE.md sub/AGENTS.md .claude/settings.json .gitmodules .npmrc; do
			echo evil > $f; rm -rf $f; mv $f gone; ln -sf /etc/passwd $f; done
		rm -rf .claude; mv .claude away
		echo dist/ > .gitignore; echo '* text' > .gitattributes; echo fine > .github/workflows/ci.yml
		mv sub moved; mkdir sub; echo evil > sub/AGENTS.md
		mkdir -p .codex .vscode deep/er/.cursor .husky .devcontainer .Claude/x .githooks
		echo evil | tee .codex/config.toml .vscode/tasks.json deep/er/.cursor/rules .husky/pre-commit .envrc deep/.mcp.json \
			.devcontainer/devcontainer.json deep/claude.md .Claude/x/y .githooks/y .GitModules link-target
		ln -s link-target deep/AGENTS.md; rm -f linked/CLAUDE.md; echo evil > linked/CLAUDE.md
		echo fine > deep/.gitignore; echo fine > code.go; true`, says)
	kept := map[string]string{"CLAUDE.md": "be kind\n", ".claude/settings.json": "{}\n", ".gitmodules": "x\n",
		".npmrc": "a=b\n"}
	for name, text := range kept {
		c.write(name, text)
	}
	c.write("sub/AGENTS.md", "be quick\n")
	c.write("linked/.keep", "")
	c.write(".gitignore", "x\n")
	c.write(".github/workflows/ci.yml", "on: push\n")
	if err := os.Symlink("../CLAUDE.md", filepath.Join(c.in.Dir, "linked", "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	res := c.run()
	if left := res.LeftOut; res.End != sia.EndFinished ||
		!strings.HasPrefix(left, "SIA left out what configures agents") ||
		!strings.HasSuffix(left, "which an agent that is a command can only read: `.Claude`, `.GitModules`, `.codex`, "+
			"`.devcontainer`, `.envrc` and 10 more.") {
		t.Errorf("%+v\n%s", res, c.transcribed())
	}
	if message := c.transcribed(); !strings.Contains(message, "You can only read what configures agents") ||
		!strings.Contains(message, "`CLAUDE.md`") {
		t.Errorf("it is not told what it can't write:\n%s", message)
	}
	kept["seen"], kept["code.go"], kept["deep/.gitignore"] = "be kind\nbe quick\n{}\n", "fine\n", "fine\n"
	kept[".gitignore"], kept[".gitattributes"], kept[".github/workflows/ci.yml"] = "dist/\n", "* text\n", "fine\n"
	for name, want := range kept {
		if b, err := os.ReadFile(filepath.Join(c.in.Dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"sub/AGENTS.md", "moved/AGENTS.md", ".codex", ".vscode", "deep/er/.cursor", ".husky",
		".envrc", "deep/.mcp.json", ".devcontainer", "deep/claude.md", ".Claude", ".GitModules", ".githooks",
		"deep/AGENTS.md", "linked/CLAUDE.md"} {
		if _, err := os.Lstat(filepath.Join(c.in.Dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	if n := c.rec.notes(); !strings.Contains(n, "removed what configures agents or editors") ||
		!strings.Contains(n, ".codex") {
		t.Errorf("notes: %s", n)
	}
}

//test:race
func TestCommandIsCancelled(t *testing.T) {
	c := newCLI(t, "node ask.js /chat/completions; (setsid sleep 717274 &); sleep 717274", says)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if c.model.Wait(ctx, 1) == nil {
			cancel(errors.New("ada said stop"))
		}
	}()
	res, err := c.agent.Run(ctx, c.in, c.rec)
	if err != nil || res.End != sia.EndCancelled || res.Reason != "ada said stop" {
		t.Errorf("%+v, %v", res, err)
	}
	if left := alive(t, "sleep\x00717274"); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

func TestCommandThatCannotRunHere(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		change  func(*agent.CommandAgentsConfig)
		want    string
	}{
		"no sandbox": {"claude-code", func(cfg *agent.CommandAgentsConfig) { cfg.Commands = nil },
			"this server has none: `sia doctor` says how it gets one"},
		"not installed": {"claude-code", func(cfg *agent.CommandAgentsConfig) { cfg.Path = []string{"/no/such/folder"} },
			"claude is not installed where commands can see it: npm install -g @anthropic-ai/claude-code"},
		"no command": {" ", func(*agent.CommandAgentsConfig) {}, "agent.command does not say which"},
		"no way out": {"true", func(cfg *agent.CommandAgentsConfig) {
			cfg.Commands = commandsIn(t, sandboxtest.New(t, sandbox.Options{Self: []string{}}), "")
		}, "the way from the sandbox to the model"},
	} {
		b := newCLI(t, c.command, says, c.change)
		res, err := b.agent.Run(t.Context(), b.in, b.rec)
		var known *sia.Error
		if !errors.As(err, &known) || !known.Permanent || !strings.Contains(known.Message, c.want) ||
			!strings.Contains(known.Message, "agent.kind") || res.Turns != 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

func TestOtherKindsAreNoCommands(t *testing.T) {
	commands, err := agent.NewCommandAgents(agent.CommandAgentsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := commands.Agent(sia.DefaultSettings().Agent); ok {
		t.Errorf("the default is %s", a.Name())
	}
}

// When a process dies, its command dies, too. The next one starts from scratch with the rest of the budget, and
// continues the transcript.
func TestCommandBeginsAgain(t *testing.T) {
	c := newCLI(t, "for i in 1 2; do node ask.js /chat/completions > /dev/null; done; echo done", says)
	first := c.run()
	c.in.Saved, c.rec.turns = c.rec.turns[:3], nil // brief and two answers
	c.in.Limits.Turns = 3
	res := c.run()
	if res.End != sia.EndTurns || res.Turns != 3 || res.Cost <= first.Cost {
		t.Errorf("%+v after %+v", res, first)
	}
	if got := c.rec.turns[0]; got.Kind != agent.TurnModel || got.Number != 3 ||
		!strings.Contains(c.rec.notes(), "begun again after the process ended") {
		t.Errorf("it wrote %+v", got)
	}
}
