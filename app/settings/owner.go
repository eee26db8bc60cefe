package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// inForce gives the settings in force in a repository: of the first file that
// there is, its own or the owner's, in the last state of it that was good. Files
// that were never read are read; with anew, the owner's is in any case. here is
// what stands in the place of its own; nil: nothing does.
func (f *Files) inForce(
	ctx context.Context, installation int64, repo sia.Repo, here *store.OwnSettings, anew bool,
) (sia.InForce, error) {
	out := sia.InForce{Settings: sia.DefaultSettings()}
	places, err := f.places(ctx, installation, repo)
	if err != nil {
		return out, err
	}
	for _, place := range places {
		own, err := f.kept(ctx, repo, place, here)
		if errors.Is(err, store.ErrNotFound) || err == nil && anew && place.ID != repo.ID {
			var warning string
			if warning, err = f.lookUp(ctx, installation, place, own.SHA); err == nil {
				out.Warning = cmp.Or(warning, out.Warning)
				own, err = f.store.Settings(ctx, place.ID)
			}
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return out, err
		}
		if own.Settings != nil {
			out.Settings, out.From = *own.Settings, fmt.Sprintf("%s@%.12s:%s", place, own.SHA, settingsFile)
			break
		}
	}
	f.override(&out.Settings)
	return out, nil
}

// kept are the settings of a place as they were last read, or what stands in the place of a repository's own.
func (f *Files) kept(ctx context.Context, repo, place sia.Repo, here *store.OwnSettings) (store.OwnSettings, error) {
	if here != nil && place.ID == repo.ID {
		return *here, nil
	}
	return f.store.Settings(ctx, place.ID)
}

// places are the repositories that may have the settings file for a repository, in
// order: itself, and the owner's where the app is installed on it. An installation
// is one owner's, so the name is enough.
func (f *Files) places(ctx context.Context, installation int64, repo sia.Repo) ([]sia.Repo, error) {
	if known, err := f.covers(ctx, installation, repo); err != nil || !known {
		return nil, err
	}
	owners, err := f.store.RepositoryNamed(ctx, installation, sia.OwnersRepo)
	if errors.Is(err, store.ErrNotFound) || err == nil && owners.ID == repo.ID {
		return []sia.Repo{repo}, nil
	}
	// The owner may have been renamed since the app was installed.
	return []sia.Repo{repo, {ID: owners.ID, Owner: repo.Owner, Name: sia.OwnersRepo}}, err
}

// lookUp takes up a repository's own settings as they stand on its default branch
// now, unless that is still at the commit that was read last. It asks GitHub's API,
// where asking again what did not change costs nothing, and not git, which would
// bring all of the repository here for one file.
//
// A repository that is gone, empty, renamed or out of the app's sight has no file.
// That GitHub fails is an error, to be tried again: settings don't end because a
// server does. What trying again can't help, such as a permission that is missing,
// leaves the last good settings, with a warning.
func (f *Files) lookUp(
	ctx context.Context, installation int64, place sia.Repo, read string,
) (warning string, err error) {
	repo := f.github.Repo(installation, place)
	sha, found, err := repo.DefaultHead(ctx)
	var b []byte
	switch {
	case err == nil && found && sha == read:
		return "", nil
	case err == nil && found:
		b, found, err = repo.File(ctx, sha, settingsFile, settingsLimit)
	}
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	bad, err := f.takeUp(ctx, installation, place, sha, b, err)
	const unusable = "The settings in `%s` of `%s` can't be used, so the last good ones hold"
	var refused *sia.Error
	switch {
	case errors.As(err, &refused) && refused.Permanent:
		return fmt.Sprintf(unusable+": %s", settingsFile, place, refused.Message), nil
	case err == nil && bad != nil:
		// What the file says stays where it is: not everybody who sees a task may see it.
		return fmt.Sprintf(unusable+". The check `%s` on its commit `%.12s` says what is wrong.", settingsFile, place,
			render.ConfigCheckName, sha), nil
	}
	return "", err
}
