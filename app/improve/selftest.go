package improve

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/visible"
)

const (
	maxOutput = 16 << 10 // bytes kept of a self-test's output, from its beginning and end
	buildAt   = sandbox.CacheDir + "/build"
	modulesAt = sandbox.CacheDir + "/modules"
)

// SelfTest runs a command on the copy, in the sandbox, without network and without this process's environment.
type SelfTest struct {
	Sandbox   *sandbox.Sandbox
	Copy      string // work tree
	Iteration string // the iteration's name
	Command   string // shell command line
	Within    time.Duration
	Cache     string // writable, kept between runs
	Modules   string // Go's module cache, read-only; "": none
}

// Test runs the command. A failing test is not an error.
func (s SelfTest) Test(ctx context.Context, _ string) (improve.TestRun, error) {
	c := copyCommand(s.Copy, s.Iteration)
	c.Shell, c.Limits = s.Command, sandbox.Limits{Time: s.Within, Output: maxOutput}
	c.Mounts = []sandbox.Mount{{From: s.Cache, To: buildAt, Writable: true}}
	c.Env = append(c.Env, "XDG_CACHE_HOME="+buildAt, "GOCACHE="+buildAt+"/go", "npm_config_cache="+buildAt+"/npm",
		"CARGO_TARGET_DIR="+buildAt+"/cargo", "GOPROXY=off")
	if s.Modules != "" {
		c.Mounts = append(c.Mounts, sandbox.Mount{From: s.Modules, To: modulesAt})
		c.Env = append(c.Env, "GOMODCACHE="+modulesAt)
	}
	res, err := s.Sandbox.Run(ctx, c)
	if err != nil {
		return improve.TestRun{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return improve.TestRun{}, err
	}
	ending, _, _ := strings.Cut(res.String(), " after ") // the duration differs each time
	if res.Ended != "" {
		ending += ": " + res.Why
	}
	return improve.TestRun{Command: s.Command, OK: res.OK(), Ending: ending, Output: visible.Text(string(res.Output))}, nil
}

// copyCommand returns a command that runs in the copy, with the iteration's name in its environment.
func copyCommand(dir, iteration string) sandbox.Command {
	return sandbox.Command{Dir: dir, Env: []string{Environment + "=" + iteration}, ReadOnly: []string{placeFolder}}
}

// GoModules returns Go's module cache; "" if it does not exist.
func GoModules(env func(string) string) string {
	dir := env("GOMODCACHE")
	if dir == "" {
		path, _, _ := strings.Cut(env("GOPATH"), string(filepath.ListSeparator))
		if path == "" {
			path = filepath.Join(env("HOME"), "go")
		}
		dir = filepath.Join(path, "pkg", "mod")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// Languages parses files with the languages' own parsers, in the sandbox, if they are installed.
type Languages struct {
	Sandbox   *sandbox.Sandbox // nil: unavailable
	Copy      string
	Iteration string
}

const (
	parseTimeout = 30 * time.Second
	noParser     = 127 // exit code of a shell for a missing command; scripts use it for unsupported syntax
)

// language is a language with its own parser. The script parses the file $1 without running or writing it.
type language struct {
	name, program, script string
}

var (
	python = language{"Python", "python3", `exec python3 -I -c 'import ast, sys
with open(sys.argv[1], "rb") as f: source = f.read()
try: ast.parse(source, sys.argv[1])
except (SyntaxError, ValueError) as e: sys.exit("%s (line %s)" % (e, getattr(e, "lineno", "?")))' "$1"`}
	// If only an import or export shows that a file is a module, node --check accepts it regardless of syntax errors
	// (https://github.com/nodejs/node/issues/65202).
	javascript = language{"JavaScript", "node", `node --check "$1" || exit 1
case "$1" in *.mjs | *.cjs) exit ;; esac
node --check --input-type=commonjs - <"$1" 2>/dev/null || exec node --check --input-type=module - <"$1"`}
	// Syntax that Node can't strip, such as an enum, is valid TypeScript.
	typescript = language{"TypeScript", "node", `exec node -e '
const { stripTypeScriptTypes } = require("node:module")
if (!stripTypeScriptTypes) process.exit(127)
try {
	stripTypeScriptTypes(require("node:fs").readFileSync(process.argv[1], "utf8"))
} catch (e) {
	if (e.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") process.exit(127)
	throw e
}' "$1"`}
	ruby  = language{"Ruby", "ruby", `exec ruby -c "$1"`}
	bash  = language{"shell", "bash", `exec bash -n "$1"`}
	posix = language{"shell", "sh", `exec sh -n "$1"`}
)

// languageOf returns a file's language by its extension, or without one by its first line.
func languageOf(name, content string) (language, bool) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".py":
		return python, true
	case ".js", ".mjs", ".cjs":
		return javascript, true
	case ".ts", ".mts", ".cts":
		return typescript, true
	case ".rb":
		return ruby, true
	case ".bash":
		return bash, true
	case ".sh", "":
		first, _, _ := strings.Cut(content, "\n")
		switch {
		case !strings.HasPrefix(first, "#!"):
			return posix, strings.HasSuffix(name, ".sh")
		case strings.Contains(first, "bash"):
			return bash, true
		case strings.Contains(first, "python"):
			return python, true
		case strings.Contains(first, "node"):
			return javascript, true
		case strings.Contains(first, "ruby"):
			return ruby, true
		case strings.HasSuffix(strings.TrimSpace(first), "/sh"), strings.HasSuffix(strings.TrimSpace(first), " sh"):
			return posix, true
		}
	}
	return language{}, false
}

// Check parses a file of the copy.
func (l Languages) Check(ctx context.Context, name string) (improve.Parse, error) {
	at := filepath.Join(l.Copy, filepath.FromSlash(name))
	f, err := readFile(at)
	if err != nil {
		return improve.Parse{}, err
	}
	lang, ok := languageOf(name, f.Text)
	if !ok {
		return improve.Parse{Verdict: improve.NotChecked,
			Why: "no parser is known for files such as " + filepath.Base(name)}, nil
	}
	p := improve.Parse{Verdict: improve.NotChecked, Language: lang.name}
	if l.Sandbox == nil {
		p.Why = "there is no sandbox on this machine to run the parser in"
		return p, nil
	}
	c := copyCommand(l.Copy, l.Iteration)
	script := "command -v " + lang.program + " >/dev/null || exit 127\n" + lang.script
	c.Argv = []string{"/bin/sh", "-c", script, "parse", "./" + filepath.ToSlash(name)}
	c.Limits = sandbox.Limits{Time: parseTimeout, Output: 4 << 10}
	res, err := l.Sandbox.Run(ctx, c)
	if err != nil {
		return p, err
	}
	if err := context.Cause(ctx); err != nil {
		return p, err
	}
	switch {
	case res.OK():
		p.Verdict = improve.Parses
	case res.ExitCode == noParser:
		p.Why = lang.program + " is not on this machine, or can't parse all of " + lang.name
	case res.Ended != "":
		p.Why = fmt.Sprintf("%s was stopped: %s", lang.program, res.Why)
	default:
		p.Verdict, p.Why = improve.Broken, string(bytes.ToValidUTF8(bytes.TrimSpace(res.Output), []byte("\uFFFD")))
	}
	return p, nil
}
