package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/riverqueue/river/riverdriver"
)

// River learns of new jobs by looking, once a second in each queue, and of what its
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
		n := &riverdriver.Notification{Topic: insertTopic, Payload: fmt.Sprintf(`{"queue":%q}`, q)}
		for _, w := range c.workers {
			select {
			case w <- n:
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
	c      *commits
	heard  chan *riverdriver.Notification // of commits, and of the table
	failed chan error                     // of length 1: why the table is not read any more
	stop   func()                         // ends the reading of the table
}

// Connect implements riverdriver.Listener. The table is read beside what is heard of commits, and not
// anew for each of them: to cut a statement short on the connection that all of River shares could hit
// another one.
func (l *commitListener) Connect(ctx context.Context) error {
	if err := l.Listener.Connect(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.heard, l.failed = l.c.listen(), make(chan error, 1)
	var reading sync.WaitGroup
	reading.Go(func() { l.read(ctx) })
	l.stop = func() {
		cancel()
		reading.Wait()
	}
	return nil
}

func (l *commitListener) read(ctx context.Context) {
	for {
		n, err := l.Listener.WaitForNotification(ctx)
		if err != nil {
			l.failed <- err
			return
		}
		select {
		case l.heard <- n:
		case <-ctx.Done():
			return
		}
	}
}

// Close implements riverdriver.Listener.
func (l *commitListener) Close(ctx context.Context) error {
	l.c.leave(l.heard)
	l.stop()
	return l.Listener.Close(ctx)
}

// WaitForNotification implements riverdriver.Listener.
func (l *commitListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case n := <-l.heard:
		return n, nil
	case err := <-l.failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
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
