package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Schedule says when the periodic work runs, as robfig/cron/v3 reads it.
type Schedule struct {
	Look      string // at every task that waits, in case a delivery was lost
	Redeliver string // what GitHub could not deliver
	Repair    string // what people see, against what it should be
	Feedback  string // 👍 and 👎 on SIA's comments, of which GitHub sends no webhook
	Approvals string // 👍 on plans that wait for one
	Prune     string // stored deliveries
	Heartbeat string // the lessons of repositories that are not at work
}

// DefaultSchedule suits GitHub's limits: a look costs two to five conditional
// requests per waiting task.
func DefaultSchedule() Schedule {
	return Schedule{Look: "@every 2m", Redeliver: "@every 5m", Repair: "@every 30m", Feedback: "@every 15m", Approvals: "@every 1m", Prune: "@daily", Heartbeat: "0 */6 * * *"}
}

// Retention of stored deliveries: longer than the three days for which GitHub
// offers to send them again.
const keepDeliveries = 7 * 24 * time.Hour

// redeliverWindow is how far back failed deliveries are looked for.
const redeliverWindow = 24 * time.Hour

// Periodic is the cron table.
func (w *Worker) Periodic(s Schedule) []store.Periodic {
	return []store.Periodic{
		{Name: "look", Spec: s.Look, Run: w.lookAtAll},
		{Name: "redeliver", Spec: s.Redeliver, Run: w.redeliver},
		{Name: "repair", Spec: s.Repair, Run: w.repairAll},
		{Name: "feedback", Spec: s.Feedback, Run: w.feedback},
		{Name: "approvals", Spec: s.Approvals, Run: w.approvals},
		{Name: "prune", Spec: s.Prune, Run: func(ctx context.Context) error {
			_, err := w.Store.PruneDeliveries(ctx, w.Now().Add(-keepDeliveries))
			return err
		}},
		{Name: "heartbeat", Spec: s.Heartbeat, Run: w.heartbeat},
	}
}

// maxLook bounds how many tasks one look covers; the most recently changed come
// first, and the next look follows soon.
const maxLook = 500

// lookAtAll looks at every task that has not ended. One task's trouble does not
// keep the others from being looked at.
func (w *Worker) lookAtAll(ctx context.Context) error {
	tasks, err := w.Store.Tasks(ctx, store.Filter{Open: true, Limit: maxLook})
	if err != nil {
		return err
	}
	var all []error
	for _, t := range tasks {
		if err := w.lookAt(ctx, t); err != nil {
			all = append(all, fmt.Errorf("look at task %s: %w", t.ID, err))
		}
	}
	return errors.Join(all...)
}

// lookAt compares one task with GitHub: issue, comments, boxes, pull request and
// branch.
func (w *Worker) lookAt(ctx context.Context, t sia.Task) error {
	if _, err := w.lookAtIssue(ctx, t); err != nil {
		return err
	}
	if t.Pull.Number == 0 {
		return nil
	}
	p, err := w.repo(t).Pull(ctx, t.Pull.Number)
	if err != nil {
		return err
	}
	var fact sia.Fact
	switch {
	case p.State == "closed":
		fact = sia.PullClosed{Merged: p.Merged, Head: p.HeadSHA}
	case p.HeadSHA != "" && p.HeadSHA != t.Head && t.State != sia.Working && t.State != sia.Queued:
		fact = sia.BranchMoved{SHA: p.HeadSHA}
	default:
		return nil
	}
	return w.Intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.BranchRef(t.Branch)},
		Event: sia.Event{ID: fmt.Sprintf("look/%s/pull/v%d", t.ID, t.Version), At: w.Now(), Fact: fact},
	})
}

// redeliver has GitHub send again what it could not deliver.
func (w *Worker) redeliver(ctx context.Context) error {
	failed, err := w.GitHub.FailedDeliveries(ctx, w.Now().Add(-redeliverWindow))
	if err != nil {
		return err
	}
	for _, d := range failed {
		if err := w.GitHub.Redeliver(ctx, d.ID); err != nil {
			return err
		}
		w.Logger.InfoContext(ctx, "asked for redelivery", "guid", d.GUID, "event", d.Event)
	}
	return nil
}

// repairAll writes status comment and labels again where people or chance
// changed them; what is right already is left alone.
func (w *Worker) repairAll(ctx context.Context) error {
	tasks, err := w.Store.Tasks(ctx, store.Filter{Open: true, Limit: maxLook})
	if err != nil {
		return err
	}
	var all []error
	for _, t := range tasks {
		for _, kind := range []string{surfaceStatus, surfaceLabels} {
			// Forgotten, each is looked for and compared before it is written.
			if err := w.Store.SaveSurface(ctx, t.ID, kind, 0, ""); err != nil {
				all = append(all, err)
			}
		}
		if _, err := w.sync(ctx, t, sia.Effect{}); err != nil {
			all = append(all, fmt.Errorf("repair task %s: %w", t.ID, err))
		}
	}
	return errors.Join(all...)
}
