package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Watcher waits for steps on a stage, each later than the one before.
type Watcher struct {
	*Stage
	Timeout time.Duration // for one step
	Seen    int           // number of the last journal entry that was awaited
}

// Await waits for the next journal entry that matches. If the step does not happen in time, the error names it. If SIA
// pauses a task meanwhile, Await returns the reason of the pause at once, since nothing more would happen.
func (w *Watcher) Await(ctx context.Context, step string, match func(ghsim.Entry) bool) (ghsim.Entry, error) {
	limited, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	entry, err := w.Sim.WaitEntry(limited, w.Seen, func(e ghsim.Entry) bool { return match(e) || paused(e) })
	if err == nil && !match(entry) {
		err = errors.New(w.waiting(ctx, entry.Number))
	} else if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("nothing was seen of it within %s%s", w.Timeout, w.trouble(ctx))
	}
	if err != nil {
		return entry, fmt.Errorf("this step did not happen: %s (%w)", step, err)
	}
	w.Seen = entry.Seq
	return entry, nil
}

// AwaitPause waits until SIA pauses a task, however long that takes. It returns the issue and what its task waits for.
func (w *Watcher) AwaitPause(ctx context.Context) (issue int, why string, err error) {
	entry, err := w.Sim.WaitEntry(ctx, w.Seen, paused)
	if err != nil {
		return 0, "", err
	}
	w.Seen = entry.Seq
	return entry.Number, w.waiting(ctx, entry.Number), nil
}

// waiting returns what the task of an issue waits for.
func (w *Watcher) waiting(ctx context.Context, issue int) string {
	t, err := w.TaskOf(ctx, issue)
	if err != nil {
		return err.Error()
	}
	return cmp.Or(render.Waiting(t), fmt.Sprintf("SIA has no task for #%d", issue))
}

// trouble returns the error of an effect that SIA retries.
func (w *Watcher) trouble(ctx context.Context) string {
	tasks, err := w.App.Store.Tasks(ctx, store.Filter{})
	if err != nil {
		return "; " + err.Error()
	}
	for _, t := range tasks {
		effects, err := w.App.Store.Effects(ctx, t.ID)
		if err != nil {
			return "; " + err.Error()
		}
		for _, f := range effects {
			if f.State == store.EffectPending && f.Error != "" {
				return "; it is tried again, because " + f.Error
			}
		}
	}
	return ""
}

// paused matches the entry that SIA paused a task.
func paused(e ghsim.Entry) bool { return e.Kind == "issues.labeled" && e.Detail == render.LabelPaused }

// Pushed matches a push to a branch whose name has the prefix.
func Pushed(branchPrefix string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool {
		return strings.HasPrefix(e.Kind, "push") && strings.HasPrefix(e.Ref, branchPrefix)
	}
}

// Concluded matches the end of a check with this conclusion.
func Concluded(check, conclusion string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool {
		return e.Kind == "check_run.completed" && e.Ref == check && e.Detail == conclusion
	}
}

// Commented matches a comment of SIA's whose marker has this kind.
func Commented(kind string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool {
		m, ok := render.ParseMarker(e.Detail)
		return e.Kind == "issue_comment.created" && ok && m.Kind == kind
	}
}

// Labelled matches the labelling of an issue.
func Labelled(issue int, label string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool { return e.Kind == "issues.labeled" && e.Number == issue && e.Detail == label }
}
