package settings

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// KeptSettings are the settings in force in a repository, as a server's database has them: without
// GitHub. read is false where they were never read, the repository's own or its owner's; then what is in
// force is not known, and the defaults are given.
func KeptSettings(
	ctx context.Context, s *store.Store, installation int64, repo sia.Repo,
) (set sia.Settings, read bool, err error) {
	places, err := (&Files{store: s}).places(ctx, installation, repo)
	if err != nil {
		return set, false, err
	}
	for _, place := range places {
		own, err := s.Settings(ctx, place.ID)
		if errors.Is(err, store.ErrNotFound) {
			return sia.DefaultSettings(), false, nil
		}
		if err != nil {
			return set, false, err
		}
		if own.Settings != nil {
			return *own.Settings, true, nil
		}
	}
	return sia.DefaultSettings(), len(places) > 0, nil
}
