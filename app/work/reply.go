package work

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Limits of replies (docs/rules.md#failsafes).
const (
	maxRepliesPerHour = 20             // on one thread, to stop loops with other bots, and to one user there
	repeatInterval    = 24 * time.Hour // interval in which a user gets the same answer on a thread only once
)

// reply answers a user's comment, once. If the same request could not be fulfilled before, it only adds a reaction to
// show that the comment was read, as above the thread's limit. Above the user's own limit it does nothing: each request
// counts in what GitHub lets the installation write.
func (w *surfaceWorker) reply(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	n, own, again, err := w.countReplies(ctx, f)
	if err != nil {
		return nil, err
	}
	switch {
	case own > maxRepliesPerHour:
		return sia.Done{}, nil
	case again, n > maxRepliesPerHour:
		f.Content = "confused"
		return w.react(ctx, t, f)
	case n == maxRepliesPerHour:
		f.Content = render.TooMany(maxRepliesPerHour, "hour")
	}
	moves, err := w.readMoves(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	decisions, err := w.Store.Decisions(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	status, _, err := w.Store.Surface(ctx, t.ID, store.SurfaceStatus)
	if err != nil {
		return nil, err
	}
	halted := ""
	if h, is, err := w.Store.HaltOver(ctx, t.Installation, t.Repo.ID); err != nil {
		return nil, err
	} else if is {
		halted = render.HaltLine(h.Reason, h.Scope, h.Actor().Operator)
	}
	text := render.Reply(t, f.Content, w.Links, status, halted, moves, decisions)
	if f.Thread != 0 {
		root, err := w.repo(t).ThreadOf(ctx, f.Thread)
		if err != nil || root == 0 {
			return sia.Done{}, err
		}
		return sia.Done{}, w.repo(t).AnswerThreads(ctx, t.Pull.Number,
			[]github.Answer{{Thread: root, Marker: markerLine(f), Body: text}}, w.known(t, f))
	}
	_, err = w.repo(t).UpsertComment(ctx, f.OnIssue, markerLine(f), text, w.known(t, f))
	return sia.Done{}, err
}

// countReplies counts the replies on a thread within the last hour, and those to the same user, and reports whether
// this one was given to that user before.
func (w *surfaceWorker) countReplies(ctx context.Context, f sia.Effect) (n, own int, again bool, err error) {
	effects, err := w.Store.Effects(ctx, f.Task)
	hour, day := w.Now().Add(-time.Hour), w.Now().Add(-repeatInterval)
	for _, e := range effects {
		if e.Kind != sia.DoReply || e.State != store.EffectDone || e.OnIssue != f.OnIssue {
			continue
		}
		if e.Ended.After(hour) {
			n++
			if e.To == f.To {
				own++
			}
		}
		same := e.To != "" && e.To == f.To && e.Content == f.Content
		again = again || same && e.Ended.After(day)
	}
	return n, own, again, err
}

// readMoves returns the decisions on a task from its event log.
func (w *surfaceWorker) readMoves(ctx context.Context, id sia.TaskID) ([]render.Move, error) {
	rows, err := w.Store.EventsInBrief(ctx, id)
	if err != nil {
		return nil, err
	}
	moves := make([]render.Move, 0, len(rows))
	for _, r := range rows {
		if r.Ignored == "" {
			moves = append(moves, render.Move{At: r.Event.At, Event: r.Event.Fact.Kind(), From: r.From, To: r.To,
				Why: r.Why})
		}
	}
	return moves, nil
}
