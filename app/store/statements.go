package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxStatements bounds the compiled statements that one connection keeps. SIA and
// River have some two hundred; each takes a few kilobytes.
const maxStatements = 512

// compiling opens connections that keep the statements they have compiled.
// Compiling takes SQLite longer than most of our statements take to run, and
// neither River nor database/sql keep them: they hand over text each time.
type compiling struct {
	driver driver.Driver
	dsn    string
}

// openCompiling opens a pool of such connections to SQLite.
func openCompiling(dsn string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	defer plain.Close() // it has no connection yet; only its driver is wanted
	return sql.OpenDB(compiling{plain.Driver(), dsn}), nil
}

func (c compiling) Driver() driver.Driver { return c.driver }

// Connect opens a connection. The driver opens a file, so there is nothing to
// cancel.
func (c compiling) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what database/sql needs of a connection", opened), opened.Close())
	}
	return &compiledConn{sqliteConn: conn, idle: map[string]compiledStmt{}}, nil
}

// sqliteConn is what SQLite's connection can do; database/sql asks for each by
// its own interface.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// compiledStmt is a statement of one connection.
type compiledStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// compiledConn is a connection with its compiled statements, by their text. Like
// every connection it is used by one goroutine at a time.
type compiledConn struct {
	sqliteConn
	idle map[string]compiledStmt
}

// ExecContext runs a statement that returns no rows.
func (c *compiledConn) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Result, error) {
	stmt, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	res, err := stmt.ExecContext(ctx, args)
	return res, c.put(query, stmt, err)
}

// QueryContext runs a statement. It is kept again when its rows are closed.
func (c *compiledConn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	stmt, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, c.put(query, stmt, err)
	}
	return &compiledRows{rows, c, query, stmt}, nil
}

// limitParameter is a limit that SQLite asks for when it plans a statement: it would compile that anew each time
// one is bound (sqlite3ExprIsInteger, since 3.48). River's fetch of jobs, which runs most, has one.
var limitParameter = lazyregexp.New(`\bLIMIT (\?\d*)`)

// take takes a statement that nobody uses; the same text can run twice at once.
func (c *compiledConn) take(ctx context.Context, query string) (compiledStmt, error) {
	if stmt, ok := c.idle[query]; ok {
		delete(c.idle, query)
		return stmt, nil
	}
	prepared, err := c.PrepareContext(ctx, limitParameter.ReplaceAllString(query, "LIMIT CAST($1 AS INTEGER)"))
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(compiledStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what database/sql needs of a statement", prepared), prepared.Close())
	}
	return stmt, nil
}

// put keeps a statement that worked, and closes one that did not: what state an
// error left it in is not known.
func (c *compiledConn) put(query string, stmt compiledStmt, err error) error {
	if _, twice := c.idle[query]; err != nil || twice {
		_ = stmt.Close() // it says again what err says
		return err
	}
	if len(c.idle) >= maxStatements {
		for text, old := range c.idle { // any will do
			delete(c.idle, text)
			_ = old.Close() // nothing failed on it
			break
		}
	}
	c.idle[query] = stmt
	return nil
}

// Close closes the statements and then the connection.
func (c *compiledConn) Close() error {
	for text, stmt := range c.idle {
		delete(c.idle, text)
		_ = stmt.Close() // nothing failed on it
	}
	return c.sqliteConn.Close()
}

// compiledRows gives the statement back when it is closed.
type compiledRows struct {
	driver.Rows
	conn  *compiledConn
	query string
	stmt  compiledStmt
}

// Close ends the rows. An error is what the statement's last step said.
func (r *compiledRows) Close() error {
	return r.conn.put(r.query, r.stmt, r.Rows.Close())
}
