package store_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) *store.Store {
		return open(t, filepath.Join(t.TempDir(), "sia.db"), now)
	})
}

// open opens a migrated store on a file that is closed when the test ends.
func open(t testing.TB, path string, now func() time.Time) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), store.Config{URL: "sqlite:" + path, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}
