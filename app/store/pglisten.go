package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sia-bot/sia/sia"
)

// errPooled means that a connection ends at a pooler. LISTEN there would have no effect for this process, and the
// server would keep notifying the pooler's connection, which logs each notification.
var errPooled = errors.New("a pooler stands before PostgreSQL")

// openListening opens the pool with River's connection for PostgreSQL's notifications.
func (s *postgresDialect) openListening(ctx context.Context) error {
	c, err := pgxpool.ParseConfig(s.direct.ConnString())
	if err != nil {
		return err
	}
	c.ConnConfig, c.MaxConns, c.BeforeConnect, c.AfterConnect = s.direct.Copy(), 1, readPassword, rejectPooler
	s.listening, err = pgxpool.NewWithConfig(ctx, c)
	return err
}

// checkDirect connects to the direct address and checks that it leads to the same database.
func (s *postgresDialect) checkDirect(ctx context.Context) error {
	if s.direct == s.config {
		return nil
	}
	const op, query = "open --db-direct", `SELECT system_identifier || ' ' || current_database() FROM pg_control_system()`
	var database, direct string
	if err := s.r.QueryRowContext(ctx, query).Scan(&database); err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, s.direct)
	if err == nil {
		err = errors.Join(conn.QueryRow(ctx, query).Scan(&direct), conn.Close(ctx))
	}
	switch {
	case err != nil:
		return &sia.Error{Op: op, Err: err, Message: "PostgreSQL can't be reached at --db-direct; check its host, port, " +
			"user and password"}
	case database != direct:
		return &sia.Error{Op: op, Permanent: true, Message: "--db-direct leads to another database than --db, where no " +
			"notification is sent; name the same one"}
	}
	return nil
}

// rejectPooler returns errPooled when a connection ends at a pooler: poolers report made-up process ids, to distinguish
// their clients.
func rejectPooler(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid)
	if err == nil && pid != conn.PgConn().PID() {
		err = errPooled
	}
	return err
}
