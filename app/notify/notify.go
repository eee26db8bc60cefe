// Package notify tells people who are not looking at GitHub that a task waits for a person, and how
// things went: in a chat, through an incoming webhook as Slack has it, by e-mail, or both.
//
// Concepts:
//
//   - A [Channel] is a way to reach people. [Config] says which there are; none unless it is set.
//   - There is no queue. Each minute a [Notifier] looks which tasks wait for a person (needed.go) and
//     whether a summary is due (summary.go), and sends what a channel was not told yet. The database
//     keeps what each was told, so a restart repeats nothing: only where a process is killed between a
//     message and its note is the message sent again. What nobody needs any more is never sent.
//   - A channel that fails is left alone for a while, longer each time, an hour at most. It is logged
//     when that begins and when it ends. Channels don't wait for one another, and no task waits for them.
//
// The package may import app/store, app/render and what lies below. Start reading at [Notifier.tell].
package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

const (
	sendTimeout = 15 * time.Second // of one message
	firstPause  = time.Minute      // after the first failure of a channel, doubled after each other,
	lastPause   = time.Hour        // up to this
	maxRefusals = 3                // of one message; it is given up then
)

// Channel is a way to reach people. Safe for concurrent use.
type Channel interface {
	// Name tells it from others: "webhook" or "mail".
	Name() string
	// Send sends a message. key names it: the same one again is the same message. The error says what to
	// do, holds no secret, and is a permanent [sia.Error] where it is the message that was refused.
	Send(ctx context.Context, key string, n render.Notice) error
	// Reach is an error where messages could not be sent now, as far as that can be told without sending any.
	Reach(ctx context.Context) error
}

// Reader is what is looked at and noted. [store.Store] is one.
type Reader interface {
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	FindTasks(ctx context.Context, v store.Visibility, f store.Find) ([]sia.Task, error)
	Costs(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.Cost, error)

	Noticed(ctx context.Context, channel string, keys []string) (map[string]bool, error)
	NoticesSince(ctx context.Context, channel string, since time.Time) (single int, grouped bool, err error)
	SaveNotices(ctx context.Context, channel string, at time.Time, grouped bool, keys ...string) error
	SummaryUntil(ctx context.Context, channel string) (time.Time, error)
	SaveSummary(ctx context.Context, channel string, until time.Time) error
}

// Notifier tells people. Safe for concurrent use; one round runs at a time.
type Notifier struct {
	from    Reader
	links   render.Links
	secrets *secret.Masker
	summary Summary
	log     *slog.Logger
	now     func() time.Time

	mu       sync.Mutex // held for a round
	channels []*watched
}

// watched is a channel with how it fares; it is used by one round at a time.
type watched struct {
	Channel
	failures int             // in a row
	pause    time.Time       // it is left alone until then
	refusals map[string]int  // of messages, by key
	unnoted  map[string]bool // keys of messages that were dealt with and that the database has not noted
}

// New is what tells people on channels. secrets masks what is sent.
func New(from Reader, channels []Channel, summary Summary, links render.Links, secrets *secret.Masker, log *slog.Logger,
	now func() time.Time,
) *Notifier {
	n := &Notifier{from: from, links: links, secrets: secrets, summary: summary, log: log, now: now}
	for _, c := range channels {
		n.channels = append(n.channels, &watched{Channel: c, refusals: map[string]int{}, unnoted: map[string]bool{}})
	}
	return n
}

// Table is its lines of the cron table; none where there is no channel.
func (n *Notifier) Table() []store.Periodic {
	if len(n.channels) == 0 {
		return nil
	}
	return []store.Periodic{{Name: "notify", Spec: "@every 1m", Run: n.tell}}
}

// tell tells each channel what it was not told yet. An error is one of the database.
func (n *Notifier) tell(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	tasks, err := n.waiting(ctx)
	if err != nil {
		return err
	}
	errs := make([]error, len(n.channels))
	var all sync.WaitGroup
	for i, c := range n.channels {
		if n.now().Before(c.pause) {
			continue
		}
		all.Go(func() {
			errs[i] = errors.Join(n.tellNeeded(ctx, c, tasks), n.tellSummary(ctx, c, tasks))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// send sends one message and reports whether it is dealt with: it was sent, or is given up. Where the
// channel fails, it is left alone for a while. It is the caller's to note what was dealt with, see [watched.note].
func (n *Notifier) send(ctx context.Context, c *watched, key string, m render.Notice) (done bool) {
	if c.unnoted[key] {
		return true
	}
	defer func() {
		if done {
			c.unnoted[key] = true
		}
	}()
	if n.now().Before(c.pause) {
		return false
	}
	m.Title, m.Text = n.secrets.Mask(m.Title), n.secrets.Mask(m.Text)
	sending, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := c.Send(sending, key, m)
	switch {
	case err == nil:
		if c.failures > 0 {
			n.log.InfoContext(ctx, "messages to people arrive again", "channel", c.Name())
		}
		c.failures = 0
		delete(c.refusals, key)
		return true
	case ctx.Err() != nil:
		return false // this process ends
	}
	if c.failures == 0 {
		n.log.WarnContext(ctx, "a message to people was not sent; it is tried again, and tasks don't wait for it",
			"channel", c.Name(), "error", err, "fix", "`sia doctor` says what is wrong, `sia notify test` sends a message")
	}
	pause := max(firstPause<<min(c.failures, 6), min(sia.RetryAfter(err), lastPause))
	c.failures, c.pause = c.failures+1, n.now().Add(min(pause, lastPause))
	if !sia.IsPermanent(err) {
		return false
	}
	if len(c.refusals) > maxWaiting { // of what nobody waits for any more
		clear(c.refusals)
	}
	if c.refusals[key]++; c.refusals[key] < maxRefusals {
		return false
	}
	delete(c.refusals, key)
	n.log.ErrorContext(ctx, "a message to people is given up: it was refused again and again", "channel", c.Name(),
		"message", m.Title, "error", err)
	return true
}

// note takes the error of the note that a message was dealt with. Until there is one the message is not sent again by
// this process: a database that takes no writes would have people told the same each minute.
func (c *watched) note(key string, err error) error {
	if err == nil {
		delete(c.unnoted, key)
	}
	return err
}
