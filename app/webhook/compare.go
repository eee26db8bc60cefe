package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
)

// Compare brings what is known of installations and their repositories up to date with GitHub. The deliveries that said
// so may be lost, and none that SIA asks for says that a repository was deleted, renamed, made public or private.
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

// compare does it for one installation. One that is not found stays as it is, until the delivery says that it is gone:
// none is found by the key of another app.
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
	there, err := in.GitHub.Repositories(ctx, v.ID)
	if err != nil {
		return err
	}
	var all []error
	for _, r := range repos {
		all = append(all, in.compareRepository(ctx, r, there))
	}
	return errors.Join(all...)
}

// compareRepository compares a repository with those that GitHub lists of its installation.
func (in *Intake) compareRepository(ctx context.Context, known store.Repository, there []github.Repository) error {
	i := slices.IndexFunc(there, func(r github.Repository) bool { return r.ID == known.ID })
	switch {
	case i >= 0:
		now := store.Repository{Repo: there[i].Repo, Installation: known.Installation,
			DefaultBranch: there[i].DefaultBranch, Private: there[i].Private}
		if now == known {
			return nil
		}
		if err := in.Store.UpsertRepository(ctx, now); err != nil {
			return err
		}
		return in.follow(ctx, now.Installation, now.Repo)
	case slices.ContainsFunc(there, func(r github.Repository) bool { return r.String() == known.String() }):
		return in.forget(ctx, known.Installation, known.ID, "the repository is gone, and another one has its name")
	}
	return in.remove(ctx, administration{installation: known.Installation}, known.Repo)
}
