package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/riverqueue/river/riverdriver"
)

// On SQLite River learns of new jobs by looking into its notification table, twenty times a second. Through a task of
// forty hops that is a second in which nothing happens. So a job that this process writes is told of here when it is
// committed; what another process writes River finds by looking. On PostgreSQL this process hears of its own jobs in
// the same way, at once and also behind a pooler, and of other processes' by PostgreSQL's notifications.

// insertTopic is under what River's producers hear of new jobs: NotificationTopicInsert of
// https://github.com/riverqueue/river/blob/v0.51.1/internal/notifier/notifier.go
const insertTopic = "river_insert"

// commits tells of what this process commits. It is safe for concurrent use.
type commits struct {
	jobs chan *riverdriver.Notification // of queues that got jobs, for the engine

	mu   sync.Mutex
	next chan struct{} // closed by the next commit; nil: nobody waits for it
}

func newCommits() *commits { return &commits{jobs: make(chan *riverdriver.Notification, 64)} }

// after is closed after the next commit.
func (c *commits) after() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// done says that a transaction was committed, and in which queues it left jobs.
func (c *commits) done(queues []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
	for _, q := range queues {
		select {
		case c.jobs <- &riverdriver.Notification{Topic: insertTopic, Payload: fmt.Sprintf(`{"queue":%q}`, q)}:
		default: // no engine runs, or so many wait that the queue is looked at anyway
		}
	}
}

// filled notes the queues that got jobs in each open transaction. It is safe for concurrent use.
type filled struct {
	mu     sync.Mutex
	queues map[*sql.Tx][]string
}

func (f *filled) add(tx *sql.Tx, queue string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.queues == nil {
		f.queues = map[*sql.Tx][]string{}
	}
	f.queues[tx] = append(f.queues[tx], queue)
}

// take returns the queues of a transaction, and forgets them.
func (f *filled) take(tx *sql.Tx) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	queues := f.queues[tx]
	delete(f.queues, tx)
	return queues
}

// commitDriver is River's driver, of which the engine hears of commits.
type commitDriver struct {
	riverdriver.Driver[*sql.Tx]
	commits *commits
	listen  func(*riverdriver.GetListenenerParams) riverdriver.Listener // hears of what other processes do
	alone   bool                                                        // no other process works
}

// GetListener implements riverdriver.Driver.
func (d commitDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &commitListener{Listener: d.listen(p), jobs: d.commits.jobs}
}

// SupportsListener implements riverdriver.Driver.
func (commitDriver) SupportsListener() bool { return true }

// UnwrapExecutor implements riverdriver.Driver.
func (d commitDriver) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	x := d.Driver.UnwrapExecutor(tx)
	if d.alone {
		return noNotifyTx{x}
	}
	return x
}

// noNotifyTx writes nothing into River's notification table about jobs: the workers would look once more, in vain.
type noNotifyTx struct{ riverdriver.ExecutorTx }

// NotifyMany implements riverdriver.Executor.
func (x noNotifyTx) NotifyMany(ctx context.Context, p *riverdriver.NotifyManyParams) error {
	if p.Topic == insertTopic {
		return nil
	}
	return x.ExecutorTx.NotifyMany(ctx, p)
}

// commitListener is River's listener, which hears of this process's commits besides.
type commitListener struct {
	riverdriver.Listener
	jobs  <-chan *riverdriver.Notification
	table chan heardNotification
	stop  func() // ends the reading of the table
}

// heardNotification is what River's listener returned.
type heardNotification struct {
	n   *riverdriver.Notification
	err error
}

// Connect implements riverdriver.Listener. The table is read beside what is heard of commits: to cut a statement
// short for each of them would have database/sql throw the connection away.
func (l *commitListener) Connect(ctx context.Context) error {
	if err := l.Listener.Connect(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.table = make(chan heardNotification)
	var reading sync.WaitGroup
	reading.Go(func() { l.read(ctx) })
	l.stop = func() {
		cancel()
		reading.Wait()
	}
	return nil
}

// read reads the table until it can't, which has River connect anew, or until ctx ends.
func (l *commitListener) read(ctx context.Context) {
	for {
		n, err := l.Listener.WaitForNotification(ctx)
		select {
		case l.table <- heardNotification{inCommon(n), err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Close implements riverdriver.Listener.
func (l *commitListener) Close(ctx context.Context) error {
	l.stop()
	return l.Listener.Close(ctx)
}

// WaitForNotification implements riverdriver.Listener.
func (l *commitListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case n := <-l.jobs:
		return n, nil
	case h := <-l.table:
		return h.n, h.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
