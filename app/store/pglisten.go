package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// errPooled: a connection ends at a pooler. LISTEN there would not tell this process anything, and the server would go
// on notifying the pooler's connection, which logs each of these.
var errPooled = errors.New("a pooler stands before PostgreSQL")

// openListening opens the pool of which River takes the connection that hears PostgreSQL's notifications.
func (s *postgresDialect) openListening(ctx context.Context) error {
	c, err := pgxpool.ParseConfig(s.direct.ConnString())
	if err != nil {
		return err
	}
	c.ConnConfig, c.MaxConns, c.AfterConnect = s.direct.Copy(), 1, unpooled
	s.listening, err = pgxpool.NewWithConfig(ctx, c)
	return err
}

// unpooled is errPooled where a connection ends at a pooler: poolers make up the process's number, to tell their
// clients apart.
func unpooled(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid)
	if err == nil && pid != conn.PgConn().PID() {
		err = errPooled
	}
	return err
}
