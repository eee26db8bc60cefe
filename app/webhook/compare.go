package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
)

// Compare updates the stored installations and repositories from GitHub. Deliveries may be lost, and SIA subscribes
// to none that reports that a repository was deleted, renamed, or made public or private.
func (in *Intake) Compare(ctx context.Context) error {
	known, err := in.Store.Installations(ctx)
	all := []error{err}
	for _, v := range known {
		if err := in.compare(ctx, v); err != nil {
			all = append(all, fmt.Errorf("compare installation %d with GitHub: %w", v.ID, err))
		}
	}
	return errors.Join(all...)
}

// compare updates one installation. One that is not found stays, until a delivery reports that it was deleted: with
// another app's key, none is found.
func (in *Intake) compare(ctx context.Context, v store.Installation) error {
	now, installed, err := in.GitHub.Installation(ctx, v.ID)
	if err != nil || !installed {
		return err
	}
	if now.Suspended != v.Suspended {
		if err := in.suspend(ctx, v.ID, now.Suspended); err != nil {
			return err
		}
	}
	if is := (store.Installation{ID: v.ID, Account: now.Account, Suspended: now.Suspended}); is != v {
		if err := in.Store.UpsertInstallation(ctx, is); err != nil {
			return err
		}
	}
	repos, err := in.Store.Repositories(ctx, v.ID)
	if err != nil || len(repos) == 0 || now.Suspended {
		return err
	}
	listed, err := in.GitHub.Repositories(ctx, v.ID)
	if err != nil {
		return err
	}
	var all []error
	for _, r := range repos {
		all = append(all, in.compareRepository(ctx, r, listed))
	}
	return errors.Join(all...)
}

// compareRepository compares a stored repository with those that GitHub lists for its installation.
func (in *Intake) compareRepository(ctx context.Context, known store.Repository, listed []github.Repository) error {
	i := slices.IndexFunc(listed, func(r github.Repository) bool { return r.ID == known.ID })
	switch {
	case i >= 0:
		now := store.Repository{Repo: listed[i].Repo, Installation: known.Installation,
			DefaultBranch: listed[i].DefaultBranch, Private: listed[i].Private}
		if now == known {
			return nil
		}
		if err := in.Store.UpsertRepository(ctx, now); err != nil {
			return err
		}
		return in.moveTasks(ctx, now.Installation, now.Repo)
	case slices.ContainsFunc(listed, func(r github.Repository) bool { return r.String() == known.String() }):
		return in.forget(ctx, known.Installation, known.ID, "the repository is gone, and another one has its name")
	}
	return in.remove(ctx, administration{installation: known.Installation}, known.Repo)
}
