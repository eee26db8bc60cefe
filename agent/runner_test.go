package agent_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// noLog discards what is logged.
var noLog = slog.New(slog.DiscardHandler)

// commandsIn runs commands in a sandbox.
func commandsIn(t *testing.T, box *sandbox.Sandbox, cache string, hosts ...string) *agent.Commands {
	t.Helper()
	c, err := agent.NewCommands(box, cache, hosts, time.Now, noLog)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// containment is the sandbox of a bench, and the hosts that setup may connect to.
type containment struct {
	box   *sandbox.Sandbox
	hosts []string
}

// contained gives a bench's agent the real sandbox.
func contained(t *testing.T, script scripted.Script, cache string, change ...func(*containment)) *bench {
	t.Helper()
	b := newBench(t, script)
	client, err := llm.New(llm.Config{Model: "coder", BaseURL: b.model.URL})
	if err != nil {
		t.Fatal(err)
	}
	var c containment
	for _, f := range change {
		f(&c)
	}
	if c.box == nil {
		c.box = sandboxtest.New(t, sandbox.Options{})
	}
	b.agent, err = agent.NewBuiltin(agent.BuiltinConfig{Model: client,
		Commands: commandsIn(t, c.box, cache, c.hosts...), Now: time.Now, Logger: noLog})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// results returns the results of the tools with a name.
func (b *bench) results(name string) (all []string) {
	for _, turn := range b.rec.turns {
		for _, c := range turn.Calls {
			if c.Name == name {
				all = append(all, c.Result)
			}
		}
	}
	return all
}

func command(text string) scripted.Answer {
	return calls(scripted.Call{Name: "run", Args: args{"command": text}})
}

func TestRunIsOfferedWithASandboxOnly(t *testing.T) {
	b := newBench(t, turns(command("true"), done))
	b.in.Setup = []string{"true"}
	b.run()
	if slices.Contains(b.agent.Tools(), "run") || !strings.Contains(b.results("run")[0], "there is no tool") ||
		!strings.Contains(b.rec.notes(), "setup commands did not run: there is no sandbox") {
		t.Errorf("%v, %q, %s", b.agent.Tools(), b.results("run"), b.rec.notes())
	}
	b = contained(t, turns(command("echo hello"), done), "")
	b.run()
	if !slices.Contains(b.agent.Tools(), "run") || !slices.Contains(b.agent.Tools(), "test") ||
		b.results("run")[0] != "exit status 0\nhello\n" {
		t.Errorf("%v, %q", b.agent.Tools(), b.results("run"))
	}
}

// In a repository with tests that attack the host, the agent is told that they fail, and the attempt continues to its
// end.
func TestHostileRepository(t *testing.T) {
	const secret = "host-secret-5e1c"
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "key.pem"), []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SIA_MODEL_KEY", secret)
	b := contained(t, turns(calls(scripted.Call{Name: "test"}), command("(sleep 600 &); yes"), done), t.TempDir())
	b.write("package.json", `{"scripts":{"test":"node --test"}}`)
	b.write("evil.test.js", `
const test = require('node:test'), fs = require('fs'), net = require('net'), cp = require('child_process');
const leak = (name, f) => test(name, async () => { let got; try { got = await f(); } catch { throw new `+
		`Error(name + ' was contained'); } console.log('LEAKED', name, got); });
leak('a file of the host', () => fs.readFileSync('`+outside+`/key.pem', 'utf8'));
leak('the environment', () => { if (!JSON.stringify(process.env).includes('`+secret[:6]+`')) throw 0; });
leak('the environment of others', () => { for (const p of fs.readdirSync('/proc')) if (/^\d+$/.test(p)) { try { `+
		`if (fs.readFileSync('/proc/' + p + '/environ', 'utf8').includes('SIA_MODEL_KEY')) return p; } catch {} } throw 0; });
leak('the network', () => new Promise((ok, no) => net.connect(443, '1.1.1.1').on('connect', ok).on('error', no)));
leak('the hooks', () => fs.writeFileSync('.git/hooks/pre-commit', 'x'));
leak('a way up', () => fs.writeFileSync('../../../planted', 'x'));
test('a mess', () => { fs.symlinkSync('`+outside+`', 'link'); cp.spawn('sleep', ['600'], { detached: true, `+
		`stdio: 'ignore' }).unref(); });
`)
	b.write(".git/hooks/sample", "x")
	res := b.run()
	if res.End != sia.EndFinished {
		t.Fatalf("%+v", res)
	}
	got := b.results("test")[0]
	for _, want := range []string{"The tests fail: npm test --silent, exit status 1", "a file of the host",
		"the environment of others", "the network", "the hooks", "a way up", "# fail 6"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "LEAKED") || strings.Contains(got, secret) {
		t.Errorf("it got out:\n%s", got)
	}
	if out := b.results("run")[0]; !strings.HasPrefix(out, "stopped: it printed more than") {
		t.Errorf("%.300s", out)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v %v", entries, err)
	}
}

func TestSetupIsKeptAndCannotBePoisoned(t *testing.T) {
	cache := t.TempDir()
	setup := []string{"[ -e $GOMODCACHE/fetched ] || { mkdir -p $GOMODCACHE && echo good > $GOMODCACHE/fetched && " +
		"echo fetch >> $XDG_CACHE_HOME/log; }", "echo ready > prepared; mkdir -p $GOCACHE; echo built > $GOCACHE/b"}
	try := func(lock string, look string, change ...func(*bench)) (*bench, string) {
		b := contained(t, turns(command(look), done), cache)
		b.in.Setup, b.in.OnBase = setup, true
		for _, f := range change {
			f(b)
		}
		b.write("go.sum", lock)
		b.run()
		return b, b.results("run")[0]
	}
	b, out := try("1", "cat prepared $GOMODCACHE/fetched $GOCACHE/b $XDG_CACHE_HOME/log; (echo bad > "+
		"$GOMODCACHE/fetched) 2>&1; echo bad > $GOCACHE/b")
	if !strings.HasPrefix(out, "exit status 0\nready\ngood\nbuilt\nfetch\n") || !strings.Contains(out, "Read-only") ||
		b.rec.notes() != "setup without network, kept" {
		t.Errorf("the first time: %s\n%s", out, b.rec.notes())
	}
	b, out = try("1", "cat prepared $GOMODCACHE/fetched $GOCACHE/b $XDG_CACHE_HOME/log; echo bad > $XDG_CACHE_HOME/left")
	if out != "exit status 0\nready\ngood\nbuilt\nfetch\n" || b.rec.notes() != "setup with what was fetched before" {
		t.Errorf("the second time: %s\n%s", out, b.rec.notes())
	}
	_, out = try("1", "cat $XDG_CACHE_HOME/log; ls $XDG_CACHE_HOME/left")
	if !strings.HasPrefix(out, "exit status 2\nfetch\n") {
		t.Errorf("the third time: %s", out)
	}
	if b, _ = try("2", "true"); b.rec.notes() != "setup without network, kept" {
		t.Errorf("with other locks: %s", b.rec.notes())
	}
	for of, change := range map[string]func(*bench){"another repository": func(b *bench) { b.in.Repo += "-2" },
		"another repository that later has the name": func(b *bench) { b.in.Key = "1/2" },
		"other commands": func(b *bench) { b.in.Setup = append(slices.Clone(setup), "true") }} {
		if b, _ = try("1", "true", change); b.rec.notes() != "setup without network, kept" {
			t.Errorf("of %s: %s", of, b.rec.notes())
		}
	}
	if left, err := os.ReadDir(filepath.Join(cache, "builds")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if kept, err := os.ReadDir(filepath.Join(cache, "setups")); err != nil || len(kept) != 5 {
		t.Errorf("kept: %v %v", kept, err)
	}
}

// Lock files in all folders count: setup of a subfolder depends on its own. Those of installed packages don't.
func TestSetupHeedsLockFilesBelow(t *testing.T) {
	for _, file := range []string{"web/package-lock.json", "services/api/go.sum", "requirements/dev.txt",
		"tools/requirements-lint.in"} {
		cache := t.TempDir()
		for _, try := range []struct{ lock, want string }{
			{"1", "setup without network, kept"}, {"1", "setup with what was fetched before"},
			{"2", "setup without network, kept"},
		} {
			b := contained(t, turns(done), cache)
			b.in.Setup, b.in.OnBase = []string{"true"}, true
			b.write(file, try.lock)
			b.write("web/node_modules/dep/package.json", t.TempDir())
			b.run()
			if got := b.rec.notes(); got != try.want {
				t.Errorf("%s is %s: %s, want %s", file, try.lock, got, try.want)
			}
		}
	}
}

// Packages installed by pip are available in every attempt, although they are installed once and Debian's Python
// refuses pip. Packages installed in the work tree are installed each time.
func TestSetupWithPip(t *testing.T) {
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	for _, f := range []struct{ name, text string }{
		{"half.py", "def half(a):\n    return a // 2\n\ndef main():\n    print(half(8))\n"},
		{"half-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: half\nVersion: 1\n"},
		{"half-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"half-1.dist-info/entry_points.txt", "[console_scripts]\nhalve = half:main\n"},
		{"half-1.dist-info/RECORD", ""},
	} {
		w, err := z.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for _, want := range []string{"setup without network, kept", "setup with what was fetched before"} {
		b := contained(t, turns(command("python3 -c 'import half; half.main()' && halve && ls lib/half.py"), done), cache)
		b.in.Setup = []string{"python3 -m pip install once/half-1-py3-none-any.whl",
			"python3 -m pip install --target lib half-1-py3-none-any.whl"}
		b.in.OnBase = true
		b.write("half-1-py3-none-any.whl", wheel.String())
		if want == "setup without network, kept" {
			b.write("once/half-1-py3-none-any.whl", wheel.String())
		}
		b.run()
		if out := b.results("run")[0]; out != "exit status 0\n4\n4\nlib/half.py\n" || b.rec.notes() != want {
			t.Errorf("%s\n%s, want %s", out, b.rec.notes(), want)
		}
	}
}

// Setup runs code of a task's branch, which affects no other attempt: neither before the base branch's own setup was
// kept nor after.
func TestSetupOfABranchReachesNobody(t *testing.T) {
	const good = "mkdir -p $GOMODCACHE && [ -e $GOMODCACHE/tool ] || echo good > $GOMODCACHE/tool; " +
		"echo good > $GOCACHE.built"
	for name, evil := range map[string]string{
		"its script":   "mkdir -p $GOMODCACHE; echo evil > $GOMODCACHE/tool; echo evil > $GOCACHE.built",
		"a background": "(sleep 1; echo evil > $GOMODCACHE/tool) & mkdir -p $GOMODCACHE; echo evil > $GOMODCACHE/tool",
		"by links":     "mkdir -p $GOMODCACHE; for f in $GOMODCACHE/tool $GOCACHE.built; do ln -sf /workspace/evil $f; done",
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			try := func(script string, onBase bool) (string, string) {
				b := contained(t, turns(command("cat $GOMODCACHE/tool"), done), cache)
				b.in.Setup, b.in.OnBase = []string{"sh scripts/setup.sh"}, onBase
				b.write("go.sum", "the same")
				b.write("evil", "evil\n")
				b.write("scripts/setup.sh", script)
				b.run()
				return b.results("run")[0], b.rec.notes()
			}
			if out, notes := try(evil, false); out != "exit status 0\nevil\n" || notes != "setup without network" {
				t.Errorf("its own: %s\n%s", out, notes)
			}
			if out, notes := try(good, true); out != "exit status 0\ngood\n" || notes != "setup without network, kept" {
				t.Errorf("the base's: %s\n%s", out, notes)
			}
			_, _ = try(evil, false)
			for _, onBase := range []bool{true, false} {
				if out, notes := try(good, onBase); out != "exit status 0\ngood\n" ||
					notes != "setup with what was fetched before" {
					t.Errorf("the next: %s\n%s", out, notes)
				}
			}
		})
	}
}

func TestSetupThatFailsIsTold(t *testing.T) {
	b := contained(t, turns(done), t.TempDir())
	b.in.Setup = []string{"echo cannot find package >&2; exit 4", "echo never"}
	if res := b.run(); res.End != sia.EndFinished {
		t.Errorf("%+v", res)
	}
	if p := b.prompt(); !strings.Contains(p, "exit status 4") || !strings.Contains(p, "cannot find package") ||
		strings.Contains(p, "\nnever") || !strings.Contains(p, "Setup of the work tree") {
		t.Errorf("%s", p)
	}
	if b.rec.notes() != "setup without network, failed" {
		t.Errorf("%s", b.rec.notes())
	}
}

// Most programs that can't fetch don't show the proxy's message.
func TestSetupThatWasRefusedIsTold(t *testing.T) {
	b := contained(t, turns(done), t.TempDir(), func(c *containment) {
		c.box, c.hosts = sandboxtest.New(t, sandbox.Options{Self: forwarding(t)}), []string{"allowed.example"}
	})
	const connect = `exec 3<>/dev/tcp/127.0.0.1/3128; ` +
		`printf 'CONNECT %s.example:443 HTTP/1.1\r\nHost: x\r\n\r\n' >&3; head -1 <&3; exit %d`
	b.in.Setup = []string{fmt.Sprintf(connect, "first", 0), fmt.Sprintf(connect, "other", 4)}
	if res := b.run(); res.End != sia.EndFinished {
		t.Errorf("%+v", res)
	}
	const why = ": this host is not allowed; the operator of SIA can allow it with --setup-hosts"
	const want = "403 Forbidden\nSIA refused a connection to first.example:443" + why +
		"\nSIA refused a connection to other.example:443" + why
	if p := strings.ReplaceAll(b.prompt(), "\r", ""); !strings.Contains(p, want) {
		t.Errorf("%s", p)
	}
}

// If nothing can be kept for other attempts, an attempt and a command still have their own results.
func TestSetupThatCannotBeKept(t *testing.T) {
	cache := t.TempDir()
	if err := os.WriteFile(filepath.Join(cache, "setups"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := contained(t, turns(command("cat $GOMODCACHE/fetched"), done), cache)
	b.in.Setup, b.in.OnBase = []string{"mkdir -p $GOMODCACHE && echo good > $GOMODCACHE/fetched"}, true
	b.run()
	if out := b.results("run")[0]; out != "exit status 0\ngood\n" || b.rec.notes() != "setup without network, not kept" ||
		strings.Contains(b.prompt(), "setup commands could not run") {
		t.Errorf("%s\n%s\n%s", out, b.rec.notes(), b.prompt())
	}
	c, err := agent.NewCommands(sandboxtest.New(t, sandbox.Options{}), cache, nil, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	in := agent.Input{Repo: "acme/app", Dir: b.in.Dir, OnBase: true}
	if res, failed, err := c.Run(t.Context(), in, "true", time.Minute, nil); err != nil || failed != "" || !res.OK() {
		t.Errorf("%s, %q, %v", res, failed, err)
	}
}

// TestStdlibCannotBePoisoned tests that an attempt starts with a copy of the compiled standard library without changes
// by another one.
func TestStdlibCannotBePoisoned(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "go", "bin") // a fake go that records its calls
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n[ $1 = list ] && echo fmt && exit\n"+
		"mkdir -p $GOCACHE/0f && echo good > $GOCACHE/0f/fmt-d\n"), 0o755) //nolint:gosec // it is run
	if err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(filepath.Dir(bin)); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the sandbox's user sees it
			t.Fatal(err)
		}
	}
	box := sandboxtest.New(t, sandbox.Options{Env: []string{"PATH=" + bin + ":/usr/bin:/bin"},
		Stdlib: filepath.Join(t.TempDir(), "stdlib")})
	cache := t.TempDir()
	look := "cat $GOCACHE/0f/*; echo bad > $GOCACHE/0f/fmt-d; echo own > $GOCACHE/0f/own-d"
	try := func(repo string, setup ...string) string {
		b := contained(t, turns(command(look), done), cache, func(c *containment) { c.box = box })
		b.in.Repo, b.in.Setup, b.in.OnBase = repo, setup, true
		b.write("go.mod", "module example.com/m\n")
		b.run()
		return b.results("run")[0]
	}
	const good = "exit status 0\ngood\n"
	for range 2 {
		for _, repo := range []string{"acme/one", "acme/two"} {
			if got := try(repo); got != good {
				t.Errorf("an attempt of %s begins with %q", repo, got)
			}
		}
	}
	// Its changes don't reach a later attempt of the same repository through setup either.
	for _, want := range []string{"bad\nown\n", "good\nown\n"} {
		got := try("acme/one", "[ -e $GOCACHE/0f/own-d ] || { echo bad > $GOCACHE/0f/fmt-d; echo own > $GOCACHE/0f/own-d; }")
		if got != "exit status 0\n"+want {
			t.Errorf("after setup it begins with %q, want %q", got, want)
		}
	}
	kept, err := filepath.Glob(filepath.Join(cache, "setups", "*", "seed", "go", "0f", "*"))
	if err != nil || len(kept) != 1 || filepath.Base(kept[0]) != "own-d" {
		t.Errorf("kept beside the standard library: %v, %v", kept, err)
	}
}
