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

// inForce returns the settings in force in a repository: the last valid version of the first file that exists, its
// own or the owner's. It reads files that were never read before, and with refresh reads the owner's again.
// onBranch replace the repository's own; nil: they don't.
func (f *Files) inForce(
	ctx context.Context, installation int64, repo sia.Repo, onBranch *store.OwnSettings, refresh bool,
) (sia.InForce, error) {
	out := sia.InForce{Settings: sia.DefaultSettings()}
	sources, err := f.sources(ctx, installation, repo)
	if err != nil {
		return out, err
	}
	for _, source := range sources {
		own, err := f.stored(ctx, repo, source, onBranch)
		if errors.Is(err, store.ErrNotFound) || err == nil && refresh && source.ID != repo.ID {
			var warning string
			if warning, err = f.refresh(ctx, installation, source, own.SHA); err == nil {
				out.Warning = cmp.Or(warning, out.Warning)
				own, err = f.store.Settings(ctx, source.ID)
			}
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return out, err
		}
		if own.Settings != nil {
			out.Settings, out.From = *own.Settings, fmt.Sprintf("%s@%.12s:%s", source, own.SHA, settingsFile)
			break
		}
	}
	f.override(&out.Settings)
	return out, nil
}

// stored returns the settings of a source as last read, or onBranch instead of the repository's own.
func (f *Files) stored(
	ctx context.Context, repo, source sia.Repo, onBranch *store.OwnSettings,
) (store.OwnSettings, error) {
	if onBranch != nil && source.ID == repo.ID {
		return *onBranch, nil
	}
	return f.store.Settings(ctx, source.ID)
}

// sources returns the repositories that may have the settings of a repository, in order: itself, and the owner's
// .github repository if the app is installed on it. An installation belongs to one owner, so the name identifies it.
func (f *Files) sources(ctx context.Context, installation int64, repo sia.Repo) ([]sia.Repo, error) {
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

// refresh reads and stores the settings on a repository's default branch, unless it is still at the commit read,
// which was read last. It uses GitHub's API, where repeated requests without a change are free, and not git, which
// would fetch the whole repository for one file.
//
// A repository that is deleted, empty, renamed or inaccessible has no file. A failure of GitHub is an error, to be
// retried: the settings stay in force. A permanent failure, such as a missing permission, leaves the last valid
// settings in force, with a warning.
func (f *Files) refresh(
	ctx context.Context, installation int64, source sia.Repo, read string,
) (warning string, err error) {
	repo := f.github.Repo(installation, source)
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
	bad, err := f.readAndSave(ctx, installation, source, sha, b, err)
	const unusable = "The settings in `%s` of `%s` can't be used, so the last good ones hold"
	var refused *sia.Error
	switch {
	case errors.As(err, &refused) && refused.Permanent:
		return fmt.Sprintf(unusable+": %s", settingsFile, source, refused.Message), nil
	case err == nil && bad != nil:
		// The content of the file is not repeated: a reader of the task may lack access to it.
		return fmt.Sprintf(unusable+". The check `%s` on its commit `%.12s` says what is wrong.", settingsFile, source,
			render.ConfigCheckName, sha), nil
	}
	return "", err
}
