package notify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

const (
	// maxPerHour is the maximum number of messages to a channel in an hour about one task or change each. Further ones
	// are grouped in one message.
	maxPerHour = 10

	// maximum number of tasks that wait, those that changed last
	maxWaiting = 1000
)

// need is a task or a change of a policy that waits for a user.
type need struct {
	key   string // see needKey
	since time.Time
	line  string               // in a list
	alone func() render.Notice // as a message of its own
}

// waiting lists what waits for a user, the longest wait first.
func (n *Notifier) waiting(ctx context.Context) (waiting []need, err error) {
	tasks, err := n.from.FindTasks(ctx, store.SeesAll(),
		store.Find{Temperatures: []sia.Temperature{sia.Warm, sia.Cool}, Limit: maxWaiting})
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		if key := needKey(t); key != "" {
			waiting = append(waiting, need{key, t.Since, render.TaskLine(t, n.links),
				func() render.Notice { return render.NeedsPerson(t, n.links) }})
		}
	}
	changes, err := n.from.Experiments(ctx, 0, true)
	if err != nil {
		return nil, err
	}
	for _, x := range changes {
		if x.Waits() {
			c := render.PolicyChange{Name: x.Name, Change: x.Change, Phase: string(x.Phase), Why: x.Why, Place: x.Place,
				Pull: x.Pull}
			waiting = append(waiting, need{fmt.Sprintf("change/%s/%s", x.ID, x.Phase), x.CreatedAt,
				render.PolicyLine(c, n.links), func() render.Notice { return render.NeedsApproval(c, n.links) }})
		}
	}
	slices.SortFunc(waiting, func(a, b need) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.key, b.key)) })
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
	case t.Temperature() == sia.Cool && !t.Pull.LeftDraft:
		return fmt.Sprintf("%s/draft/%s", t.ID, t.Head)
	}
	return ""
}

// sendNeeded sends a channel messages about what waits and it has not received yet.
func (n *Notifier) sendNeeded(ctx context.Context, c *channelState, waiting []need) error {
	waiting, err := n.unsent(ctx, c, waiting)
	if err != nil || len(waiting) == 0 {
		return err
	}
	single, grouped, err := n.from.NoticesSince(ctx, c.Name(), n.now().Add(-time.Hour))
	if err != nil {
		return err
	}
	save := func(grouped bool) func(context.Context, []string) error {
		return func(ctx context.Context, keys []string) error {
			return n.from.SaveNotices(ctx, c.Name(), n.now(), grouped, keys...)
		}
	}
	room := min(max(maxPerHour-single, 0), len(waiting))
	for _, w := range waiting[:room] {
		if err := n.send(ctx, c, []string{w.key}, w.alone(), save(false)); err != nil {
			return err
		}
	}
	rest := waiting[room:]
	if len(rest) == 0 || grouped {
		return nil
	}
	var keys, lines []string
	for _, w := range rest {
		keys, lines = append(keys, w.key), append(lines, w.line)
	}
	return n.send(ctx, c, keys, render.NeedsPeople(lines, n.links), save(true))
}

// unsent returns what waits without a message to a channel. What was refused comes last, so that it doesn't block the
// rest.
func (n *Notifier) unsent(ctx context.Context, c *channelState, waiting []need) (unsent []need, err error) {
	var keys []string
	for _, w := range waiting {
		keys = append(keys, w.key)
	}
	told, err := n.from.Noticed(ctx, c.Name(), keys)
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		if !told[w.key] {
			unsent = append(unsent, w)
		}
	}
	slices.SortStableFunc(unsent, func(a, b need) int { return cmp.Compare(c.refusals[a.key], c.refusals[b.key]) })
	return unsent, nil
}
