package webhook

import (
	"context"
	"errors"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// registerRepository makes a repository known that a delivery names and nothing else did: the app was
// installed on it before this server was there, or the delivery that said so is lost. So it does where
// the delivery says that the default branch is another; empty: it doesn't say.
func (in *Intake) registerRepository(
	ctx context.Context, installation int64, repo sia.Repo, defaultBranch string,
) error {
	known, err := in.Store.Repository(ctx, repo.ID)
	switch {
	case err == nil && known.Installation == installation && known.Repo == repo &&
		(defaultBranch == "" || defaultBranch == known.DefaultBranch):
		return nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	found, err := in.GitHub.Repo(installation, repo).Repository(ctx)
	if err != nil {
		return err
	}
	if found.ID != repo.ID {
		return nil // it has another name by now, and what it says next will tell
	}
	installed, err := in.Store.Installations(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(installed, func(i store.Installation) bool { return i.ID == installation }) {
		err := in.Store.UpsertInstallation(ctx, store.Installation{ID: installation, Account: found.Owner})
		if err != nil {
			return err
		}
	}
	in.Logger.InfoContext(ctx, "repository registered", "repo", found.Repo.String(), "installation",
		installation)
	if err := in.Store.UpsertRepository(ctx, store.Repository{Repo: found.Repo, Installation: installation,
		DefaultBranch: found.DefaultBranch, Private: found.Private}); err != nil {
		return err
	}
	return in.Store.PlanSetups(ctx, installation, []sia.Repo{found.Repo}, 0, false)
}
