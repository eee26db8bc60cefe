// Package notify notifies users outside of GitHub of what waits for a user, and sends summaries: to
// a chat, through an incoming webhook like Slack's, by e-mail, or both.
//
// Concepts:
//
//   - A [Channel] delivers messages. [Config] configures the channels; there is none by default.
//   - There is no queue. Each minute a [Notifier] checks what waits for a user (needed.go) and
//     whether a summary is due (summary.go), and sends what a channel has not received yet. The database
//     records the sent messages, so a restart repeats nothing: a message is sent twice only if the process
//     ends between sending and recording it. Messages that are obsolete before they are sent are dropped.
//   - A channel that fails is paused, longer each time, for an hour at most. The first failure and the
//     recovery are logged. Channels don't wait for each other, and no task waits for them.
//
// The package may import app/store, app/render and the packages below. Start reading at [Notifier.run].
package notify

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

const (
	sendTimeout = 15 * time.Second // of one message
	minPause    = time.Minute      // after the first failure of a channel; doubled after each further one
	maxPause    = time.Hour        // maximum pause
	maxRefusals = 3                // refusals of a message after which it is given up
)

// Channel delivers messages to users. It is safe for concurrent use.
type Channel interface {
	// Name returns the unique name of the channel: "webhook" or "mail".
	Name() string
	// Send sends a message. Messages with the same key are the same message. The error includes advice and
	// no secret, and is a permanent [sia.Error] if the message itself was rejected.
	Send(ctx context.Context, key string, n render.Notice) error
	// Reach returns an error if messages can't be sent now. It checks this without sending one.
	Reach(ctx context.Context) error
}

// Reader is the part of the database that is read and written. [store.Store] implements it.
type Reader interface {
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	FindTasks(ctx context.Context, v store.Visibility, f store.Find) ([]sia.Task, error)
	Experiments(ctx context.Context, installation int64, open bool) ([]store.Experiment, error)
	Costs(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.Cost, error)

	Noticed(ctx context.Context, channel string, keys []string) (map[string]bool, error)
	NoticesSince(ctx context.Context, channel string, since time.Time) (single int, grouped bool, err error)
	SaveNotices(ctx context.Context, channel string, at time.Time, grouped bool, keys ...string) error
	SummaryUntil(ctx context.Context, channel string) (time.Time, error)
	SaveSummary(ctx context.Context, channel string, until time.Time) error
}

// Notifier sends notifications. It is safe for concurrent use; rounds are serialized.
type Notifier struct {
	from    Reader
	links   render.Links
	secrets *secret.Masker
	summary Summary
	log     *slog.Logger
	now     func() time.Time

	mu       sync.Mutex // held for a round
	channels []*channelState
}

// channelState is a channel with its state; it is used by one round at a time.
type channelState struct {
	Channel
	failures   int                           // in a row
	pause      time.Time                     // end of the pause
	refusals   map[string]int                // of messages, by the keys of what they are about
	unrecorded []func(context.Context) error // record finished messages; nothing more is sent before they are recorded
}

// New returns a notifier for channels. secrets masks the messages.
func New(from Reader, channels []Channel, summary Summary, links render.Links, secrets *secret.Masker, log *slog.Logger,
	now func() time.Time,
) *Notifier {
	n := &Notifier{from: from, links: links, secrets: secrets, summary: summary, log: log, now: now}
	for _, c := range channels {
		n.channels = append(n.channels, &channelState{Channel: c, refusals: map[string]int{}})
	}
	return n
}

// Table returns the periodic jobs; none if there is no channel.
func (n *Notifier) Table() []store.Periodic {
	if len(n.channels) == 0 {
		return nil
	}
	return []store.Periodic{{Name: "notify", Spec: "@every 1m", Run: n.run}}
}

// run runs a round: it sends each channel what it has not received yet. It returns only errors of the database.
func (n *Notifier) run(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	waiting, err := n.waiting(ctx)
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
			if errs[i] = c.record(ctx); errs[i] == nil {
				errs[i] = errors.Join(n.sendNeeded(ctx, c, waiting), n.sendSummary(ctx, c, waiting))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// record records the finished messages.
func (c *channelState) record(ctx context.Context) error {
	for len(c.unrecorded) > 0 {
		if err := c.unrecorded[0](ctx); err != nil {
			return err
		}
		c.unrecorded = c.unrecorded[1:]
	}
	return nil
}

// send sends one message, and records those of its keys that are finished: all if it was sent, or those given up
// because they were refused again and again. If the channel fails, it is paused. Until finished keys are recorded, this
// process sends nothing more to the channel. The error is one of the database.
func (n *Notifier) send(ctx context.Context, c *channelState, keys []string, m render.Notice,
	record func(ctx context.Context, keys []string) error,
) error {
	done := n.finish(ctx, c, keys, m)
	if len(done) == 0 {
		return nil
	}
	for _, key := range done {
		delete(c.refusals, key)
	}
	c.unrecorded = append(c.unrecorded, func(ctx context.Context) error { return record(ctx, done) })
	return c.record(ctx)
}

// finish sends one message, unless the channel is paused, and returns those of its keys that are finished.
func (n *Notifier) finish(ctx context.Context, c *channelState, keys []string, m render.Notice) (done []string) {
	if n.now().Before(c.pause) {
		return nil
	}
	m.Title, m.Text = n.secrets.Mask(m.Title), n.secrets.Mask(m.Text)
	sending, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	// The key is made of all keys, because a retry may have other ones.
	err := c.Send(sending, strings.Join(keys, " "), m)
	if len(c.refusals) > 2*maxWaiting { // most are of obsolete messages
		clear(c.refusals)
	}
	switch {
	case err == nil:
		if c.failures > 0 {
			n.log.InfoContext(ctx, "messages to people arrive again", "channel", c.Name())
		}
		c.failures = 0
		return keys
	case ctx.Err() != nil: // the process stops
		return nil
	case c.failures == 0:
		n.log.WarnContext(ctx, "a message to people was not sent; it is tried again, and tasks don't wait for it",
			"channel", c.Name(), "error", err, "fix", "`sia doctor` says what is wrong, `sia notify test` sends a message")
	}
	pause := max(minPause<<min(c.failures, 6), min(sia.RetryAfter(err), maxPause))
	c.failures, c.pause = c.failures+1, n.now().Add(min(pause, maxPause))
	if sia.IsPermanent(err) {
		for _, key := range keys {
			if c.refusals[key]++; c.refusals[key] >= maxRefusals {
				done = append(done, key)
			}
		}
	}
	if len(done) > 0 {
		n.log.ErrorContext(ctx, "a message to people is given up: it was refused again and again", "channel", c.Name(),
			"message", m.Title, "error", err)
	}
	return done
}
