package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// On SQLite River polls its notification table for new jobs, twenty times a second. In a task of forty steps that adds
// a second of latency. So the jobs of this process are announced here when they are committed; River finds those of
// other processes by polling. On PostgreSQL this process announces its own jobs in the same way, without delay and also
// behind a pooler, and receives PostgreSQL's notifications for the jobs of other processes.

// The topics of the notifications between River's clients:
// https://github.com/riverqueue/river/blob/v0.51.1/internal/notifier/notifier.go
const (
	insertTopic     = "river_insert"
	controlTopic    = "river_control"
	leadershipTopic = "river_leadership"
)

// commits announces the commits of this process. It is safe for concurrent use.
type commits struct {
	jobs chan *riverdriver.Notification // of queues with new jobs, for the engine

	mu   sync.Mutex
	next chan struct{} // closed by the next commit; nil: nothing waits for it
}

func newCommits() *commits { return &commits{jobs: make(chan *riverdriver.Notification, 64)} }

// nextCommit returns a channel that is closed after the next commit.
func (c *commits) nextCommit() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// announce announces a committed transaction and the queues into which it inserted jobs.
func (c *commits) announce(queues []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
	for _, q := range queues {
		select {
		case c.jobs <- &riverdriver.Notification{Topic: insertTopic, Payload: fmt.Sprintf(`{"queue":%q}`, q)}:
		default: // no engine runs, or enough notifications wait that the queue is polled anyway
		}
	}
}

// jobQueues records, for each open transaction, the queues into which it inserted jobs. It is safe for concurrent use.
type jobQueues struct {
	mu     sync.Mutex
	queues map[*sql.Tx][]string
}

func (f *jobQueues) add(tx *sql.Tx, queue string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.queues == nil {
		f.queues = map[*sql.Tx][]string{}
	}
	f.queues[tx] = append(f.queues[tx], queue)
}

// take removes and returns the queues of a transaction.
func (f *jobQueues) take(tx *sql.Tx) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	queues := f.queues[tx]
	delete(f.queues, tx)
	return queues
}

// commitDriver is River's driver, with a listener that also receives the commits of this process.
type commitDriver struct {
	riverdriver.Driver[*sql.Tx]
	s             *DB
	singleProcess bool // no other process works on the database
}

// GetListener implements riverdriver.Driver.
func (d commitDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &commitListener{Listener: d.Driver.GetListener(p), jobs: d.s.commits.jobs, log: d.s.log,
		others: make(chan *riverdriver.Notification)}
}

// UnwrapExecutor implements riverdriver.Driver.
func (d commitDriver) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	x := d.Driver.UnwrapExecutor(tx)
	if d.singleProcess {
		return noNotifyTx{x}
	}
	return x
}

// noNotifyTx skips River's notifications of new jobs, which would only make the workers poll once more.
type noNotifyTx struct{ riverdriver.ExecutorTx }

// NotifyMany implements riverdriver.Executor.
func (x noNotifyTx) NotifyMany(ctx context.Context, p *riverdriver.NotifyManyParams) error {
	if p.Topic == insertTopic {
		return nil
	}
	return x.ExecutorTx.NotifyMany(ctx, p)
}

// commitListener is River's listener, which also receives the commits of this process. It never fails: while the
// notifications of other processes are unavailable, workers poll once a second.
type commitListener struct {
	riverdriver.Listener
	log    *slog.Logger
	jobs   <-chan *riverdriver.Notification
	others chan *riverdriver.Notification
	stop   func() // stops receiving from others
}

// listenRetryDelay is the delay before connecting again after a failure.
const listenRetryDelay = 5 * time.Second

// Connect implements riverdriver.Listener. A goroutine of its own receives the notifications of other processes:
// canceling a wait for each local commit would make database/sql close the connection.
func (l *commitListener) Connect(ctx context.Context) error {
	err := l.connect(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var forwarding sync.WaitGroup
	forwarding.Go(func() { l.forward(ctx, err) })
	l.stop = func() {
		cancel()
		forwarding.Wait()
	}
	return nil
}

// connect starts listening to other processes.
func (l *commitListener) connect(ctx context.Context) error {
	err := l.Listener.Connect(ctx)
	for _, topic := range []string{insertTopic, controlTopic, leadershipTopic} {
		if err == nil {
			err = l.Listener.Listen(ctx, topic)
		}
	}
	return err
}

// forward forwards notifications of other processes until ctx ends. err is the result of connect.
func (l *commitListener) forward(ctx context.Context, err error) {
	failed, logAt := 0, 1 // failures in a row, and the one that is logged next
	for {
		for err == nil {
			var n *riverdriver.Notification
			if n, err = l.Listener.WaitForNotification(ctx); err == nil {
				failed, logAt = 0, 1
				select {
				case l.others <- withCommonQueue(n):
				case <-ctx.Done():
				}
			}
		}
		err = errors.Join(err, l.Listener.Close(context.WithoutCancel(ctx)))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errPooled):
			l.log.InfoContext(ctx, "a pooler such as PgBouncer stands before PostgreSQL: other processes' jobs are found by "+
				"looking once a second. Name PostgreSQL itself with --db-direct to be notified")
			return
		}
		if failed++; failed == logAt {
			logAt *= 2
			l.log.WarnContext(ctx, "the database's notifications can't be heard: other processes' jobs are found by looking "+
				"once a second", "failures", failed, "again_in", listenRetryDelay, "err", err)
		}
		select {
		case <-time.After(listenRetryDelay):
		case <-ctx.Done():
			return
		}
		err = l.connect(ctx)
	}
}

// Close implements riverdriver.Listener.
func (l *commitListener) Close(context.Context) error {
	l.stop()
	return nil
}

// Listen implements riverdriver.Listener: all topics are received anyway.
func (*commitListener) Listen(context.Context, string) error { return nil }

// Unlisten implements riverdriver.Listener.
func (*commitListener) Unlisten(context.Context, string) error { return nil }

// Ping implements riverdriver.Listener.
func (*commitListener) Ping(context.Context) error { return nil }

// WaitForNotification implements riverdriver.Listener.
func (l *commitListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case n := <-l.jobs:
		return n, nil
	case n := <-l.others:
		return n, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
