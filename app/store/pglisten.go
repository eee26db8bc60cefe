package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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
	c.ConnConfig, c.MaxConns, c.AfterConnect = s.direct.Copy(), 1, rejectPooler
	s.listening, err = pgxpool.NewWithConfig(ctx, c)
	return err
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
