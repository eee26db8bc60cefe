package improve_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	place "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/sia/improve"
)

// Files are parsed by their languages' own programs without being run; files that can't be checked are reported with
// the reason.
func TestLanguages(t *testing.T) {
	box := sandboxtest.New(t, sandbox.Options{})
	dir := t.TempDir()
	for _, c := range []struct {
		name, content string
		want          improve.ParseVerdict
		says          string
	}{
		{"ok.py", "open('ran', 'w')\n", improve.Parses, ""},
		{"bad.py", "def f(:\n", improve.Broken, "line 1"},
		{"tool", "#!/usr/bin/env python3\nprint(\n", improve.Broken, ""},
		{"ok.mjs", "import 'node:fs'; await 1; require('fs').writeFileSync('ran', '')\n", improve.Parses, ""},
		{"bad.js", "function f( {\n", improve.Broken, "SyntaxError"},
		{"ok.js", "#!/usr/bin/env node\nreturn require('fs').writeFileSync('ran', '')\n", improve.Parses, ""},
		{"module.js", "import 'node:fs'; await 1; export {}\n", improve.Parses, ""},
		{"badmodule.js", "import 'node:fs'\nvar = ;\n", improve.Broken, "SyntaxError"},
		{"ok.sh", "touch ran\n", improve.Parses, ""},
		{"bad.bash", "if true; then\n", improve.Broken, "unexpected end of file"},
		{"-dash.sh", "echo\n", improve.Parses, ""},
		{"script", "#!/bin/sh\ncase x in\n", improve.Broken, ""},
		{"main.zig", "pub fn main() void {}\n", improve.NotChecked, "no parser is known for files such as main.zig"},
	} {
		write(t, filepath.Join(dir, c.name), c.content)
		got, err := place.Languages{Sandbox: box, Copy: dir, Iteration: "x"}.Check(t.Context(), c.name)
		if err != nil || got.Verdict != c.want || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
	}
	for _, name := range entries(t, dir) {
		if name == "ran" || name == "__pycache__" {
			t.Errorf("a parser left %s", name)
		}
	}
	// A language is reported as not checked when its program is missing or too old. Which languages
	// these are depends on the machine.
	for name, content := range map[string]string{"a.rb": "def f\n", "a.ts": "let a: = 1\n",
		"enum.ts": "enum E { A }\n"} {
		write(t, filepath.Join(dir, name), content)
		got, err := place.Languages{Sandbox: box, Copy: dir, Iteration: "x"}.Check(t.Context(), name)
		if err != nil || got.Verdict == improve.Parses || got.Why == "" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if name == "enum.ts" && got.Verdict == improve.Broken {
			t.Errorf("an enum is no TypeScript: %+v", got)
		}
	}
	got, err := (place.Languages{Copy: dir}).Check(t.Context(), "ok.py")
	if err != nil || got.Verdict != improve.NotChecked {
		t.Errorf("without a sandbox: %+v %v", got, err)
	}
}

func TestGoModules(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	env["GOMODCACHE"] = dir
	if got := place.GoModules(get); got != dir {
		t.Errorf("GOMODCACHE: %q", got)
	}
	env["GOMODCACHE"] = filepath.Join(dir, "none")
	if got := place.GoModules(get); got != "" {
		t.Errorf("a folder that is not there: %q", got)
	}
}
