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
	text, err := w.Store.Text(ctx, f.Task, f.Attempt, kind)
	if err == nil {
		err = json.Unmarshal([]byte(text), &kept)
	}
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return kept.Said, fmt.Errorf("read the kept %s of %s: %w", kind, f.Key, err)
	case err == nil && kept.Of == of:
		return kept.Said, nil
	}
	said, err := ask()
	if err != nil {
		return said, err
	}
	b, err := json.Marshal(keptAnswer[T]{of, said})
	if err != nil {
		return said, fmt.Errorf("encode the %s of %s: %w", kind, f.Key, err)
	}
	return said, w.Store.SaveText(ctx, f.Task, f.Attempt, kind, string(b))
}
