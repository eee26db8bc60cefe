package learn

import (
	"context"
	"errors"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// inForce returns the learning settings last read for a repository: its own, or else its owner's, or else the defaults.
// It makes no requests to GitHub.
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

// isDue reports whether a repository's lessons need maintenance. It compares whole hours because it is called hourly.
func (ls *Lessons) isDue(ctx context.Context, repo int64, every time.Duration) (bool, error) {
	last, err := ls.store.LastHeartbeat(ctx, repo)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return ls.now().Truncate(time.Hour).Sub(last.Truncate(time.Hour)) >= every, nil
}
