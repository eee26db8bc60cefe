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

// Postgres creates an empty, migrated database on the PostgreSQL server of this test binary, and returns its URL. It
// is dropped when the test ends.
func Postgres(t testing.TB) (url string) {
	t.Helper()
	return Shared(t).Database(t)
}

// Shared returns the PostgreSQL server that the tests of a test binary share.
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

// NewServer creates and starts a PostgreSQL server for one test.
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
// By default it does not sync to the disk: it may lose data when the machine crashes, but not when it is killed.
type Server struct {
	dir      string   // owned by the user that it runs as
	settings []string // such as fsync=on; they override the defaults for tests

	stop     func()
	template sync.Once
	made     error
	count    atomic.Int64
}

// startTimeout is the timeout for the start of a server.
const startTimeout = 2 * time.Minute

// StartServer creates and starts a server in an empty folder, with settings such as "fsync=on". The folder is deleted
// by Stop, or at the latest when the process ends.
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

// postgresFolders lists where distributions install the programs that are not in PATH.
var postgresFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"}

// command returns a PostgreSQL command that does not run as root, which PostgreSQL refuses.
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

// Start starts the server and waits until it accepts connections.
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
	// The shell's standard input closes when this process ends, for any reason; then it stops the server.
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
		_, _ = io.Copy(io.Discard, out) // so that the server never blocks on a write
	}()
	s.stop = sync.OnceFunc(func() {
		alive.Close()
		<-read
		_ = cmd.Wait() // it was asked to quit
	})
	select {
	case err = <-ready:
	case <-time.After(startTimeout):
		err = fmt.Errorf("start PostgreSQL: it is not ready after %s", startTimeout)
	}
	if err != nil {
		s.stop()
	}
	return err
}

// awaitReady reads the output of a server until it accepts connections.
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

// Kill ends the server like a crash, and keeps its data. Start starts it again.
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
	_ = os.RemoveAll(s.dir) // otherwise the system cleans up
}

// URL returns the URL of a database.
func (s *Server) URL(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("sia"), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}, "connect_timeout": {"60"}}.Encode()}).String()
}

const templateName = "sia_template"

// Database creates an empty, migrated database and returns its URL.
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

// Empty creates a database without tables and returns its URL.
func (s *Server) Empty(t testing.TB) string { return s.create(t, "") }

// Create creates a database without tables, which exists as long as the server, and returns its URL.
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

// Open opens another pool of connections to a database.
func (s *Server) Open(database string) (*sql.DB, error) { return sql.Open("pgx", s.URL(database)) }

func (s *Server) exec(query string) error {
	db, err := s.Open("postgres")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), query)
	return errors.Join(err, db.Close())
}
