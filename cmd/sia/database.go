package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// databaseFlags select a server's database.
type databaseFlags struct {
	Dir string `help:"Folder for the database and the git mirrors." default:"${dir}" env:"SIA_DIR" type:"path" last:""`
	DB  string `help:"Database URL: sqlite:FILE, or postgres://USER:PASSWORD@HOST:PORT/NAME; default: sia.db in the folder." env:"SIA_DB" placeholder:"URL" last:"" type:"database"`
}

// database returns the database's URL.
func (f databaseFlags) database() string {
	if f.DB != "" {
		return f.DB
	}
	return "sqlite:" + filepath.Join(f.Dir, "sia.db")
}

// databaseName returns the database's URL without its password.
func (f databaseFlags) databaseName() string { return store.Named(f.database()) }

// lacksDatabase reports whether the database's file is missing or empty; opening it would create it. Whether a
// PostgreSQL server has the database is only known after opening it.
func (f databaseFlags) lacksDatabase() bool {
	file, err := store.File(f.database())
	if err != nil || file == "" {
		return false
	}
	st, err := os.Stat(file)
	return errors.Is(err, os.ErrNotExist) || err == nil && st.Mode().IsRegular() && st.Size() == 0
}

// noDatabaseError returns the error for a missing database, for commands that don't create one.
func (f databaseFlags) noDatabaseError() error {
	return fmt.Errorf("there is no SIA database at %s; name the server's folder with --dir, or start it with `sia serve` "+
		"(`sia run` leaves none)", f.databaseName())
}

// openedDatabase holds the flags of commands that read a server's database.
type openedDatabase struct {
	databaseFlags `embed:""`
	ConfigFile    configFile `name:"config" help:"YAML file with the server's settings." env:"SIA_CONFIG" placeholder:"FILE" last:""`
	cli.Format    `embed:""`
}

// with calls f with the opened database.
func (o openedDatabase) with(e *cli.Env, f func(*store.Store) error) (err error) {
	if o.lacksDatabase() {
		return o.noDatabaseError()
	}
	s, err := store.Open(e.Ctx, store.Config{URL: o.database(), Logger: e.Warnings})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if v, err := s.Version(e.Ctx); err != nil {
		return err
	} else if v == 0 {
		return o.noDatabaseError()
	}
	return f(s)
}
