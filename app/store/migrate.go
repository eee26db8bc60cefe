package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/sia-bot/sia/sia"
)

//go:embed migrations
var migrations embed.FS

// oldestSchema is the first version of the schema that can be migrated. Earlier versions were never released.
const oldestSchema = 29

// Migrate migrates the schema to the version that this program needs: River's tables
// and ours. It returns the versions before and after; if they are equal, there was
// nothing to do. On PostgreSQL several processes may call it concurrently.
func (s *DB) Migrate(ctx context.Context) (from, to int64, err error) {
	if s.shared() { // a second process waits, and finds nothing to do
		tx, err := s.w.BeginTx(ctx, nil)
		if err != nil {
			return 0, 0, s.explain("migrate the schema", err)
		}
		defer tx.Rollback() //nolint:errcheck // it only holds the lock
		if err := s.advisoryLock(ctx, tx, "migrating"); err != nil {
			return 0, 0, s.explain("migrate the schema", err)
		}
	}
	p, err := s.provider()
	if err != nil {
		return 0, 0, err
	}
	if from, to, err = s.versions(ctx, p); err != nil {
		return from, from, err
	}
	m, err := rivermigrate.New(s.driver(), &rivermigrate.Config{Logger: warningsOnly(s.log, &s.outage)})
	if err != nil {
		return from, from, fmt.Errorf("set up the job engine's migrations: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return from, from, s.explain("migrate the job engine's tables", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return from, from, s.explain("migrate the schema", err)
	}
	s.writable.Store(true)
	return from, to, nil
}

// Version returns the version of the schema; 0: there is no SIA database. It writes nothing.
func (s *DB) Version(ctx context.Context) (v int64, err error) {
	var made bool
	if err = s.r.QueryRowContext(ctx, s.versionTableQuery()).Scan(&made); err == nil && made {
		err = s.r.QueryRowContext(ctx, `SELECT max(version_id) FROM `+goose.DefaultTablename).Scan(&v)
	}
	return v, s.explain("read the schema's version", err)
}

// Newer returns a permanent error when the schema is newer than this program supports, which
// [DB.Migrate] refuses. Any other error means that the version can't be read.
func (s *DB) Newer(ctx context.Context) error {
	p, err := s.provider()
	if err != nil {
		return err
	}
	_, _, err = s.versions(ctx, p)
	return err
}

// olderSchema is the message for a database that lacks a table or a column.
const olderSchema = "is of an older SIA, and lacks what this asks for; run sia migrate"

// requireCurrent returns an error unless the schema has the version that this program needs.
func (s *DB) requireCurrent(ctx context.Context) error {
	p, err := s.provider()
	if err != nil {
		return err
	}
	have, want, err := s.versions(ctx, p)
	if err != nil || have == want {
		return err
	}
	return &sia.Error{Op: "read the schema's version", Permanent: true,
		Message: fmt.Sprintf("the database's schema is at version %d and this program needs %d; run sia migrate", have, want)}
}

// checkWritable returns an error unless the schema had the version that this program needs at the first write. A server
// continues to write when a newer one migrates the database.
func (s *DB) checkWritable(ctx context.Context) error {
	if s.writable.Load() {
		return nil
	}
	err := s.requireCurrent(ctx)
	s.writable.Store(err == nil)
	return err
}

// versions returns the version of the schema and the one that this program needs. It fails when the schema is newer, or
// too old to migrate.
func (s *DB) versions(ctx context.Context, p *goose.Provider) (have, want int64, err error) {
	if have, err = s.Version(ctx); err != nil {
		return 0, 0, err
	}
	sources := p.ListSources()
	want = sources[len(sources)-1].Version
	switch {
	case have > 0 && have < oldestSchema:
		err = &sia.Error{Op: "migrate the schema", Permanent: true,
			Message: fmt.Sprintf("the database was written by a SIA that was never released (schema %d, this program begins at "+
				"%d); name a new one and run sia memory reindex, which restores what SIA learned", have, oldestSchema)}
	case have > want:
		err = &sia.Error{Op: "migrate the schema", Permanent: true,
			Message: fmt.Sprintf("the database was written by a newer SIA (schema %d, this program knows %d); run that "+
				"version, or restore a backup", have, want)}
	}
	return have, want, err
}

func (s *DB) provider() (*goose.Provider, error) {
	files := fstest.MapFS{}
	all, err := migrations.ReadDir("migrations")
	for _, f := range all {
		b, unread := migrations.ReadFile("migrations/" + f.Name())
		files[f.Name()] = &fstest.MapFile{Data: []byte(s.schema(string(b)))}
		err = errors.Join(err, unread)
	}
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	p, err := goose.NewProvider(s.goose(), s.river, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return p, nil
}
