package store

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/riverqueue/river/riverdriver"
)

// River learns of new jobs by looking, ten times a second in each queue, and of what its
// notification table says twenty times a second. Through a task of forty hops that is seconds in
// which nothing happens. So who wrote a job here tells the workers here, when it is committed;
// what another process writes they find by looking.

// insertTopic is under what River's producers hear of new jobs: NotificationTopicInsert of
// https://github.com/riverqueue/river/blob/v0.47.0/internal/notifier/notifier.go
const insertTopic = "river_insert"

// commits tells who listens of what this process commits. The zero value is ready; it is safe for
// concurrent use.
type commits struct {
	mu      sync.Mutex
	next    chan struct{} // closed by the next commit; nil: nobody waits for it
	workers []chan *riverdriver.Notification
}

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
		payload, err := json.Marshal(map[string]string{"queue": q})
		if err != nil {
			continue // a string always can be
		}
		for _, w := range c.workers {
			select {
			case w <- &riverdriver.Notification{Topic: insertTopic, Payload: string(payload)}:
			default: // so many wait that the queue is looked at anyway
			}
		}
	}
}

func (c *commits) listen() chan *riverdriver.Notification {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := make(chan *riverdriver.Notification, 64)
	c.workers = append(c.workers, w)
	return w
}

func (c *commits) leave(w chan *riverdriver.Notification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.workers = slices.DeleteFunc(c.workers, func(x chan *riverdriver.Notification) bool { return x == w })
}

// commitListener is River's listener, which hears of this process's commits besides.
type commitListener struct {
	riverdriver.Listener
	c    *commits
	here chan *riverdriver.Notification // nil: not connected
	held *riverdriver.Notification      // of the table, found when a commit was faster; nil: none
}

// Connect implements riverdriver.Listener.
func (l *commitListener) Connect(ctx context.Context) error {
	if err := l.Listener.Connect(ctx); err != nil {
		return err
	}
	l.here = l.c.listen()
	return nil
}

// Close implements riverdriver.Listener.
func (l *commitListener) Close(ctx context.Context) error {
	l.c.leave(l.here)
	return l.Listener.Close(ctx)
}

// WaitForNotification implements riverdriver.Listener.
func (l *commitListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	if n := l.held; n != nil {
		l.held = nil
		return n, nil
	}
	select {
	case n := <-l.here:
		return n, nil
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type found struct {
		n   *riverdriver.Notification
		err error
	}
	table := make(chan found, 1)
	go func() {
		n, err := l.Listener.WaitForNotification(ctx)
		table <- found{n, err}
	}()
	select {
	case f := <-table:
		return f.n, f.err
	case n := <-l.here:
		cancel()
		l.held = (<-table).n
		return n, nil
	}
}

// silentTx writes nothing into River's notification table about jobs: who works on them in this
// process is told when they are committed.
type silentTx struct{ riverdriver.ExecutorTx }

// NotifyMany implements riverdriver.Executor.
func (x silentTx) NotifyMany(ctx context.Context, p *riverdriver.NotifyManyParams) error {
	if p.Topic == insertTopic {
		return nil
	}
	return x.ExecutorTx.NotifyMany(ctx, p)
}
