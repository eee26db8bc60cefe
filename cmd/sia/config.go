package main

import (
	"fmt"
	"os"

	"github.com/sia-bot/sia/sia/config"
)

type configCmd struct {
	Check   configCheckCmd   `cmd:"" help:"Check a .sia/config.yml: every problem with its line."`
	Explain configExplainCmd `cmd:"" help:"Print the settings that a .sia/config.yml puts in force, and where each comes from."`
	Schema  configSchemaCmd  `cmd:"" help:"Print the JSON Schema of .sia/config.yml, for editors."`
}

type configCheckCmd struct {
	File string `arg:"" help:"The file." type:"path"`
}

// Run checks a settings file.
func (c *configCheckCmd) Run(e *env) error {
	b, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	if _, err := config.Parse(c.File, b); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.out, c.File+": good")
	return err
}

type configExplainCmd struct {
	File   string `arg:"" optional:"" help:"The file; without it, the defaults." type:"path"`
	Output string `help:"text or json." enum:"text,json" default:"text"`
}

// Run explains the settings in force.
func (c *configExplainCmd) Run(e *env) error {
	var file *config.File
	if c.File != "" {
		b, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		file = &config.File{Name: c.File, Content: b}
	}
	effective, err := config.Resolve(file)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return encode(e, effective.Settings)
	}
	_, err = fmt.Fprint(e.out, effective.Explain())
	return err
}

type configSchemaCmd struct{}

// Run prints the schema.
func (configSchemaCmd) Run(e *env) error {
	_, err := e.out.Write(config.Schema())
	return err
}
