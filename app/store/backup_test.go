package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A backup is a snapshot, while others write: it has each delivery together with its job, or not at all.
func TestBackupWhileWriting(t *testing.T) {
	s := opened(t)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			_, err := s.SaveDelivery(ctx, Delivery{GUID: fmt.Sprint(i), Event: "ping", Body: []byte("{}"), Received: time.Now()})
			if err != nil {
				if ctx.Err() != nil {
					err = nil
				}
				ended <- err
				return
			}
			select {
			case written <- struct{}{}:
			default:
			}
		}
	}()
	dir := t.TempDir()
	for n := range 5 {
		<-written
		file := filepath.Join(dir, fmt.Sprintf("%d.db", n))
		size, err := s.Backup(t.Context(), file)
		if err != nil || size == 0 {
			t.Fatal(size, err)
		}
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		var deliveries, without int
		if err := db.QueryRow(`SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM river_job
			WHERE kind = 'deliveries' AND instr(json(args), '"'||guid||'"'))) FROM deliveries`).Scan(&deliveries,
			&without); err != nil {
			t.Fatal(err)
		}
		if deliveries == 0 || without > 0 {
			t.Errorf("of %d deliveries %d have no job", deliveries, without)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 5 {
		t.Errorf("%d files are left, want the 5 backups (%v)", len(left), err)
	}
}

// A backup replaces no file, and a failed one leaves nothing behind.
func TestBackupRefused(t *testing.T) {
	s := opened(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), file); err == nil || !strings.Contains(err.Error(), "never takes another's place") {
		t.Errorf("over a file: %v", err)
	}
	if b, err := os.ReadFile(file); string(b) != "mine" {
		t.Errorf("the file is %q %v", b, err)
	}
	if _, err := s.Backup(t.Context(), filepath.Join(dir, "missing", "a.db")); err == nil {
		t.Error("into a folder that is not there")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Backup(ended, filepath.Join(dir, "b.db")); err == nil {
		t.Error("after it was called off")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
