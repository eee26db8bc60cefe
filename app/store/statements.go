package store

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxStatements is the maximum number of compiled statements that a connection keeps. SIA
// and River have about two hundred; each takes a few kilobytes.
const maxStatements = 512

// cachingConnector is a driver.Connector whose connections cache compiled statements.
// Compiling takes SQLite longer than most of our statements take to run, and
// neither River nor database/sql caches them: they pass text each time.
type cachingConnector struct {
	driver driver.Driver
	dsn    string
}

// openCaching opens a pool of such connections to SQLite.
func openCaching(dsn string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	defer plain.Close() // only its driver is used
	return sql.OpenDB(cachingConnector{plain.Driver(), dsn}), nil
}

func (c cachingConnector) Driver() driver.Driver { return c.driver }

// Connect opens a connection. The driver opens a file, so there is nothing to
// cancel.
func (c cachingConnector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	//nolint:forcetypeassert // modernc.org/sqlite has no other
	return &cachingConn{sqliteConn: opened.(sqliteConn), idle: map[string]sqliteStmt{}}, nil
}

// sqliteConn is SQLite's connection without ExecContext and QueryContext, which database/sql would prefer.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachingConn is a connection with its idle compiled statements, by their text. Like every
// connection it is used by one goroutine at a time.
type cachingConn struct {
	sqliteConn
	idle map[string]sqliteStmt
}

// limitParameter matches a LIMIT with a parameter. SQLite reads its value when it plans a statement, and would compile
// the statement again each time one is bound (sqlite3ExprIsInteger, since 3.48). River's fetch of jobs, the most
// frequent statement, has one.
var limitParameter = lazyregexp.New(`\bLIMIT (\?\d*)`)

// PrepareContext takes a statement that was compiled before, or compiles one. database/sql prepares and closes a
// statement each time it runs text.
func (c *cachingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if stmt, ok := c.idle[query]; ok {
		delete(c.idle, query)
		return cachedStmt{stmt, c, query}, nil
	}
	prepared, err := c.sqliteConn.PrepareContext(ctx, limitParameter.ReplaceAllString(query, "LIMIT CAST($1 AS INTEGER)"))
	if err != nil {
		return nil, err
	}
	return cachedStmt{prepared.(sqliteStmt), c, query}, nil //nolint:forcetypeassert // the same
}

// Close closes the statements and then the connection.
func (c *cachingConn) Close() error {
	for _, stmt := range c.idle {
		_ = stmt.Close() // nothing failed on it
	}
	return c.sqliteConn.Close()
}

// cachedStmt is a statement that is kept when it is closed. The driver resets it after each run.
type cachedStmt struct {
	sqliteStmt
	conn  *cachingConn
	query string
}

// Close keeps the statement, unless one with the same text is kept already.
func (s cachedStmt) Close() error {
	idle := s.conn.idle
	if _, twice := idle[s.query]; twice {
		return s.sqliteStmt.Close()
	}
	if len(idle) >= maxStatements {
		for text, old := range idle { // any will do
			delete(idle, text)
			_ = old.Close() // nothing failed on it
			break
		}
	}
	idle[s.query] = s.sqliteStmt
	return nil
}
