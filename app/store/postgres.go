package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// All PostgreSQL-specific code is in this file and in the files with the prefix pg.

const (
	oldestPostgres      = 15
	postgresTimeout     = 5 * time.Second  // to connect
	postgresUserTimeout = 30 * time.Second // maximum time without a TCP acknowledgement of sent data

	// Connections of one process, which has one more that listens. A server allows 100 by default.
	postgresReaders = 8
	postgresWriters = 8
	postgresRiver   = 6

	// postgresWrite is the timeout of a transaction, even if its caller allows more.
	postgresWrite = time.Minute
)

// IsPostgres reports whether a URL is that of a PostgreSQL database.
func IsPostgres(raw string) bool {
	return strings.HasPrefix(raw, "postgres:") || strings.HasPrefix(raw, "postgresql:")
}

// postgresDialect implements dialect for PostgreSQL: transactions of several processes run concurrently.
type postgresDialect struct {
	*DB
	config, direct *pgx.ConnConfig
	listening      *pgxpool.Pool
	clock          sharedClock
}

// newPostgres parses the addresses. It opens nothing.
func newPostgres(s *DB, c Config) (*postgresDialect, error) {
	d := &postgresDialect{DB: s}
	var err error
	if d.config, err = postgresConfig(c.URL); err != nil {
		return nil, err
	}
	d.direct = d.config
	if c.DirectURL == "" {
		return d, nil
	}
	d.direct, err = postgresConfig(c.DirectURL)
	return d, err
}

// escapes is advice for a password that makes an address ambiguous.
const escapes = "write @ in a password as %40, and / # ? % [ as %2F %23 %3F %25 %5B"

func postgresConfig(raw string) (*pgx.ConnConfig, error) {
	const op = "open the database"
	bad := func(why string) error {
		return &sia.Error{Op: op, Permanent: true, Message: why +
			"; give a URL such as postgres://user@host:5432/database"}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return nil, bad("the address of the PostgreSQL database can't be read, " + escapes) // Parse's error has the password
	}
	c, err := pgx.ParseConfig(raw)
	if err != nil {
		why := err.Error()
		if password, ok := u.User.Password(); ok && strings.Contains(why, password) {
			why = "it can't be read"
		}
		return nil, bad("the address " + Named(raw) + " is wrong: " + why)
	}
	if strings.Contains(c.Host+c.Database, "@") { // a part of the password
		return nil, bad("the address of the PostgreSQL database has more than one @, " + escapes)
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = postgresTimeout
	}
	// Detect a dead peer within half a minute, also while data is being sent.
	c.DialFunc = (&net.Dialer{Timeout: c.ConnectTimeout, Control: setUserTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}).DialContext
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "sia"
	}
	return c, nil
}

// readPassword reads the password of a new connection from PostgreSQL's variables and files again, where it may have
// been changed. One in the address stays, and so does one that can't be read.
func readPassword(_ context.Context, c *pgx.ConnConfig) error {
	if again, err := pgx.ParseConfig(c.ConnString()); err == nil {
		c.Password = again.Password
	}
	return nil
}

