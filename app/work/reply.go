package work

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// repliesAnHour bounds how often SIA answers in one task, so that no exchange
// with another machine runs away (docs/rules.md#failsafes).
const repliesAnHour = 20

// reply answers a person's comment, once.
func (w *Worker) reply(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	n, err := w.repliesSince(ctx, t.ID, w.Now().Add(-time.Hour))
	if err != nil {
		return nil, err
	}
	if n > repliesAnHour {
		return sia.Done{}, nil // it was said
	}
	if n == repliesAnHour {
		f.Content = render.TooMany(repliesAnHour, "hour")
	}
	moves, err := w.moves(ctx, t.ID)
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
	text := render.Reply(t, f.Content, w.Links, status, moves, decisions)
	_, _, err = w.repo(t).UpsertComment(ctx, f.OnIssue, markerLine(f), text, 0)
	return sia.Done{}, err
}

// repliesSince counts the answers that were given in a task since a time.
func (w *Worker) repliesSince(ctx context.Context, id sia.TaskID, since time.Time) (n int, err error) {
	effects, err := w.Store.Effects(ctx, id)
	for _, e := range effects {
		if e.Kind == sia.DoReply && e.State == store.EffectDone && e.Ended.After(since) {
			n++
		}
	}
	return n, err
}

// moves reads the decisions on a task from its event log.
func (w *Worker) moves(ctx context.Context, id sia.TaskID) ([]render.Move, error) {
	rows, err := w.Store.Events(ctx, id)
	if err != nil {
		return nil, err
	}
	moves := make([]render.Move, 0, len(rows))
	for _, r := range rows {
		if r.Ignored == "" {
			moves = append(moves, render.Move{At: r.Event.At, By: r.Event.By, Event: r.Event.Fact.Kind(), From: r.From, To: r.To,
				Why: r.Why})
		}
	}
	return moves, nil
}
