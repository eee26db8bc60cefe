package store_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// TestPostgresTrouble: errors of the server or the address include advice, and never the password.
func TestPostgresTrouble(t *testing.T) {
	ctx := context.Background()
	server := storetest.Shared(t)
	plain := server.Database(t)
	raw := storetest.Raw(t, plain)
	t.Cleanup(func() {
		if _, err := raw.Exec(`DROP ROLE with_password, poor, busy, reader`); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range []string{
		`CREATE ROLE with_password LOGIN PASSWORD 'right'`,
		`CREATE ROLE poor LOGIN`,
		`CREATE ROLE busy LOGIN CONNECTION LIMIT 0`,
		`CREATE ROLE reader LOGIN SUPERUSER`,
		`ALTER ROLE reader SET default_transaction_read_only = on`,
	} {
		if _, err := raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	with := func(database string, change func(*url.URL)) string {
		u, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	as := func(user *url.Userinfo) func(*url.URL) { return func(u *url.URL) { u.User = user } }
	const secret, example = "hunter2-and-more", "postgres://user@host:5432/database" // not masked as a password
	for name, c := range map[string]struct{ url, want string }{
		"no server":      {"postgres://sia:" + secret + "@127.0.0.1:1/sia", "check that PostgreSQL runs there"},
		"no such host":   {"postgres://sia:" + secret + "@nowhere.invalid/sia", "check that PostgreSQL runs there"},
		"no database":    {with(plain, func(u *url.URL) { u.Path = "/none" }), `no database "none"`},
		"no such user":   {with(plain, as(url.UserPassword("nobody", secret))), `refuses user "nobody"`},
		"wrong password": {with(plain, as(url.UserPassword("with_password", secret))), `refuses user "with_password"`},
		"no connections": {with(plain, as(url.User("busy"))), "no connection left"},
		"read-only":      {with(plain, as(url.User("reader"))), "takes no writes"},
		"no schema": {with(plain, func(u *url.URL) { u.RawQuery += "&search_path=none" }),
			`make one: CREATE SCHEMA`},
		"no address":          {"postgres:sia", example},
		"@ in password":       {"postgres://sia:Geh@" + secret + "@127.0.0.1:1/sia", "write @ in a password as %40"},
		"@ and / in password": {"postgres://sia:p@ss/" + secret + "@127.0.0.1:1/sia", "write @ in a password as %40"},
		"# in password":       {"postgres://sia:p#" + secret + "@127.0.0.1:1/sia", "%23"},
		"bad port":            {"postgres://sia:" + secret + "@host:port/sia", example},
		"bad option":          {"postgres://sia:" + secret + "@host/sia?sslmode=maybe", example},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(ctx, store.Config{URL: c.url})
			if err == nil {
				t.Fatal(errors.Join(errors.New("it was opened"), s.Close()))
			}
			wantWords(t, err, c.want)
			if strings.Contains(err.Error(), secret) || strings.Contains(store.Named(c.url), secret) {
				t.Errorf("the password is told: %v, %s", err, store.Named(c.url))
			}
		})
	}
	t.Run("no rights", func(t *testing.T) {
		s, err := store.Open(ctx, store.Config{URL: with(server.Empty(t), as(url.User("poor")))})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, _, err = s.Migrate(ctx)
		wantWords(t, err, `OWNER TO "poor"`)
	})
	t.Run("disk full", func(t *testing.T) {
		if _, err := raw.Exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
			CREATE TRIGGER refuse BEFORE INSERT ON deliveries EXECUTE FUNCTION refuse()`); err != nil {
			t.Fatal(err)
		}
		s := storetest.Open(t, store.Config{URL: plain})
		_, err := s.SaveDelivery(ctx, store.Delivery{GUID: "a"})
		wantWords(t, err, "is full")
		if sia.IsPermanent(err) {
			t.Error("a full disk is said to be for ever")
		}
	})
}

// TestRights: CheckRights fails for a user without the right to create the tables, or to write to them.
func TestRights(t *testing.T) {
	server := storetest.Shared(t)
	made, empty := server.Database(t), server.Empty(t)
	raw := storetest.Raw(t, made)
	_, err := raw.Exec(`CREATE ROLE watcher LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO watcher;
		CREATE ROLE writer LOGIN; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO writer`)
	must(t, err)
	t.Cleanup(func() {
		if _, err := raw.Exec(`DROP OWNED BY watcher, writer; DROP ROLE watcher, writer`); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		database, user string
		ok             bool
	}{
		{made, "sia", true}, {made, "writer", true}, {made, "watcher", false}, {empty, "sia", true}, {empty, "writer", false},
	} {
		s := storetest.Open(t, store.Config{URL: strings.Replace(c.database, "sia@", c.user+"@", 1)})
		if err := s.CheckRights(patient(t)); c.ok {
			must(t, err)
		} else {
			wantWords(t, err, "OWNER TO")
		}
	}
}

// TestMoveLooksFirst: a move and its trial reject the same targets, and leave nothing there.
func TestMoveLooksFirst(t *testing.T) {
	server := storetest.Shared(t)
	taken := func(table string) string {
		to := server.Empty(t)
		_, err := storetest.Raw(t, to).Exec(`CREATE TABLE ` + table + ` (name text)`)
		must(t, err)
		return to
	}
	for name, c := range map[string]struct{ to, want, left string }{
		"no schema":     {server.Empty(t) + "&search_path=mine", "CREATE SCHEMA", ""},
		"another table": {taken("people"), "its table people", "public.people"},
		"of our name":   {taken("tasks"), "its table tasks", "public.tasks"},
	} {
		for _, try := range []bool{true, false} {
			_, err := store.Move(patient(t), store.Config{URL: storetest.SQLite(t)}, store.Config{URL: c.to}, try)
			if !sia.IsPermanent(err) {
				t.Errorf("%s, try %t: %v", name, try, err)
			}
			wantWords(t, err, c.want)
			if left := tablesIn(t, c.to); left != c.left {
				t.Errorf("%s, try %t: it left %s", name, try, left)
			}
		}
	}
	none := server.Empty(t)
	_, err := store.Move(patient(t), store.Config{URL: none}, store.Config{URL: server.Empty(t)}, true)
	wantWords(t, err, "there is no SIA database at "+none)
}

// tablesIn lists the tables of a database, except that of the schema's version.
func tablesIn(t *testing.T, url string) string {
	t.Helper()
	return strings.Join(column(t, storetest.Raw(t, url), `SELECT table_schema || '.' || table_name
		FROM information_schema.tables
		WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_name <> 'goose_db_version'`), " ")
}

// TestTrialAtAPooler: a move can be tried through a pooler, and leaves the database empty.
func TestTrialAtAPooler(t *testing.T) {
	pooler := (&between{pid: 7}).listen(t, storetest.Shared(t).Empty(t))
	for range 2 {
		_, err := store.Move(patient(t), store.Config{URL: storetest.SQLite(t)}, store.Config{URL: pooler}, true)
		must(t, err)
	}
}

// TestServersShareAClock: a store uses the database's clock if the machine's differs, so that servers on several
// machines agree on what is due.
func TestServersShareAClock(t *testing.T) {
	const ahead = 5 * time.Minute // of the database's clock, for a role that finds another function under its name
	plain := storetest.Postgres(t)
	if _, err := storetest.Raw(t, plain).Exec(`CREATE SCHEMA ahead;
		CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
			$$ SELECT pg_catalog.clock_timestamp() + interval '5 minutes' $$`); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(plain)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", "public,ahead,pg_catalog")
	u.RawQuery = q.Encode()
	for url, want := range map[string]time.Duration{plain: 0, u.String(): ahead} {
		s := storetest.Open(t, store.Config{URL: url})
		if off := time.Until(s.Now()); (off - want).Abs() > ahead/5 {
			t.Errorf("the store's clock is %s ahead of the machine's, want %s", off, want)
		}
	}
}

func wantWords(t *testing.T, err error, part string) {
	t.Helper()
	var e *sia.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, part) {
		t.Errorf("the error is %v, want a message with %q", err, part)
	}
}

// TestServerVanishes kills PostgreSQL repeatedly while a task runs, before and after each effect, and restarts it. The
// task ends as usual, each effect reports once, and no acknowledged delivery is lost.
func TestServerVanishes(t *testing.T) {
	server := storetest.NewServer(t)
	clock := &goingClock{} // jobs lost during an outage are found by their age
	s := storetest.Open(t, store.Config{URL: server.Database(t), Now: clock.now})
	id := sia.NewTaskID(7, 42)
	apply(t, s, id, sia.Event{ID: "start", At: clock.now(), Fact: sia.Start{Installation: 3,
		Repo: sia.Repo{ID: 7, Owner: "octo", Name: "demo"}, Issue: 42, Title: "t", DefaultBranch: "main"}})
	var mu sync.Mutex
	kills := 0
	kill := func(_ context.Context, when string, f sia.Effect) {
		mu.Lock()
		defer mu.Unlock()
		if f.Kind != sia.DoAttempt && f.Kind != sia.DoGate || f.Attempt > 1 {
			return
		}
		kills++
		if err := errors.Join(server.Kill(), server.Start()); err != nil {
			t.Error(err)
		}
		if _, err := s.SaveDelivery(context.Background(), store.Delivery{GUID: when + f.Key, Event: "issues"}); err != nil {
			t.Errorf("a delivery while the server comes back: %v", err)
		}
	}
	finishDespite(t, s, clock, id, kill, store.EngineConfig{Lease: 2 * time.Second}, func(err error) bool {
		mu.Lock() // until the server is back
		defer mu.Unlock()
		var away *sia.Error
		return errors.As(err, &away)
	})
	if kills < 4 {
		t.Errorf("the server was killed %d times", kills)
	}
	// A delivery that River was fetching when the server died is processed after a while.
	clock.set(clock.now().Add(time.Hour))
	beats := make(chan time.Time)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := s.Start(ctx, store.Handlers{Effect: allWell,
		Delivery: func(context.Context, store.Delivery) error { return nil }}, store.EngineConfig{Heartbeats: beats})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	for left := (store.Backlog{Waiting: 1}); left.Waiting > 0; {
		select {
		case beats <- time.Now():
		case <-ctx.Done():
			t.Fatalf("deliveries are left: %+v", left)
		}
		if left, err = s.DeliveryBacklog(ctx); err != nil || left.Failed > 0 {
			t.Fatalf("deliveries: %+v, %v", left, err)
		}
	}
}

// A title is found by its words in any language of the server, which may have other rules for upper case than the
// comparison.
func TestTitlesAreFoundInAnyLanguage(t *testing.T) {
	server := storetest.Shared(t)
	if _, err := server.Create(`sia_french LOCALE_PROVIDER icu ICU_LOCALE 'fr-FR' TEMPLATE template0`); err != nil {
		t.Fatal(err)
	}
	s := storetest.Open(t, store.Config{URL: server.URL("sia_french")})
	if _, _, err := s.Migrate(patient(t)); err != nil {
		t.Fatal(err)
	}
	id, e := start(1, at(0))
	f := e.Fact.(sia.Start)
	f.Title = "École: the FORM is empty"
	e.Fact = f
	_, err := s.Apply(patient(t), id, e)
	must(t, err)
	for _, text := range []string{"École", "the form"} {
		found, err := s.FindTasks(patient(t), store.SeesAll(), store.Find{Text: text, Limit: 9})
		if must(t, err); len(found) != 1 {
			t.Errorf("%q finds %d tasks, want 1", text, len(found))
		}
	}
}

// A condition with a list uses an index, for small tables and with or without statistics of the server.
func TestListIsLookedUp(t *testing.T) {
	ctx := context.Background()
	url := storetest.Shared(t).Database(t)
	s := storetest.Open(t, store.Config{URL: url})
	if _, _, err := s.Migrate(patient(t)); err != nil {
		t.Fatal(err)
	}
	raw := storetest.Raw(t, url)
	if _, err := raw.ExecContext(ctx, `INSERT INTO deliveries
		(guid, event, action, installation_id, repo, body, received_at)
		SELECT 'guid-' || n, 'push', '', 1, 'o/r', '', 0 FROM generate_series(1, 20000) n`); err != nil {
		t.Fatal(err)
	}
	query := strings.Replace(s.AmongQuery(), "?", `'["guid-7"]'`, 1)
	rows, err := raw.QueryContext(ctx, "EXPLAIN "+query)
	must(t, err)
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		plan.WriteString(line + "\n")
	}
	must(t, rows.Err())
	if strings.Contains(plan.String(), "Seq Scan") {
		t.Errorf("the table is read as a whole:\n%s", &plan)
	}
}
