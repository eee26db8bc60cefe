package store_test

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// logLines is a log; each line is one record.
type logLines chan string

func (l logLines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// until returns the lines up to one that contains a text.
func (l logLines) until(t *testing.T, text string) (lines []string) {
	t.Helper()
	ctx := patient(t)
	for {
		select {
		case line := <-l:
			if lines = append(lines, line); strings.Contains(line, text) {
				return lines
			}
		case <-ctx.Done():
			t.Fatalf("no line has %q:\n%s", text, strings.Join(lines, ""))
		}
	}
}

// TestOutageIsLogged: an outage of the database is two lines of the log, however much meets it.
func TestOutageIsLogged(t *testing.T) {
	server := storetest.NewServer(t)
	log := make(logLines, 10_000)
	s := storetest.Open(t, store.Config{URL: server.Database(t), Logger: slog.New(slog.NewTextHandler(log, nil))})
	id, e := start(42, time.Now())
	if _, err := s.Apply(patient(t), id, e); err != nil {
		t.Fatal(err)
	}
	beats, began, down := make(chan time.Time), make(chan bool, 100), make(chan bool)
	engine, err := s.Start(patient(t), store.Handlers{
		Effect: func(ctx context.Context, _ sia.Task, f sia.Effect) (sia.Fact, error) {
			began <- true
			<-down
			return sia.Done{}, s.MarkRunnerSeen(ctx, "mill", f.Key, false)
		}, Delivery: func(context.Context, store.Delivery) error { return nil },
	}, store.EngineConfig{Heartbeats: beats})
	must(t, err)
	t.Cleanup(func() { stop(t, engine) })
	<-began
	must(t, server.Kill())
	close(down) // the effects fail for the database, and can't be put off
	beats <- time.Now()
	before := log.until(t, "the database is away")
	must(t, server.Start())
	after := log.until(t, "the database is back")
	for _, line := range before[:len(before)-1] { // what finds it first
		if !strings.Contains(line, `by="job engine"`) && !strings.Contains(line, "notifications can't be heard") &&
			!strings.Contains(line, "can't be reached") && !strings.Contains(line, "level=INFO") {
			t.Errorf("besides: %s", line)
		}
	}
	for _, line := range after[:len(after)-1] {
		if !strings.Contains(line, "level=INFO") {
			t.Errorf("meanwhile: %s", line)
		}
	}
	line := before[len(before)-1]
	if !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "PostgreSQL runs") {
		t.Error(line)
	}
}

// TestPasswordIsReadAgain: a password that was changed in the password file is used for the next connection.
func TestPasswordIsReadAgain(t *testing.T) {
	server := storetest.NewServer(t)
	raw := storetest.Raw(t, server.Empty(t))
	file := filepath.Join(t.TempDir(), "pgpass")
	change := func(password, statement string) {
		t.Helper()
		must(t, os.WriteFile(file, []byte("*:*:*:*:"+password+"\n"), 0o600))
		_, err := raw.Exec(statement + ` LOGIN PASSWORD '` + password + `'`)
		must(t, err)
	}
	change("first", `CREATE ROLE with_password SUPERUSER`)
	u, err := url.Parse(server.Database(t))
	must(t, err)
	query := u.Query()
	query.Set("passfile", file)
	u.User, u.RawQuery = url.User("with_password"), query.Encode()
	s := storetest.Open(t, store.Config{URL: u.String()})
	change("second", `ALTER ROLE with_password`)
	_, err = raw.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'with_password'`)
	must(t, err)
	for { // the first tries find that connections were closed
		_, err := s.Halt(patient(t), store.Halt{Scope: sia.ServerHalt})
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "is being stopped or started") {
			t.Fatal(err)
		}
	}
}
