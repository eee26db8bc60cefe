package work

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// reply answers a person's comment, once.
func (w *Worker) reply(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	moves, err := w.moves(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	text := render.Reply(t, f.Content, w.Links, w.Now(), moves)
	_, _, err = w.repo(t).UpsertComment(ctx, f.OnIssue, markerLine(f), text, 0)
	return sia.Done{}, err
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
			moves = append(moves, render.Move{At: r.Event.At, By: r.Event.By, Event: r.Event.Fact.Kind(), From: r.From, To: r.To, Why: r.Why})
		}
	}
	return moves, nil
}
