package settings

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// KeptSettings are the settings in force in a repository, as a server's database has them: without
// GitHub. read is false where they were never read, the repository's own or its owner's; then what is in
// force is not known, and the defaults are given.
func KeptSettings(
	ctx context.Context, s Store, installation int64, repo sia.Repo,
) (set sia.Settings, read bool, err error) {
	in, read, err := (&Files{store: s}).Kept(ctx, installation, repo)
	return in.Settings, read, err
}

// Kept is the same, with the file that they are from.
func (f *Files) Kept(ctx context.Context, installation int64, repo sia.Repo) (set sia.InForce, read bool, err error) {
	set.Settings = sia.DefaultSettings()
	places, err := f.places(ctx, installation, repo)
	if err != nil {
		return set, false, err
	}
	for _, place := range places {
		own, err := f.store.Settings(ctx, place.ID)
		if errors.Is(err, store.ErrNotFound) {
			return set, false, nil
		}
		if err != nil {
			return set, false, err
		}
		if own.Settings != nil {
			set.Settings, set.From = *own.Settings, fmt.Sprintf("%s@%.12s:%s", place, own.SHA, settingsFile)
			return set, true, nil
		}
	}
	return set, len(places) > 0, nil
}
