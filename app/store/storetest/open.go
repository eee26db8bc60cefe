// Package storetest makes databases for tests: SQLite in a folder of the test's own, and PostgreSQL by the
// machine's programs. It may import app/store.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sia-bot/sia/app/store"
)

// Open opens an empty, migrated database in a temporary folder, or the one at c.URL, which is created if
// missing. It is closed when the test ends; a test may close it before.
func Open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	if c.URL == "" {
		c.URL = SQLite(t)
	}
	Create(t, c.URL)
	s, err := store.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// SQLite creates an empty, migrated database in a temporary folder, and returns its URL.
func SQLite(t testing.TB) (url string) {
	t.Helper()
	url = "sqlite:" + filepath.Join(t.TempDir(), "sia.db")
	Create(t, url)
	return url
}

// Raw opens another pool of connections to the database at a URL.
func Raw(t testing.TB, url string) *sql.DB {
	t.Helper()
	file, err := store.File(url)
	if err != nil {
		t.Fatal(err)
	}
	kind, name := "pgx", url
	if file != "" {
		kind, name = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)" // an engine may be writing
	}
	db, err := sql.Open(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Create creates an empty, migrated database at a URL of the form in store.Config, unless the file exists.
func Create(t testing.TB, url string) {
	t.Helper()
	path, err := store.File(url)
	if err != nil {
		t.Fatal(err)
	}
	if path == "" { // Postgres creates PostgreSQL databases
		return
	}
	if _, err := os.Stat(path); err == nil {
		return
	}
	b, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// empty returns the file of an empty, migrated database. Migrating takes longer than most tests, so they copy
// this file.
var empty = sync.OnceValues(func() (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "sia-empty-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "sia.db")
	s, err := store.Open(context.Background(), store.Config{URL: path})
	if err != nil {
		return nil, err
	}
	_, _, err = s.Migrate(context.Background())
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, fmt.Errorf("%s was not emptied when the database was closed", info.Name())
	}
	return os.ReadFile(path)
})
