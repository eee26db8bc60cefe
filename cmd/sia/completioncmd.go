package main

import (
	"embed"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

//go:embed completion
var completionScripts embed.FS

// completionCmd prints the completion script of a shell.
type completionCmd struct {
	Shell  string `arg:"" help:"The shell: bash, zsh or fish." enum:"bash,zsh,fish"`
	Output string `help:"text or json; the script is the field script then." enum:"text,json" default:"text"`
}

// Run prints the script. On each completion, the script runs this program's command complete.
func (c *completionCmd) Run(e *cli.Env) error {
	script, err := completionScripts.ReadFile("completion/sia." + c.Shell)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return e.JSON(map[string]string{"shell": c.Shell, "script": string(script)})
	}
	_, err = e.Out.Write(script)
	return err
}

// completeCmd is called by the shells' scripts, not by users.
type completeCmd struct {
	Words []string `arg:"" optional:"" help:"The words of a command line without the program's, the last of which is to be completed."`
}

// Run prints the completions of the last word: one on each line, with a tab and its description, and a line ":files"
// where a file name fits.
func (c *completeCmd) Run(e *cli.Env, app *kong.Kong) error {
	found := completeLine(app.Model.Node, c.Words)
	for _, w := range found.words {
		e.Linef("%s", strings.TrimSpace(w.word+"\t"+text.OneLine(w.help)))
	}
	if found.files {
		e.Linef(":files")
	}
	return nil
}
