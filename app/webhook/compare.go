package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Compare updates the stored installations and repositories from GitHub. Deliveries may be lost, and SIA subscribes
// to none that reports that a repository was deleted, renamed, or made public or private. A stored installation that
// GitHub does not list stays, until a delivery reports that it was deleted: with another app's key, none is listed.
func (in *Intake) Compare(ctx context.Context) error {
	known, err := in.Store.Installations(ctx)
	if err != nil {
		return err
	}
	listed, err := in.GitHub.Installations(ctx)
	if err != nil {
		return err
	}
	var all []error
	for _, now := range listed {
		i := slices.IndexFunc(known, func(v store.Installation) bool { return v.ID == now.ID })
		var was store.Installation
		if i >= 0 {
			was = known[i]
		}
		if err := in.compare(ctx, was, now); err != nil {
			all = append(all, fmt.Errorf("compare installation %d with GitHub: %w", now.ID, err))
		}
	}
	return errors.Join(all...)
}

// compare updates one installation, which was stored, or zero, from what it is now.
func (in *Intake) compare(ctx context.Context, was store.Installation, now github.Installation) error {
	if now.Suspended != was.Suspended {
		if err := in.suspend(ctx, now.ID, now.Suspended); err != nil {
			return err
		}
	}
	if is := (store.Installation{ID: now.ID, Account: now.Account, Suspended: now.Suspended}); is != was {
		if err := in.Store.UpsertInstallation(ctx, is); err != nil {
			return err
		}
	}
	if now.Suspended {
		return nil
	}
	repos, err := in.Store.Repositories(ctx, now.ID)
	if err != nil {
		return err
	}
	listed, err := in.GitHub.Repositories(ctx, now.ID)
	if err != nil {
		return err
	}
	var all []error
	for _, r := range repos {
		all = append(all, in.compareRepository(ctx, r, listed))
	}
	return errors.Join(append(all, in.adopt(ctx, now.ID, repos, listed))...)
}

// adopt saves the repositories that GitHub lists for an installation and that are not stored, and has them set up. They
// may be old, so no settings are proposed to them.
func (in *Intake) adopt(
	ctx context.Context, installation int64, known []store.Repository, listed []github.Repository,
) error {
	var added []sia.Repo
	for _, r := range listed {
		if !slices.ContainsFunc(known, func(k store.Repository) bool { return k.ID == r.ID }) {
			added = append(added, r.Repo)
		}
	}
	if err := in.Store.AddRepositories(ctx, installation, added); err != nil {
		return err
	}
	for _, r := range added {
		if err := in.moveTasks(ctx, installation, r); err != nil {
			return err
		}
	}
	return in.Store.PlanSetups(ctx, installation, added, 0, false)
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
