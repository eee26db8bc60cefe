package notify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

const (
	// maxPerHour is the maximum number of single-task messages to a channel in an hour. Further tasks are
	// grouped in one message.
	maxPerHour = 10

	// maximum number of tasks that wait, and of passed ones that are looked through, those that changed last
	maxWaiting = 1000
)

// waiting lists the tasks that wait for a user, the one that has waited longest first.
func (n *Notifier) waiting(ctx context.Context) (waiting []sia.Task, err error) {
	for _, open := range []sia.Temperature{sia.Warm, sia.Cold} {
		tasks, err := n.from.FindTasks(ctx, store.SeesAll(), store.Find{Temperature: open, Limit: maxWaiting})
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if needKey(t) != "" {
				waiting = append(waiting, t)
			}
		}
	}
	slices.SortFunc(waiting, func(a, b sia.Task) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return waiting, nil
}

// needKey returns a key for what a task needs from a user: each question, pause or head has another key. It is
// empty when no user is needed or when users know already: nobody is notified of a task that a user paused,
// of a pull request that a user made a draft, or of each task in a scope that is halted.
func needKey(t sia.Task) string {
	switch {
	case t.State == sia.Escalated && t.Escalation != nil:
		return fmt.Sprintf("%s/question/%d", t.ID, t.Escalation.AskedAt.UnixMicro())
	case t.State == sia.OnHold && t.Pause != nil && t.Pause.Kind != sia.PausedByPerson && t.Pause.Kind != sia.PausedByHalt:
		return fmt.Sprintf("%s/paused/%d", t.ID, t.Since.UnixMicro())
	case t.State == sia.Checking && t.Gate.AwaitsPerson:
		return fmt.Sprintf("%s/tests/%s", t.ID, t.Head)
	case t.Temperature() == sia.Cold && t.Pull.StaysDraft() && !t.Pull.LeftDraft:
		return fmt.Sprintf("%s/draft/%s", t.ID, t.Head)
	}
	return ""
}

// sendNeeded sends a channel messages about the waiting tasks that it has not received yet.
func (n *Notifier) sendNeeded(ctx context.Context, c *channelState, waiting []sia.Task) error {
	waiting, err := n.unsent(ctx, c, waiting)
	if err != nil || len(waiting) == 0 {
		return err
	}
	single, grouped, err := n.from.NoticesSince(ctx, c.Name(), n.now().Add(-time.Hour))
	if err != nil {
		return err
	}
	room := min(max(maxPerHour-single, 0), len(waiting))
	for _, t := range waiting[:room] {
		key := needKey(t)
		if err := n.send(ctx, c, key, render.NeedsPerson(t, n.links), func() error {
			return n.from.SaveNotices(ctx, c.Name(), n.now(), false, key)
		}); err != nil {
			return err
		}
	}
	rest := waiting[room:]
	if len(rest) == 0 || grouped {
		return nil
	}
	var keys []string
	for _, t := range rest {
		keys = append(keys, needKey(t))
	}
	// The key is made of the tasks, because a retry may have other ones.
	return n.send(ctx, c, strings.Join(keys, " "), render.NeedsPeople(rest, n.links), func() error {
		return n.from.SaveNotices(ctx, c.Name(), n.now(), true, keys...)
	})
}

// unsent returns the tasks without a message to a channel. Those with refused messages come last, so that they don't
// block others.
func (n *Notifier) unsent(ctx context.Context, c *channelState, waiting []sia.Task) (unsent []sia.Task, err error) {
	var keys []string
	for _, t := range waiting {
		keys = append(keys, needKey(t))
	}
	told, err := n.from.Noticed(ctx, c.Name(), keys)
	if err != nil {
		return nil, err
	}
	for i, t := range waiting {
		if !told[keys[i]] {
			unsent = append(unsent, t)
		}
	}
	slices.SortStableFunc(unsent, func(a, b sia.Task) int {
		return cmp.Compare(c.refusals[needKey(a)], c.refusals[needKey(b)])
	})
	return unsent, nil
}
