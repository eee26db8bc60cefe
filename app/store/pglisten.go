package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
)

const (
	// listenAgain is when a connection that listens is made anew. Until then workers look once a second.
	listenAgain = 5 * time.Second
	pooledAgain = time.Minute // the same where a pooler stood before the server
)

// listen makes a listener for River's client.
func (s *postgresDialect) listen(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return &postgresListener{config: s.direct, log: s.log, topics: map[string]bool{}, again: make(chan struct{}, 1)}
}

// errPooled: a connection ends at a pooler. LISTEN there would not tell this process anything, and the server would go
// on notifying the pooler's connection, which logs each of these.
var errPooled = errors.New("a pooler stands before PostgreSQL")

// postgresListener hears PostgreSQL's notifications, over a connection of its own. It never fails: while there is no
// connection it hears nothing. One goroutine waits; the other methods may be called meanwhile.
type postgresListener struct {
	config *pgx.ConnConfig
	log    *slog.Logger
	conn   *pgx.Conn     // of the goroutine that waits
	prefix string        // of topics, to tell schemas apart
	stale  bool          // conn does not listen to the topics as they are
	again  chan struct{} // of length 1: the topics changed
	pooled bool          // it was said that a pooler stands before the server

	mu     sync.Mutex
	topics map[string]bool
}

// Connect implements riverdriver.Listener.
func (*postgresListener) Connect(context.Context) error { return nil }

// Close implements riverdriver.Listener.
func (l *postgresListener) Close(ctx context.Context) error { return l.drop(ctx) }

// Listen implements riverdriver.Listener.
func (l *postgresListener) Listen(_ context.Context, topic string) error { return l.set(topic, true) }

// Unlisten implements riverdriver.Listener.
func (l *postgresListener) Unlisten(_ context.Context, topic string) error {
	return l.set(topic, false)
}

func (l *postgresListener) set(topic string, heard bool) error {
	l.mu.Lock()
	l.topics[topic] = heard
	l.mu.Unlock()
	select {
	case l.again <- struct{}{}:
	default:
	}
	return nil
}

// Ping implements riverdriver.Listener.
func (*postgresListener) Ping(context.Context) error { return nil }

// Schema implements riverdriver.Listener.
func (*postgresListener) Schema() string { return "" }

// SetAfterConnectExec implements riverdriver.Listener; only River's own tests call it.
func (*postgresListener) SetAfterConnectExec(string) {}

// WaitForNotification implements riverdriver.Listener.
func (l *postgresListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		n, err := l.wait(ctx)
		switch {
		case n != nil:
			return n, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			continue
		case errors.Is(err, errPooled):
			if !l.pooled {
				l.pooled = true
				l.log.InfoContext(ctx, "a pooler such as PgBouncer stands before PostgreSQL: other processes' jobs are found by "+
					"looking once a second. Name PostgreSQL itself with --db-direct to be notified")
			}
			select {
			case <-time.After(pooledAgain):
			case <-ctx.Done():
			}
			continue
		}
		l.log.WarnContext(ctx, "PostgreSQL's notifications can't be heard: other processes' jobs are found by looking once "+
			"a second", "again_in", listenAgain, "err", err)
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// wait waits for a notification, or until the topics change: then it returns nothing.
func (l *postgresListener) wait(ctx context.Context) (*riverdriver.Notification, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := l.connect(ctx); err != nil {
		return nil, errors.Join(err, l.drop(ctx))
	}
	var changes sync.WaitGroup
	changes.Go(func() {
		select {
		case <-l.again:
			cancel()
		case <-waiting.Done():
		}
	})
	n, err := l.conn.WaitForNotification(waiting)
	l.stale = waiting.Err() != nil && ctx.Err() == nil
	cancel()
	changes.Wait()
	if err == nil {
		return &riverdriver.Notification{Topic: strings.TrimPrefix(n.Channel, l.prefix), Payload: n.Payload}, nil
	}
	if l.stale && !l.conn.IsClosed() {
		return nil, nil
	}
	return nil, errors.Join(err, l.drop(ctx))
}

// drop ends the connection, if there is one.
func (l *postgresListener) drop(ctx context.Context) error {
	if l.conn == nil {
		return nil
	}
	conn := l.conn
	l.conn = nil
	return conn.Close(context.WithoutCancel(ctx))
}

// connect makes a connection unless there is one, and has it listen.
func (l *postgresListener) connect(ctx context.Context) error {
	select { // what changed until now is seen to here
	case <-l.again:
		l.stale = true
	default:
	}
	if l.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, l.config.Copy())
		if err != nil {
			return err
		}
		l.conn, l.stale = conn, true
		schema, pooled, err := standing(ctx, conn)
		if err != nil {
			return err
		}
		if pooled {
			return errPooled
		}
		l.prefix = schema + "." // as River's drivers have it
	}
	if !l.stale {
		return nil
	}
	l.mu.Lock()
	statements := make([]string, 0, len(l.topics))
	for topic, heard := range l.topics {
		verb := "UNLISTEN "
		if heard {
			verb = "LISTEN "
		}
		statements = append(statements, verb+pgx.Identifier{l.prefix + topic}.Sanitize())
	}
	l.mu.Unlock()
	for _, statement := range statements {
		if _, err := l.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	l.stale = false
	return nil
}

// standing is the schema that a connection works in, and whether it ends at a pooler.
func standing(ctx context.Context, conn *pgx.Conn) (schema string, pooled bool, err error) {
	var pid uint32
	err = conn.QueryRow(ctx, `SELECT current_schema(), pg_backend_pid()`).Scan(&schema, &pid)
	return schema, pid != conn.PgConn().PID(), err // poolers make up their own, to tell their clients apart
}
