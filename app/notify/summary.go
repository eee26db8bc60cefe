package notify

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Summary is the schedule of summaries.
type Summary string

// The schedules: never, every day, or every Monday, at 08:00 UTC.
const (
	Off    Summary = "off"
	Daily  Summary = "daily"
	Weekly Summary = "weekly"
)

// summaryHour is the hour of summaries, in UTC.
const summaryHour = 8

// due returns the last scheduled time at or before now; zero: never.
func (s Summary) due(now time.Time) time.Time {
	now = now.UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), summaryHour, 0, 0, 0, time.UTC)
	if at.After(now) {
		at = at.AddDate(0, 0, -1)
	}
	switch s {
	case Daily:
		return at
	case Weekly:
		return at.AddDate(0, 0, -(int(at.Weekday())+6)%7) // back to Monday
	}
	return time.Time{}
}

// sendSummary sends a channel a summary of the time since the last one, if one is due. The first call
// only records the start of the first period. It sends nothing if nothing happened.
func (n *Notifier) sendSummary(ctx context.Context, c *channelState, waiting []need) error {
	until := n.summary.due(n.now())
	if until.IsZero() {
		return nil
	}
	from, err := n.from.SummaryUntil(ctx, c.Name())
	if err != nil {
		return err
	}
	if from.IsZero() {
		return n.from.SaveSummary(ctx, c.Name(), n.now())
	}
	if !from.Before(until) {
		return nil
	}
	d := render.Digest{From: from, Until: until}
	for _, w := range waiting {
		d.Waiting = append(d.Waiting, w.line)
	}
	if d.Repositories, err = n.activity(ctx, from, until); err != nil {
		return err
	}
	record := func(ctx context.Context, _ []string) error { return n.from.SaveSummary(ctx, c.Name(), until) }
	if len(d.Repositories) == 0 {
		return record(ctx, nil)
	}
	return n.send(ctx, c, []string{"summary/" + until.Format(time.RFC3339)}, render.Summary(d, n.links), record)
}

// activity returns the activity at or after from and before until, by repository, in the order of names.
// Ends of tasks that have been started again since are not counted.
func (n *Notifier) activity(ctx context.Context, from, until time.Time) ([]render.RepoDigest, error) {
	tasks, err := n.from.Tasks(ctx, store.Filter{Since: from, Limit: store.NoLimit})
	if err != nil {
		return nil, err
	}
	spent, err := n.from.Costs(ctx, store.SeesAll(), from, until)
	if err != nil {
		return nil, err
	}
	within := func(at time.Time) int {
		if at.Before(from) || !at.Before(until) {
			return 0
		}
		return 1
	}
	found := map[int64]render.RepoDigest{}
	for _, t := range tasks {
		d := found[t.Repo.ID]
		d.Repo = t.Repo
		d.Started += within(t.StartedAt)
		switch t.State {
		case sia.Passed:
			d.Passed += within(t.Since)
		case sia.Stopped:
			d.Stopped += within(t.Since)
		}
		if t.Escalation != nil {
			d.Asked += within(t.Escalation.AskedAt)
		}
		found[t.Repo.ID] = d
	}
	for _, c := range spent { // the repositories are in found: tasks with costs have changed
		d := found[c.Repo]
		d.Credits = c.Spent
		found[c.Repo] = d
	}
	var out []render.RepoDigest
	for _, d := range found {
		if d != (render.RepoDigest{Repo: d.Repo}) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b render.RepoDigest) int {
		return cmp.Or(cmp.Compare(a.Repo.String(), b.Repo.String()), cmp.Compare(a.Repo.ID, b.Repo.ID))
	})
	return out, nil
}
