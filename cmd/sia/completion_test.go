package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each command line has the expected completions.
func TestCompleteLine(t *testing.T) {
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"tas":                     {"task"},
		"forw":                    nil, // hidden
		"task st":                 {"stop"},
		"task stop --rea":         {"--reason"},
		"task stop --log-l":       {"--log-level"}, // of every command
		"task list --state pas":   {"passed"},
		"task list --state=pas":   {"--state=passed"},
		"task list --state = pas": {"passed"}, // as bash splits it
		"task list --state =": {"any", "queued", "working", "pushed", "checking", "diagnosing", "reviewing", "announced",
			"escalated", "paused", "passed", "stopped"},
		"task list --repo task --out": {"--output"}, // a value, not a command
		"task list --nonsense=":       nil,
		"task list -- --out":          nil,
		"help task sto":               {"stop"},
		"completion z":                {"zsh"},
		"bench --ra":                  {"--rate"}, // of its default command
		"config check ":               {":files"},
		"log one.log ":                {":files"},
		"serve --app-key-file ":       {":files"},
		"serve --agent-path ":         {":files"},
		"nonsense ":                   nil,
	} {
		var got []string
		found := completeLine(parser.Model.Node, strings.Split(line, " "))
		for _, c := range found.words {
			got = append(got, c.word)
		}
		if found.files {
			got = append(got, ":files")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
	if got := completeLine(parser.Model.Node, nil); len(got.words) < 20 {
		t.Errorf("without a word: %v", got)
	}
}

// The shells complete with the scripts that sia prints, in real shells.
//
//test:thorough
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.yml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the name sia, this test binary runs sia: TestMain.
	if err := os.Symlink(self, filepath.Join(dir, "sia")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ shell, script, want string }{
		{"bash", `source <(sia completion bash)
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sia; echo "${COMPREPLY[*]}"; }
try sia task sto
try sia task list --state = pas
complete -p sia`, "stop\npassed\ncomplete -F _sia sia\n"},
		// In an interactive shell, a tab completes the command, which then runs.
		{"zsh", `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -U compinit; compinit -u -D; source <(sia completion zsh)'
zpty -w -n shell $'sia vers\t\n'
zpty -r shell said '*(\(commit|unexpected argument)*'
print -r -- ${said##*$'\n'}`, "sia dev (commit\n"},
		{"fish", `sia completion fish | source
complete -C "sia task sto"
complete -C "sia task list --state=pas"
complete -C "sia config check note"`,
			"stop\tEnd a task; what was done stays on its branch.\n--state=passed\nnotes.yml\n"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, c.shell, "-c", c.script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "TERM=dumb")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v (.ci/deps installs the shells)\n%s%s", err, out, &errs)
			}
			if diff := cmp.Diff(c.want, string(out)); diff != "" {
				t.Errorf("%s%s", diff, &errs)
			}
		})
	}
}
