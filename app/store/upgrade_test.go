package store_test

import (
	"compress/gzip"
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// TestDatabaseOfRiver047: a database that a killed SIA with River 0.47 left goes on. Its attempt of task 42
// had ended and not reported yet, the one of task 43 waited for it, and a delivery had just arrived.
func TestDatabaseOfRiver047(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sia.db")
	unpack(t, "testdata/river-0.47.db.gz", path)
	clock := frozen(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	s := storetest.Open(t, store.Config{URL: path, Now: clock.now})
	if _, _, err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, issue := range []int{42, 43} {
		finish(t, s, clock, sia.NewTaskID(7, issue), nil)
	}
	if b, err := s.DeliveryBacklog(context.Background()); err != nil || b != (store.Backlog{}) {
		t.Errorf("deliveries: %+v, %v", b, err)
	}

	// River's migration 8 has it never use an id again. cancel.go relies on that.
	disk, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var last int
	if err := disk.QueryRow(`SELECT seq FROM sqlite_sequence WHERE name = 'river_job'`).Scan(&last); err != nil ||
		last <= 15 {
		t.Errorf("the last id is %d, %v; the file had 15 jobs", last, err)
	}
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
