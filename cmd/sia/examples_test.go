package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// Each command has an example that a shell and the program's parser accept as a line of that command.
func TestExamples(t *testing.T) {
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var examples [][2]string
	for _, n := range visibleNodes(parser.Model.Node) {
		if n.Leaf() && len(cli.Examples(n)) == 0 {
			t.Errorf("sia %s has no example: give its field the tag example", n.Path())
		}
		if n.Leaf() {
			for _, example := range cli.Examples(n) {
				examples = append(examples, [2]string{n.Path(), example})
			}
		}
	}
	examplesParse(t, parser, examples)
}

// examplesParse checks pairs of a command and a line with a shell and the parser.
func examplesParse(t *testing.T, parser *kong.Kong, examples [][2]string) {
	t.Helper()
	var script strings.Builder
	for _, x := range examples {
		script.WriteString("printf '%s\\0' " + x[1] + "; printf '\\1'\n")
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\x01"), "\x01") {
		command, example := examples[i][0], examples[i][1]
		words := strings.Split(strings.TrimSuffix(line, "\x00"), "\x00")
		parsed, err := parser.Parse(words[1:])
		if err != nil {
			t.Errorf("%s: %v", example, err)
		} else if got := parsed.Selected().Path(); words[0] != "sia" || got != command {
			t.Errorf("%s: is a line of %q, not of %q", example, got, command)
		}
	}
}

// Help ends with examples: a command's own, or those of its subcommands.
func TestHelpEndsWithExamples(t *testing.T) {
	for command, want := range map[string]string{
		"task stop": "\nExample:\n  sia task stop acme/shop#12 --reason \"not wanted any more\"\n",
		"memory":    "\nExamples:\n  sia memory show acme/shop#12\n  sia memory reindex --repo acme/shop\n",
	} {
		var help strings.Builder
		code := runCommand(t.Context(), append(strings.Fields(command), "--help"), &help, io.Discard)
		if code != 0 || !strings.HasSuffix(help.String(), want) {
			t.Errorf("sia %s --help: exit status %d, and it does not end with the example:\n%s", command, code, help.String())
		}
	}
}
