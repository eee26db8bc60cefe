package storetest

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/sia-bot/sia/app/store"
)

// Postgres makes an empty, migrated database on a PostgreSQL server of this test binary's own, and returns its URL. It
// is gone when the test ends.
func Postgres(t testing.TB) (url string) {
	t.Helper()
	return Shared(t).Database(t)
}

// Shared is the PostgreSQL server that a test binary's tests have together.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var shared = sync.OnceValues(func() (*Server, error) {
	dir, err := os.MkdirTemp("", "sia-pg-")
	if err != nil {
		return nil, err
	}
	return StartServer(dir)
})

// NewServer makes a PostgreSQL server of the test's own and starts it.
func NewServer(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "sia-pg-")
	if err != nil {
		t.Fatal(err)
	}
	s, err := StartServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Server is a real PostgreSQL server on a Unix socket. Its data is deleted when the test binary ends, at the latest.
// Unless settings say otherwise it forces nothing onto the disk: it may lose data with the machine, and not when it
// is killed.
type Server struct {
	dir      string   // owned by the user that it runs as
	settings []string // such as fsync=on; they come after what tests start it with

	stop     func()
	template sync.Once
	made     error
	count    atomic.Int64
}

// patience is how long a server may take to start.
const patience = 2 * time.Minute

// StartServer makes a server in an empty folder and starts it, with settings such as "fsync=on". The folder is deleted
// when the server stops for good: with the process at the latest.
func StartServer(dir string, settings ...string) (*Server, error) {
	s := &Server{dir: dir, settings: settings}
	if err := errors.Join(os.Chmod(dir, 0o711), ChownToServer(dir)); err != nil {
		return nil, err
	}
	initdb, err := s.command("initdb", "-D", s.data(), "-U", "sia", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return nil, err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	rules := "local all with_password scram-sha-256\nlocal all all trust\n" // the first one is for tests of passwords
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return nil, err
	}
	return s, s.Start()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// postgresFolders are where the packages of distributions put programs that are not in PATH.
var postgresFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"}

// command is a command of PostgreSQL, to be run as somebody who may: it refuses root.
func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	var found []string
	for _, pattern := range postgresFolders {
		all, err := filepath.Glob(filepath.Join(pattern, name))
		if err != nil {
			return nil, err
		}
		found = append(found, all...)
	}
	slices.Sort(found)
	if path, err := exec.LookPath(name); err == nil && len(found) == 0 {
		found = append(found, path)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no %s on this machine; `make deps` installs PostgreSQL", name)
	}
	cmd := exec.CommandContext(context.Background(), found[len(found)-1], args...)
	cmd.Dir = s.dir
	AsServer(cmd)
	return cmd, nil
}

// Start starts the server, which waits until it takes connections.
func (s *Server) Start() error {
	args := []string{"-D", s.data(), "-k", s.dir}
	for _, setting := range append([]string{"listen_addresses=", "fsync=off", "full_page_writes=off",
		"max_connections=400", "shared_buffers=64MB", "max_wal_size=64MB"}, s.settings...) {
		args = append(args, "-c", setting)
	}
	postgres, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	// It ends with this process, however that ends: the shell reads until then.
	script := `"$@" 2>&1 & cat > /dev/null; kill -QUIT $!; wait $!; [ -e keep ] || rm -rf ./*`
	cmd := exec.CommandContext(context.Background(), "/bin/sh", append([]string{"-c", script, "sh"}, postgres.Args...)...)
	cmd.Args[4] = postgres.Path
	cmd.Dir = s.dir
	AsServer(cmd)
	alive, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ready, read := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(read)
		ready <- awaitReady(out)
		_, _ = io.Copy(io.Discard, out) // so that the server never waits for a reader
	}()
	s.stop = sync.OnceFunc(func() {
		alive.Close()
		<-read
		_ = cmd.Wait() // it was told to quit
	})
	select {
	case err = <-ready:
	case <-time.After(patience):
		err = fmt.Errorf("start PostgreSQL: it is not ready after %s", patience)
	}
	if err != nil {
		s.stop()
	}
	return err
}

// awaitReady reads what a server prints until it takes connections.
func awaitReady(out io.Reader) error {
	var said strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "database system is ready to accept connections") {
			return nil
		}
		said.WriteString(lines.Text() + "\n")
	}
	return fmt.Errorf("start PostgreSQL: it ended: %w\n%s", cmp.Or(lines.Err(), io.EOF), said.String())
}

// Kill ends the server without a word to its clients, as a crash does. Start starts it again, with its data.
func (s *Server) Kill() error {
	keep := filepath.Join(s.dir, "keep")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		return err
	}
	s.stop()
	return os.Remove(keep)
}

// Stop ends the server and deletes its data.
func (s *Server) Stop() {
	s.stop()
	_ = os.RemoveAll(s.dir) // else the system's cleaning up does
}

// URL is that of a database.
func (s *Server) URL(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("sia"), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}, "connect_timeout": {"60"}}.Encode()}).String()
}

const templateName = "sia_template"

// Database makes an empty, migrated database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.template.Do(func() {
		if s.made = s.exec(`CREATE DATABASE ` + templateName); s.made != nil {
			return
		}
		var db *store.Store
		if db, s.made = store.Open(context.Background(), store.Config{URL: s.URL(templateName)}); s.made == nil {
			_, _, err := db.Migrate(context.Background())
			s.made = errors.Join(err, db.Close())
		}
	})
	if s.made != nil {
		t.Fatal(s.made)
	}
	return s.create(t, "TEMPLATE "+templateName)
}

// Empty makes a database with no tables and returns its URL.
func (s *Server) Empty(t testing.TB) string { return s.create(t, "") }

// Create makes a database with no tables, which lasts as long as the server, and returns its URL.
func (s *Server) Create(name string) (string, error) {
	return s.URL(name), s.exec(`CREATE DATABASE ` + name)
}

func (s *Server) create(t testing.TB, how string) string {
	t.Helper()
	name := fmt.Sprintf("sia_%d", s.count.Add(1))
	if _, err := s.Create(name + ` ` + how); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.exec(`DROP DATABASE ` + name + ` WITH (FORCE)`); err != nil {
			t.Log(err) // the server may be gone
		}
	})
	return s.URL(name)
}

// Open opens a database beside the store.
func (s *Server) Open(database string) (*sql.DB, error) { return sql.Open("pgx", s.URL(database)) }

func (s *Server) exec(query string) error {
	db, err := s.Open("postgres")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), query)
	return errors.Join(err, db.Close())
}
