package webhook

import (
	"context"
	"errors"
	"fmt"
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
	if err := in.followAll(ctx, []sia.Repo{found.Repo}); err != nil {
		return err
	}
	return in.Store.PlanSetups(ctx, installation, []sia.Repo{found.Repo}, 0, false)
}

// follow has a task follow its repository to the name and the installation that are known of it by now.
func (in *Intake) follow(ctx context.Context, t *sia.Task) error {
	known, err := in.Store.Repository(ctx, t.Repo.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && known.Installation == t.Installation && known.Repo == t.Repo {
		return nil
	}
	if err != nil {
		return err
	}
	e := sia.Event{ID: fmt.Sprintf("moved/%d/%s/%s", known.Installation, known.Repo,
		in.Now().UTC().Format("20060102T150405.000")), At: in.Now(),
		Fact: sia.RepositoryMoved{Installation: known.Installation, Repo: known.Repo}}
	if _, err := in.Store.Apply(ctx, t.ID, e); err != nil {
		return err
	}
	t.Installation, t.Repo = known.Installation, known.Repo
	return nil
}

// followAll has every task of some repositories follow them.
func (in *Intake) followAll(ctx context.Context, repos []sia.Repo) error {
	for _, r := range repos {
		tasks, err := in.Store.Tasks(ctx, store.Filter{Repo: r.ID, Limit: store.EveryTask})
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if err := in.follow(ctx, &t); err != nil {
				return err
			}
		}
	}
	return nil
}
