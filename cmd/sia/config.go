package main

import (
	"fmt"
	"os"

	"github.com/sia-bot/sia/sia/config"
)

type configCmd struct {
	Check  configCheckCmd  `cmd:"" help:"Check a .sia/config.yml: every problem with its line."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON Schema of .sia/config.yml, for editors."`
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

type configSchemaCmd struct{}

// Run prints the schema.
func (configSchemaCmd) Run(e *env) error {
	_, err := e.out.Write(config.Schema())
	return err
}
