package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

func opened(t *testing.T) *Store {
	t.Helper()
	return openedAt(t, Config{URL: filepath.Join(t.TempDir(), "a folder", "100%?#.db")})
}

// openedAt opens a new database. Migrating takes longer than most tests, so it copies a migrated one.
func openedAt(t *testing.T, c Config) *Store {
	t.Helper()
	b, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(c.URL), 0o700), os.WriteFile(c.URL, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), c)
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

// migrated returns the file of a migrated database.
var migrated = sync.OnceValues(func() (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "sia-migrated-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "sia.db")
	s, err := Open(context.Background(), Config{URL: file})
	if err != nil {
		return nil, err
	}
	_, _, err = s.Migrate(context.Background())
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// Events that change a task's state are logged at level info, all others below it.
func TestWhatMovesATaskIsLogged(t *testing.T) {
	var log strings.Builder
	s := openedAt(t, Config{URL: filepath.Join(t.TempDir(), "sia.db"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	id, now := sia.NewTaskID(7, 1), time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	res, err := s.Apply(t.Context(), id, sia.Event{ID: "start", At: now, Fact: sia.Start{Installation: 3,
		Repo: sia.Repo{ID: 7, Owner: "acme", Name: "shop"}, Issue: 1, Title: "T", DefaultBranch: "main"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range res.Effects {
		if _, err := s.Apply(t.Context(), id, sia.Event{ID: f.Key, At: now.Add(time.Duration(1+i) * time.Second),
			Effect: f.Key, Fact: sia.Done{}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); strings.Count(got, "event applied") != 1 || !strings.Contains(got, "state=queued") ||
		len(res.Effects) < 2 {
		t.Errorf("%d effects, and the log has:\n%s", len(res.Effects), got)
	}
}

func TestSQLitePath(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"sqlite:/var/lib/sia.db":   "/var/lib/sia.db",
		"sqlite:///var/lib/sia.db": "/var/lib/sia.db",
		"/var/lib/sia.db":          "/var/lib/sia.db",
		"sqlite:sia.db":            filepath.Join(here, "sia.db"),
		"a:b.db":                   filepath.Join(here, "a:b.db"),
	} {
		if got, err := File(url); err != nil || got != want {
			t.Errorf("%s gives %q %v, want %q", url, got, err, want)
		}
	}
	for _, url := range []string{"", "sqlite:", ":memory:", "sqlite::memory:",
		"mysql://x/y"} {
		if got, err := File(url); !sia.IsPermanent(err) {
			t.Errorf("%q gives %q %v", url, got, err)
		}
	}
	// PostgreSQL's keyword/value form of an address is no file. It may have a password.
	for _, words := range []string{"host=127.0.0.1 port=5432 password=hunter2", "user=sia password=hunter2"} {
		if _, err := File(words); !sia.IsPermanent(err) || !strings.Contains(err.Error(), "postgres://user@host/database") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q gives %v", words, err)
		}
	}
}

// TestDeliveryNobodyWaitsFor: when the sender leaves before a delivery is saved, the error names the database.
func TestDeliveryNobodyWaitsFor(t *testing.T) {
	s := opened(t)
	tx, err := s.w.BeginTx(t.Context(), nil) // blocks all other writers
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err = s.SaveDelivery(ctx, Delivery{GUID: "a"})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the database "+s.Files()[0]+" took longer") {
		t.Errorf("the error is %v", err)
	}
}

func TestDatabaseIsPrivate(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: filepath.Join(t.TempDir(), "sia.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info, err := os.Stat(s.Files()[0])
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file's mode is %o", mode)
	}
}

func TestNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sia.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), Config{URL: path})
	if err == nil {
		s.Close()
		t.Fatal("a text file was opened")
	}
	wantMessage(t, err, "no SIA database")
}

func wantMessage(t *testing.T, err error, part string) {
	t.Helper()
	var e *sia.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, part) {
		t.Errorf("the error is %v, want a message with %q", err, part)
	}
}

func TestSchemaVersions(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, Config{URL: filepath.Join(t.TempDir(), "sia.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := Handlers{
		Delivery: func(context.Context, Delivery) error { return nil },
		Effect:   func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return nil, nil },
	}
	_, err = s.Start(ctx, h, EngineConfig{})
	wantMessage(t, err, "run sia migrate")
	from, to, err := s.Migrate(ctx)
	if err != nil || from != 0 || to == 0 {
		t.Errorf("migrated from %d to %d, %v", from, to, err)
	}
	var once bool // cancel.go requires that River never reuses the id of a job
	if err := s.r.QueryRow(`SELECT sql LIKE '%AUTOINCREMENT%' FROM sqlite_master WHERE name = 'river_job'`).Scan(
		&once); err != nil || !once {
		t.Errorf("ids of jobs may be used again, %v", err)
	}
	if _, err := s.w.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Migrate(ctx)
	wantMessage(t, err, "newer SIA")
	_, err = s.Start(ctx, h, EngineConfig{})
	wantMessage(t, err, "newer SIA")
	old, err := Open(ctx, Config{URL: s.Files()[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	_, err = old.Halt(ctx, Halt{Scope: sia.ServerHalt})
	wantMessage(t, err, "newer SIA")
	if halts, err := old.Halts(ctx); err != nil || len(halts) != 0 {
		t.Errorf("an older program wrote, or could not read: %v %v", halts, err)
	}
	if _, err := s.w.Exec(`DROP TABLE acts`); err != nil {
		t.Fatal(err)
	}
	_, err = s.Acts(ctx, ActFilter{})
	wantMessage(t, err, "run sia migrate")
	if _, err := s.w.Exec(`UPDATE goose_db_version SET version_id = 28 WHERE version_id > 0`); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Migrate(ctx)
	wantMessage(t, err, "run sia memory reindex")
	_, err = s.Start(ctx, h, EngineConfig{})
	wantMessage(t, err, "run sia memory reindex")
}

// If a file can't be created, the error names it and the reason.
func TestNoPlaceForADatabase(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{dir: "is a directory", filepath.Join(file, "sia.db"): "not a directory"} {
		_, err := Open(t.Context(), Config{URL: path})
		wantMessage(t, err, why)
		wantMessage(t, err, "can't be written")
		wantMessage(t, err, "name another database with --dir or --db")
	}
}

// Nothing is written to a database of another application, nor to an empty one that is only read.
func TestForeignDatabase(t *testing.T) {
	ctx := context.Background()
	for _, table := range []string{"people", "tasks", "goose_db_version (version_id); CREATE TABLE people"} {
		path := filepath.Join(t.TempDir(), "other.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(ctx, `CREATE TABLE `+table+` (name text)`); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(ctx, Config{URL: path})
		wantMessage(t, err, "is a database of something else than SIA")
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file was written to: %v", table, err)
		}
	}
	s, err := Open(ctx, Config{URL: filepath.Join(t.TempDir(), "sia.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var tables int
	if v, err := s.Version(ctx); v != 0 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	if err := s.r.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("who asked for the version made %d tables, %v", tables, err)
	}
}

// full makes the disk seem full to the application's connection; more makes it free again.
func full(t *testing.T, s *Store) (more func()) {
	t.Helper()
	pragma := func(q string) {
		if _, err := s.w.Exec(q); err != nil {
			t.Error(err)
		}
	}
	pragma(`PRAGMA max_page_count = 1`) // SQLite raises this to the current size
	return func() { pragma(`PRAGMA max_page_count = 1073741823`) }
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	s := opened(t)
	more := full(t, s)
	d := Delivery{GUID: "a", Event: "issues", Body: noise(1 << 20)}
	_, err := s.SaveDelivery(ctx, d)
	wantMessage(t, err, "is full")
	if sia.IsPermanent(err) {
		t.Error("a full disk is said to be for ever")
	}
	if why := s.Refused(); !strings.Contains(why, "is full") {
		t.Errorf("it says %q of its writes", why)
	}
	more()
	if fresh, err := s.SaveDelivery(ctx, d); err != nil || !fresh {
		t.Errorf("with room again: %v %v", fresh, err)
	}
}

// TestDiskFullKeepsOutcomes: the outcome of a handler is neither lost nor produced again when the disk is full as it
// returns.
func TestDiskFullKeepsOutcomes(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := opened(t)
	id := sia.NewTaskID(7, 1)
	if _, err := s.Apply(ctx, id, sia.Event{ID: "start", At: time.Now(),
		Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: 1}}); err != nil {
		t.Fatal(err)
	}
	var begins, waits atomic.Int64
	var more func()
	h := Handlers{
		Delivery: func(context.Context, Delivery) error { return nil },
		Effect: func(_ context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
			if f.Kind != sia.DoBegin {
				return nil, &sia.Error{Message: "later", RetryAfter: time.Hour}
			}
			if begins.Add(1) > 1 {
				return nil, &sia.Error{Message: "later", RetryAfter: time.Hour}
			}
			more = full(t, s)
			return sia.Begun{Hold: fmt.Sprintf("%x", noise(1<<20))}, nil
		},
	}
	e, err := s.Start(ctx, h, EngineConfig{Effects: 1, Backoff: func(int) time.Duration {
		if begins.Load() == 1 && waits.Add(1) == 2 {
			more()
		}
		return time.Millisecond
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	if err := e.Idle(ctx); err != nil {
		t.Fatal(err)
	}
	task, err := s.Replay(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if begins.Load() != 1 || waits.Load() < 2 || task.State != sia.OnHold {
		t.Errorf("begun %d times, waited %d times, the task is %s", begins.Load(), waits.Load(), task.State)
	}
}

// TestOneBadDelivery: a delivery that can't be saved affects no other in its transaction.
func TestOneBadDelivery(t *testing.T) {
	s := opened(t)
	if _, err := s.w.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON deliveries WHEN new.guid = 'bad'
		BEGIN SELECT raise(ABORT, 'refused'); END`); err != nil {
		t.Fatal(err)
	}
	var group []queuedItem[*savedDelivery]
	for _, guid := range []string{"a", "bad", "b"} {
		d := Delivery{GUID: guid, Body: []byte{uncompressed}}
		group = append(group, queuedItem[*savedDelivery]{&savedDelivery{Delivery: d}, make(chan error, 1)})
	}
	s.inbox.commit(context.Background(), group)
	for _, q := range group {
		err := <-q.written
		if bad := q.item.GUID == "bad"; bad != (err != nil) || bad == q.item.fresh {
			t.Errorf("%s: %v, %t", q.item.GUID, err, q.item.fresh)
		}
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := opened(t)
	s.cancel()
	if _, err := s.SaveDelivery(context.Background(), Delivery{GUID: "a"}); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.write(ctx, "x", func(*sql.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLostJobsAreMadeAgain: an effect without a job is carried out after the next start.
func TestLostJobsAreMadeAgain(t *testing.T) {
	ctx := context.Background()
	s := opened(t)
	if _, err := s.Apply(ctx, "7-1",
		sia.Event{ID: "start", At: time.Now(), Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.w.Exec(`DELETE FROM river_job`); err != nil {
		t.Fatal(err)
	}
	effects, err := s.Effects(ctx, "7-1")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if _, err := s.requeueOrphans(ctx); err != nil {
			t.Fatal(err)
		}
		var jobs int
		if err := s.r.QueryRow(`SELECT count(*) FROM river_job`).Scan(&jobs); err != nil || jobs != len(effects) {
			t.Errorf("%d jobs for %d effects, %v", jobs, len(effects), err)
		}
	}
}
