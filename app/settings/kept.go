package settings

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// KeptSettings returns the settings in force in a repository according to the database, without GitHub. read is false
// if the repository's or its owner's were never read. Then the settings in force are unknown, and the defaults are
// returned.
func KeptSettings(
	ctx context.Context, s Store, installation int64, repo sia.Repo,
) (set sia.Settings, read bool, err error) {
	in, read, err := (&Files{store: s}).Kept(ctx, installation, repo)
	return in.Settings, read, err
}

// Kept is [KeptSettings], with the file that the settings are from.
func (f *Files) Kept(ctx context.Context, installation int64, repo sia.Repo) (set sia.InForce, read bool, err error) {
	set.Settings = sia.DefaultSettings()
	sources, err := f.sources(ctx, installation, repo)
	if err != nil {
		return set, false, err
	}
	for _, source := range sources {
		own, err := f.store.Settings(ctx, source.ID)
		if errors.Is(err, store.ErrNotFound) {
			return set, false, nil
		}
		if err != nil {
			return set, false, err
		}
		if own.Settings != nil {
			set.Settings, set.From = *own.Settings, fmt.Sprintf("%s@%.12s:%s", source, own.SHA, settingsFile)
			return set, true, nil
		}
	}
	return set, len(sources) > 0, nil
}
