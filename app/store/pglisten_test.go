package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// between is a proxy between PostgreSQL and its clients.
type between struct {
	server string // its socket
	pid    uint32 // process id reported to clients; 0: the server's
	cuts   atomic.Int32
}

// listen accepts connections, and returns the URL of the database through the proxy.
func (b *between) listen(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	q, dir := u.Query(), t.TempDir()
	b.server = filepath.Join(q.Get("host"), ".s.PGSQL.5432")
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(client)
		}
	}()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return u.String()
}

// serve forwards the messages of a client and the server. The first cuts clients receive nothing after the connection
// is made.
func (b *between) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", b.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	answers := pgproto3.NewFrontend(server, nil)
	for ready := false; !ready; {
		m, err := answers.Receive()
		if err != nil {
			return
		}
		if key, ok := m.(*pgproto3.BackendKeyData); ok && b.pid != 0 {
			key.ProcessID = b.pid
		}
		_, ready = m.(*pgproto3.ReadyForQuery)
		if raw, err := m.Encode(nil); err != nil {
			return
		} else if _, err := client.Write(raw); err != nil {
			return
		}
	}
	if b.cuts.Add(-1) >= 0 {
		return
	}
	_, _ = io.Copy(client, server)
}

// said is a log with which tests wait for a message.
type said struct {
	part string
	ch   chan bool
}

func (s said) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.part)) {
		select {
		case s.ch <- true:
		default:
		}
	}
	return len(p), nil
}

func nothing() store.Handlers {
	return store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { return nil },
		Effect:   func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return sia.Done{}, nil },
	}
}

// listening counts the connections of a database that use LISTEN.
func listening(t *testing.T, db *sql.DB) int {
	t.Helper()
	n := 0
	for _, query := range column(t, db,
		`SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) {
		if strings.HasPrefix(query, "LISTEN") {
			n++
		}
	}
	return n
}

// TestNobodyListensAtPooler: through a pooler, LISTEN would make the server notify a connection of the pooler forever.
// SIA logs advice, and uses the direct address of the server if it is configured.
func TestNobodyListensAtPooler(t *testing.T) {
	database := storetest.Postgres(t)
	db := storetest.Raw(t, database)
	pooler := (&between{pid: 7}).listen(t, database)
	heard := said{"--db-direct", make(chan bool, 1)}
	s := storetest.Open(t, store.Config{URL: pooler, Logger: slog.New(slog.NewTextHandler(heard, nil))})
	e, err := s.Start(patient(t), nothing(), quick())
	must(t, err)
	select {
	case <-heard.ch:
	case <-patient(t).Done():
		t.Error("nothing was said of the pooler")
	}
	if n := listening(t, db); n != 0 {
		t.Errorf("%d connections listen", n)
	}
	stop(t, e)

	s = storetest.Open(t, store.Config{URL: pooler, DirectURL: database})
	e, err = s.Start(patient(t), nothing(), quick())
	must(t, err)
	untilListening(t, db)
	stop(t, e)
}

// TestListensAgain: a connection that breaks before LISTEN is replaced.
func TestListensAgain(t *testing.T) {
	database := storetest.Postgres(t)
	db := storetest.Raw(t, database)
	b := &between{}
	s := storetest.Open(t, store.Config{URL: database, DirectURL: b.listen(t, database)})
	b.cuts.Store(1)
	e, err := s.Start(patient(t), nothing(), quick())
	must(t, err)
	untilListening(t, db)
	stop(t, e)
}

// TestDirectAddress: an address that can't be reached, or that names another database, is refused.
func TestDirectAddress(t *testing.T) {
	database := storetest.Postgres(t)
	for direct, want := range map[string]string{
		storetest.Postgres(t):              "another database",
		"postgres://sia:x@127.0.0.1:1/sia": "can't be reached at --db-direct",
		storetest.NewServer(t).URL("sia"):  "can't be reached at --db-direct",
	} {
		s, err := store.Open(patient(t), store.Config{URL: database, DirectURL: direct})
		if err == nil {
			t.Error(errors.Join(errors.New(want), s.Close()))
			continue
		}
		wantWords(t, err, want)
	}
}

func untilListening(t *testing.T, db *sql.DB) {
	t.Helper()
	for ctx := patient(t); listening(t, db) == 0; {
		if ctx.Err() != nil {
			t.Fatal("no connection listens")
		}
	}
}

// TestCancelByAnotherProcess: a cancellation reaches the process that runs the effect by a notification, without its
// heartbeats.
func TestCancelByAnotherProcess(t *testing.T) {
	s := &fixture{clock: &clock{}, url: storetest.Postgres(t)}
	s.Store = storetest.Open(t, store.Config{URL: s.url, Now: s.clock.now})
	db := storetest.Raw(t, s.url)
	w := newScript(t, s)
	began, ended := make(chan string, 1), make(chan error, 1)
	w.on[sia.DoAttempt] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		if f.Attempt > 1 {
			return w.well(ctx, task, f)
		}
		began <- f.Key
		select {
		case <-ctx.Done():
			ended <- context.Cause(ctx)
		case <-time.After(30 * time.Second): // River looks for cancellations once a minute
			ended <- errors.New("nothing was heard")
		}
		return sia.AttemptEnded{End: sia.EndCancelled}, nil
	}
	c, _ := otherEngine() // without heartbeats
	c.Lease = time.Hour
	engine(t, s, w.handlers(), c)
	for ctx := patient(t); len(column(t, db, `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND
		pid <> pg_backend_pid() AND state = 'idle' AND query LIKE 'LISTEN%leadership%'`)) == 0; {
		if ctx.Err() != nil {
			t.Fatal("no connection listens")
		}
	}
	begin(t, s, 42)
	must(t, s.beside(t).CancelEffect(patient(t), <-began))
	if err := <-ended; !errors.Is(err, store.ErrCancelled) {
		t.Error(err)
	}
}
