package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// savedAnswer is the stored result of a model call.
type savedAnswer[T any] struct {
	Subject string `json:"of"` // identifies the question
	Answer  T      `json:"said"`
}

// askOnce returns ask's answer from a model, and stores it before anything depends on it: without that, a repetition
// after a crash would pay twice, and the answer might differ from the one acted on.
func askOnce[T any](
	ctx context.Context, w *common, f sia.Effect, kind, of string, ask func() (T, error),
) (T, error) {
	var kept savedAnswer[T]
	if there, err := w.readJSON(ctx, f.Task, f.Attempt, kind, &kept); err != nil || there && kept.Subject == of {
		return kept.Answer, err
	}
	said, err := ask()
	if err != nil {
		return said, err
	}
	return said, w.saveJSON(ctx, f.Task, f.Attempt, kind, savedAnswer[T]{of, said})
}

// readJSON reads a value stored by saveJSON; false: there is none.
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

// saveJSON stores a value of an attempt.
func (w *common) saveJSON(ctx context.Context, id sia.TaskID, attempt int, kind string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the %s of attempt %d of task %s: %w", kind, attempt, id, err)
	}
	return w.Store.SaveText(ctx, id, attempt, kind, string(b))
}