// Named returns a database's URL without its password, for messages and logs.
func Named(raw string) string {
	if !IsPostgres(raw) {
		return raw
	}
	u, err := url.Parse(raw)
	if err != nil || strings.Contains(u.Host+u.Path, "@") { // the second: a part of the password
		return "postgres:"
	}
	q := u.Query()
	for _, secret := range []string{"password", "sslpassword"} {
		if q.Has(secret) {
			q.Set(secret, "xxxxx")
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}

// Password returns the password in a database's URL, or the one in PostgreSQL's variables or files for it; "" if
// there is none.
func Password(raw string) string {
	if !IsPostgres(raw) {
		return ""
	}
	c, err := pgx.ParseConfig(raw)
	if err != nil {
		return ""
	}
	return c.Password
}

func (s *postgresDialect) name() string {
	host := net.JoinHostPort(s.config.Host, fmt.Sprint(s.config.Port))
	if strings.HasPrefix(s.config.Host, "/") {
		host = s.config.Host
	}
	return fmt.Sprintf("%s on %s", s.config.Database, host)
}

func (*postgresDialect) goose() goose.Dialect { return goose.DialectPostgres }

func (*postgresDialect) versionTableQuery() string {
	return `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version')`
}

func (s *postgresDialect) open(ctx context.Context) error {
	for _, p := range []struct {
		pool  **sql.DB
		conns int
	}{{&s.w, postgresWriters}, {&s.r, postgresReaders}, {&s.DB.river, postgresRiver}} {
		*p.pool = sql.OpenDB(paramConnector{stdlib.GetConnector(*s.config, stdlib.OptionBeforeConnect(readPassword))})
		(*p.pool).SetMaxOpenConns(p.conns)
		(*p.pool).SetMaxIdleConns(p.conns)
		(*p.pool).SetConnMaxIdleTime(5 * time.Minute)
	}
	if err := s.openListening(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*postgresTimeout)
	defer cancel()
	var version int
	var readOnly, nowhere bool // nowhere: no schema of search_path exists
	var path string
	err := s.r.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int,
		pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool,
		current_schema() IS NULL, current_setting('search_path')`).Scan(&version, &readOnly, &nowhere, &path)
	switch {
	case err != nil:
		return err
	case version < oldestPostgres*10_000:
		return &sia.Error{Op: "open the database " + s.name(), Permanent: true, Message: fmt.Sprintf(
			"the server is PostgreSQL %d and SIA needs %d or newer; upgrade it, or name another", version/10_000,
			oldestPostgres)}
	case readOnly:
		return &sia.Error{Op: "open the database " + s.name(), Permanent: true, Message: "the server takes no writes: it " +
			"is a standby, or default_transaction_read_only is set; name the primary"}
	case nowhere:
		return &sia.Error{Op: "open the database " + s.name(), Permanent: true, Message: fmt.Sprintf(
			"there is no schema that user %q may use in its search_path, %s; make one: CREATE SCHEMA name AUTHORIZATION %[1]q",
			s.config.User, path)}
	}
	if err := s.checkDirect(ctx); err != nil {
		return err
	}
	if s.now == nil {
		s.now = s.clock.now
		return s.readClock(ctx)
	}
	return nil
}

func (s *postgresDialect) close() error {
	if s.listening != nil {
		s.listening.Close()
	}
	return nil
}

// background reads the server's clock periodically, because clocks are adjusted and drift.
func (s *postgresDialect) background(ctx context.Context) {
	t := time.NewTicker(clockEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		reading, cancel := context.WithTimeout(ctx, postgresTimeout)
		_ = s.readClock(reading) // the server is unreachable: other code reports that, and the clock keeps its offset
		cancel()
	}
}

// committers returns 2: while one waits until its commit is on the disk, the other inserts. With more of them each
// transaction has fewer deliveries, and a delivery costs more CPU time: 1,105 µs with four, 915 µs with two.
func (*postgresDialect) committers() int { return 2 }

func (s *postgresDialect) begin(ctx context.Context) (*sql.Tx, func(), error) {
	conn, err := s.w.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	// A commit must not be canceled, because its result would be unknown. Statements end with their own contexts.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), postgresWrite)
	done := func() {
		cancel()
		_ = conn.Close() // returns it to the pool
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		done()
		return nil, nil, err
	}
	return tx, done, nil
}

// retryable reports whether the transaction conflicted with another, or lost its server before the commit: it changed
// nothing.
// https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html
func (*postgresDialect) retryable(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01") {
		return true
	}
	var committing *commitError
	return !errors.As(err, &committing) && connectionLost(err)
}

func (*postgresDialect) unreachable(err error) bool { return connectionLost(err) }

// connectionLost reports whether the connection to the server was lost or could not be made.
func connectionLost(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		// 57P01 to 57P03: the server is being stopped, crashed or started
		return strings.HasPrefix(e.Code, "57P0") || strings.HasPrefix(e.Code, "08")
	}
	var unreached *pgconn.ConnectError
	if errors.As(err, &unreached) && errors.Is(err, context.DeadlineExceeded) {
		return true // the connect timeout is ours: the caller's context may still be active
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || pgconn.SafeToRetry(err)
}

// advisoryLock takes an advisory lock: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS. A
// hash collision of two names only makes their transactions wait for each other.
func (*postgresDialect) advisoryLock(ctx context.Context, tx *sql.Tx, what string) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended(?, 0))`, what)
	return err
}

func (*postgresDialect) forUpdate() string { return ` FOR UPDATE` }

func (s *postgresDialect) snapshot(ctx context.Context) (*sql.Tx, error) {
	return s.r.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
}

func (s *postgresDialect) driver() riverdriver.Driver[*sql.Tx] {
	return commitDriver{Driver: riverdatabasesql.NewWithPgxListener(s.DB.river, s.listening), s: s.DB}
}

var (
	tlsError = lazyregexp.New(`TLS|tls: |x509: `)
	// poolerTransient matches temporary errors of PgBouncer, which uses the code 08P01 also for permanent ones.
	poolerTransient = lazyregexp.New(`timeout|server|database system`)
)

// message implements dialect. Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
func (s *postgresDialect) message(err error) string {
	var e *pgconn.PgError
	var unreached *pgconn.ConnectError
	db := s.name()
	if !errors.As(err, &e) {
		switch unconnected := errors.As(err, &unreached); {
		case unconnected && tlsError.MatchString(err.Error()):
			return "the database " + db + " can't be reached with TLS; check the server's certificate, and sslmode in --db. " +
				"Its authority is one that this machine trusts, or is named there with sslrootcert=FILE"
		case unconnected || connectionLost(err):
			return "the database " + db + " can't be reached; check that PostgreSQL runs there, and host and port in --db. " +
				"A running server goes on when it is back"
		}
		return ""
	}
	switch connecting := errors.As(err, &unreached); {
	case connecting && e.Code == "08P01" && strings.HasPrefix(e.Message, "unsupported startup parameter"):
		return "PgBouncer, before the database " + db + ", takes no such parameter (" + e.Message +
			"); leave it out of --db, and give it to the user in PostgreSQL, with ALTER ROLE"
	case connecting && e.Code == "08P01" && !poolerTransient.MatchString(e.Message):
		return "PgBouncer, before the database " + db + ", refuses this (" + e.Message + "); check user, password and " +
			"database in --db, and that its [databases] and its auth_file have them"
	case connecting && (e.Code == "42704" || e.Code == "22023"):
		return "the server of the database " + db + " takes no such parameter (" + e.Message + "); leave it out of --db"
	case e.Code == "42P05" || e.Code == "26000":
		return "a pooler that knows no prepared statements stands before the database " + db + "; add " +
			"default_query_exec_mode=exec to --db"
	case e.Code == "28P01" || e.Code == "28000":
		return fmt.Sprintf("the database %s refuses user %q; check user and password in --db, and pg_hba.conf", db,
			s.config.User)
	case e.Code == "3D000":
		return fmt.Sprintf("there is no database %q on the server; make it: createdb -O %s %[1]s", s.config.Database,
			s.config.User)
	case e.Code == "42P01" || e.Code == "42703":
		return "the database " + db + " " + olderSchema
	case e.Code == "42501":
		return s.noPrivilege("that")
	case e.Code == "25006":
		return "the database " + db + " takes no writes; name the primary in --db, not a standby"
	case e.Code == "53100":
		return "the disk of the database " + db + " is full; free some space and SIA goes on where it was"
	case e.Code == "53300":
		return fmt.Sprintf("the database %s has no connection left; raise max_connections, or put PgBouncer in front: a "+
			"process of SIA takes up to %d", db, postgresReaders+postgresWriters+postgresRiver+1)
	case connectionLost(err):
		return "the database " + db + " is being stopped or started; a running server goes on when it is back"
	case e.Code == "40001" || e.Code == "40P01":
		return "other transactions kept getting into the way on the database " + db + "; try again"
	case strings.HasPrefix(e.Code, "58") || strings.HasPrefix(e.Code, "XX"):
		return "the database " + db + " reported an error of its own (" + e.Message + "); its log has the details"
	}
	return ""
}

// noPrivilege returns the message for a missing privilege.
func (s *postgresDialect) noPrivilege(what string) string {
	return fmt.Sprintf("user %q has no right to %s in the database %s; make it the owner: "+
		"ALTER DATABASE %q OWNER TO %[1]q", s.config.User, what, s.name(), s.config.Database)
}

func (s *postgresDialect) checkRights(ctx context.Context) error {
	const op = "look at the user's rights"
	var may bool
	err := s.r.QueryRowContext(ctx, `SELECT CASE WHEN to_regclass(quote_ident(current_schema()) || '.tasks') IS NULL
		THEN has_schema_privilege(current_schema(), 'CREATE')
		ELSE has_table_privilege(quote_ident(current_schema()) || '.tasks', 'INSERT') END`).Scan(&may)
	if err != nil || may {
		return s.explain(op, err)
	}
	return &sia.Error{Op: op, Permanent: true, Message: s.noPrivilege("write")}
}

func (*postgresDialect) shared() bool { return true }

// claim always fails: PostgreSQL is shared.
func (*postgresDialect) claim(context.Context) (unlock func() error, err error) {
	return nil, errors.New("no process has a PostgreSQL database to itself")
}

// requeueOrphans does nothing: expired leases reveal dead processes.
func (*postgresDialect) requeueOrphans(context.Context) (jobs int64, err error) { return 0, nil }

// inList uses ANY: with IN, PostgreSQL assumes a list of a hundred values, whatever its length, and scans the whole
// table.
// deliveryRows implements dialect: one statement for any number of rows.
func (*postgresDialect) deliveryRows(all []*savedDelivery) (n int, rows string, args []any) {
	var guids, events, actions, repos []string
	var installations, received []int64
	var bodies [][]byte
	for _, d := range all {
		guids, events = append(guids, portableText(d.GUID)), append(events, portableText(d.Event))
		actions, repos = append(actions, portableText(d.Action)), append(repos, portableText(d.Repo))
		installations, received = append(installations, d.Installation), append(received, micros(d.Received))
		bodies = append(bodies, d.Body)
	}
	return len(all), `SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bytea[],
		$7::bigint[])`, []any{guids, events, actions, installations, repos, bodies, received}
}

func (*postgresDialect) inList(kind listKind) string {
	if kind == numbers {
		return `= ANY (ARRAY(SELECT value::bigint FROM json_array_elements_text(?::json)))`
	}
	return `= ANY (ARRAY(SELECT value FROM json_array_elements_text(?::json)))`
}

func (*postgresDialect) listRows() string { return `json_array_elements_text(?::json)` }

func (*postgresDialect) repoOf(column string) string {
	return `CAST(split_part(` + column + `, '-', 1) AS bigint)`
}

func (*postgresDialect) stamp(t time.Time) any { return t }

// leaseClock returns the server's clock, because the clocks of the engines' machines differ.
func (*postgresDialect) leaseClock() string {
	return `CAST(1000000 * extract(epoch FROM clock_timestamp()) AS bigint)`
}

// Backup implements dialect.
func (*postgresDialect) Backup(context.Context, string) (int64, error) {
	return 0, &sia.Error{Op: "back up the database", Permanent: true, Message: "SIA does not copy a PostgreSQL " +
		"database; use pg_dump --format=custom, or PostgreSQL's continuous archiving (docs/postgresql.md)"}
}

// Files implements dialect.
func (*postgresDialect) Files() []string { return nil }

// compact: PostgreSQL's own VACUUM FULL.
func (s *postgresDialect) compact(ctx context.Context) error {
	_, err := s.r.ExecContext(ctx, `VACUUM FULL`)
	return err
}

func (*postgresDialect) columnsQuery() string {
	// indkey counts from 0
	return `SELECT c.relname, a.attname, format_type(a.atttypid, NULL),
			coalesce(array_position(k.indkey::int2[], a.attnum) + 1, 0),
			EXISTS (SELECT 1 FROM pg_attribute r WHERE r.attrelid = c.oid AND r.attname = 'rowid')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index k ON k.indrelid = c.oid AND k.indisprimary
		WHERE c.relkind = 'r' AND c.relname NOT LIKE 'river_%' AND c.relname NOT LIKE 'goose_%' AND a.attname <> 'rowid'
		ORDER BY c.relname COLLATE "C", a.attnum`
}

// advanceSequence sets the sequence, which the inserts of copied numbers did not advance.
func (*postgresDialect) advanceSequence(ctx context.Context, tx *sql.Tx, t table) error {
	number := t.number()
	if number == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence(?, ?), greatest(max(`+number+`), 1), count(*) > 0)
		FROM `+t.name, t.name, number)
	return err
}

// requireIdle looks for a leader: running servers elect one for fifteen seconds at a time.
func (s *postgresDialect) requireIdle(ctx context.Context) (release func() error, err error) {
	release = func() error { return nil }
	if v, err := s.Version(ctx); err != nil || v == 0 {
		return release, err
	}
	leader, err := load(ctx, s.DB, "look who works on "+s.name(), scanValue[string],
		`SELECT leader_id FROM river_leader WHERE expires_at > now()`)
	if errors.Is(err, ErrNotFound) {
		return release, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, &sia.Error{Op: "move", Permanent: true, Message: "a server works on the database " + s.name() + " (" +
		leader + "); stop it, and try again fifteen seconds later"}
}
