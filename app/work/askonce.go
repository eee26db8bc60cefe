package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// keptAnswer is what was made of a model's answer, as it is kept.
type keptAnswer[T any] struct {
	Of   string `json:"of"` // what was asked about
	Said T      `json:"said"`
}

// askOnce is what a model says about something within an effect. The answer is kept before anything follows from it:
// asked again after a crash, the model would be paid twice, and might say something else than what was acted on.
func askOnce[T any](
	ctx context.Context, w *common, f sia.Effect, kind, of string, ask func() (T, error),
) (T, error) {
	var kept keptAnswer[T]
	if there, err := w.readJSON(ctx, f.Task, f.Attempt, kind, &kept); err != nil || there && kept.Of == of {
		return kept.Said, err
	}
	said, err := ask()
	if err != nil {
		return said, err
	}
	return said, w.saveJSON(ctx, f.Task, f.Attempt, kind, keptAnswer[T]{of, said})
}

// readJSON reads what saveJSON has kept of an attempt; false: nothing was kept.
func (w *common) readJSON(ctx context.Context, id sia.TaskID, attempt int, kind string, v any) (there bool, err error) {
	text, err := w.Store.Text(ctx, id, attempt, kind)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), v)
	}
	if err != nil {
		return false, fmt.Errorf("read the %s of attempt %d of task %s: %w", kind, attempt, id, err)
	}
	return true, nil
}

// saveJSON keeps something of an attempt.
func (w *common) saveJSON(ctx context.Context, id sia.TaskID, attempt int, kind string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the %s of attempt %d of task %s: %w", kind, attempt, id, err)
	}
	return w.Store.SaveText(ctx, id, attempt, kind, string(b))
}
