package main

import (
	"embed"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

//go:embed completion
var completionScripts embed.FS

// completionCmd prints what makes a shell complete sia's command lines.
type completionCmd struct {
	Shell  string `arg:"" help:"The shell: bash, zsh or fish." enum:"bash,zsh,fish"`
	Output string `help:"text or json; the script is the field script then." enum:"text,json" default:"text"`
}

// shellScript is the JSON of sia completion.
type shellScript struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

// Run prints the shell's script. It asks this program, each time, how a line may go on.
func (c *completionCmd) Run(e *cli.Env) error {
	script, err := completionScripts.ReadFile("completion/sia." + c.Shell)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return e.JSON(shellScript{c.Shell, string(script)})
	}
	_, err = e.Out.Write(script)
	return err
}

// completeCmd is what the shells' scripts call, and no person.
type completeCmd struct {
	Words []string `arg:"" optional:"" help:"The words of a command line without the program's, the last of which is to be completed."`
}

// Run prints how the last word may go on: a line for each way, with a tab and what it is, and a line
// ":files" where a file's name fits.
func (c *completeCmd) Run(e *cli.Env, app *kong.Kong) error {
	found := completeLine(app.Model.Node, c.Words)
	var b strings.Builder
	for _, w := range found.words {
		b.WriteString(w.word)
		if w.help != "" {
			b.WriteString("\t" + strings.Join(strings.Fields(w.help), " "))
		}
		b.WriteByte('\n')
	}
	if found.files {
		b.WriteString(":files\n")
	}
	_, err := io.WriteString(e.Out, b.String())
	return err
}
