package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
)

type configCmd struct {
	Check   configCheckCmd   `cmd:"" help:"Check a .sia/config.yml: every problem with its line." example:"sia config check .sia/config.yml"`
	Explain configExplainCmd `cmd:"" help:"Print the settings in force by a .sia/config.yml, or by two, and where each comes from." example:"sia config explain .sia/config.yml"`
	Init    configInitCmd    `cmd:"" help:"Print, or write, a first .sia/config.yml for a repository: how it is set up and tested, each with why." example:"sia config init --write"`
	Schema  configSchemaCmd  `cmd:"" help:"Print the JSON Schema of .sia/config.yml, for editors." example:"sia config schema"`
}

type configCheckCmd struct {
	File       string `arg:"" optional:"" help:"The file; default: .sia/config.yml of the clone that the working folder is in." type:"path"`
	cli.Format `embed:""`
}

// Run checks a settings file.
func (c *configCheckCmd) Run(e *cli.Env) error {
	if c.File == "" {
		if c.File = configOfClone(e.Ctx); c.File == "" {
			return cli.Usage("there is no %s here: name a file", config.Path)
		}
	}
	b, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	_, err = config.Parse(c.File, b)
	return checkedFile{File: c.File}.report(e, c.Format, err, "")
}

type configExplainCmd struct {
	Files      []string `arg:"" optional:"" help:"The repository's file, then that of the owner's .github repository: the first that there is counts. Without any, .sia/config.yml of the clone that the working folder is in; the defaults if it has none." type:"path"`
	cli.Format `embed:""`
}

// Run explains the settings in force. Of several files some may be missing, as in a repository without settings. If all
// are missing, their names are wrong.
func (c *configExplainCmd) Run(e *cli.Env) error {
	if len(c.Files) == 0 {
		if own := configOfClone(e.Ctx); own != "" {
			c.Files = []string{own}
		}
	}
	var files []*config.File
	var missing error
	for _, name := range c.Files {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			missing = errors.Join(missing, err)
			continue
		}
		if err != nil {
			return err
		}
		files = append(files, &config.File{Name: name, Content: b})
	}
	if len(files) == 0 && missing != nil {
		return missing
	}
	effective, err := config.Resolve(files...)
	if err != nil {
		return err
	}
	return c.Sayf(e, effective.Settings, "%s", effective.Explain())
}

// configOfClone returns the settings file of the clone that the working folder is in, or of a working folder that is in
// none; empty: there is no such file.
func configOfClone(ctx context.Context) string {
	top := "."
	if found, err := localgit.At(top).Line(ctx, "rev-parse", "--show-toplevel"); err == nil {
		top = found
	}
	file := filepath.Join(top, config.Path)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}

type configSchemaCmd struct {
	Output string `help:"text or json; the schema is JSON in any case." enum:"text,json" default:"text"`
}

// Run prints the schema.
func (configSchemaCmd) Run(e *cli.Env) error {
	_, err := e.Out.Write(config.Schema())
	return err
}

// checkedFile is the JSON of sia config check and of sia policies check.
type checkedFile struct {
	File     string            `json:"file"`
	ID       string            `json:"id,omitempty"` // of a valid policy
	Problems []invalid.Problem `json:"problems"`
}

// report reports the problems of the file that an error contains, or that it is good and what it is. An error with
// another cause is returned.
func (c checkedFile) report(e *cli.Env, format cli.Format, err error, is string) error {
	c.Problems = []invalid.Problem{}
	var bad *invalid.File
	if errors.As(err, &bad) {
		c.Problems = bad.Problems
	}
	if err != nil && (bad == nil || format.Output != "json") {
		return err
	}
	return format.Report(e, c, err == nil, func() error { return e.Sayf("%s: good%s\n", c.File, is) })
}
