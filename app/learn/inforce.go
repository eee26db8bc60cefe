package learn

import (
	"context"
	"errors"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// inForce are the settings of learning that were last read for a repository: its own, or its
// owner's where it has none, or else the defaults. Nobody is asked: reading files is for others.
func (ls *Lessons) inForce(ctx context.Context, repo int64) (sia.LearningSettings, error) {
	defaults := sia.DefaultSettings().Learning
	own, err := ls.store.Settings(ctx, repo)
	if err == nil && own.Settings == nil || errors.Is(err, store.ErrNotFound) {
		var place, owners store.Repository
		if place, err = ls.store.Repository(ctx, repo); err == nil {
			owners, err = ls.store.RepositoryNamed(ctx, place.Installation, sia.OwnersRepo)
		}
		if err == nil {
			own, err = ls.store.Settings(ctx, owners.ID)
		}
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return defaults, nil
	case err != nil:
		return defaults, err
	case own.Settings == nil:
		return defaults, nil
	}
	return own.Settings.Learning, nil
}

// due reports whether it is time to put a repository's lessons in order again. Whole hours are
// compared, for that is how often anybody asks.
func (ls *Lessons) due(ctx context.Context, repo int64, every time.Duration) (bool, error) {
	last, err := ls.store.LastHeartbeat(ctx, repo)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return ls.now().Truncate(time.Hour).Sub(last.Truncate(time.Hour)) >= every, nil
}
