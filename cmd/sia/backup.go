package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

type backupCmd struct {
	openedDatabase `embed:""`
	AppKeyFile     string `help:"PEM file with the app's private key; the result names it among what a restore needs." env:"SIA_APP_KEY_FILE" type:"path" placeholder:"FILE"`
	File           string `arg:"" help:"The file to write; there must be none of its name yet." type:"path"`
}

// backedUp is the result of a backup, as JSON. Fields are only added.
type backedUp struct {
	File   string   `json:"file"`
	Bytes  int64    `json:"bytes"`
	Schema int64    `json:"schema"` // version; this program or a newer one can restore it
	Beside []string `json:"beside"` // files that the backup does not contain; a restore needs the keys among them
}

// Run copies the database. A server can keep running meanwhile.
func (c *backupCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		schema, err := s.Version(e.Ctx)
		if err != nil {
			return err
		}
		done := backedUp{File: c.File, Schema: schema}
		if done.Bytes, err = s.Backup(e.Ctx, c.File); err != nil {
			return err
		}
		if done.Beside, err = c.beside(s.Files()); err != nil {
			return err
		}
		return c.Print(e, done, func() error { return done.show(e) })
	})
}

func (b backedUp) show(e *cli.Env) error {
	e.Linef("%s holds the database, %.1f MB, schema version %d.", b.File, float64(b.Bytes)/1e6, b.Schema)
	if len(b.Beside) > 0 {
		e.Linef("A restore needs the keys besides, which it does not hold. Keep what you need of these where secrets belong:")
	}
	for _, file := range b.Beside {
		e.Linef("  %s", text.OneLine(file))
	}
	return e.Sayf("It needs the variables SIA_* that the server is started with, too. The folders git and sandbox are " +
		"made again.\n")
}

// rebuiltFolders lists the folders that a server fills again automatically.
var rebuiltFolders = [...]string{"git", "sandbox"}

// beside returns the server's files that are not part of its database: the contents of its folder, the app's key file,
// and the configuration file.
func (c *backupCmd) beside(database []string) (files []string, err error) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, entry := range entries {
		file := filepath.Join(c.Dir, entry.Name())
		if slices.Contains(rebuiltFolders[:], entry.Name()) || slices.Contains(database, file) {
			continue
		}
		files = append(files, file)
	}
	for _, file := range []string{c.AppKeyFile, string(c.ConfigFile)} {
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return nonNil(files), nil
}
