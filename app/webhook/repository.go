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

// registerRepository stores a repository that a delivery names, if it is unknown or has changed. The app may have
// been installed before this server existed, or a delivery was lost. An empty defaultBranch means unknown. It returns
// the repository's current place, since a late delivery may name an old one, and false if that can't be determined,
// because another repository has the name.
func (in *Intake) registerRepository(
	ctx context.Context, installation int64, repo sia.Repo, defaultBranch string,
) (now store.Repository, ok bool, err error) {
	known, err := in.Store.Repository(ctx, repo.ID)
	isKnown := err == nil
	switch {
	case isKnown && known.Installation == installation && known.Repo == repo &&
		(defaultBranch == "" || defaultBranch == known.DefaultBranch):
		return known, true, nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return known, false, err
	}
	found, installation, err := in.locate(ctx, known, installation, repo)
	if err != nil {
		return known, false, err
	}
	if found.ID != repo.ID { // renamed; a later delivery has the new name
		return known, isKnown, nil
	}
	installed, err := in.Store.Installations(ctx)
	if err != nil {
		return known, false, err
	}
	if !slices.ContainsFunc(installed, func(i store.Installation) bool { return i.ID == installation }) {
		err := in.Store.UpsertInstallation(ctx, store.Installation{ID: installation, Account: found.Owner})
		if err != nil {
			return known, false, err
		}
	}
	in.Logger.InfoContext(ctx, "repository registered", "repo", found.Repo.String(), "installation",
		installation)
	now = store.Repository{Repo: found.Repo, Installation: installation, DefaultBranch: found.DefaultBranch,
		Private: found.Private}
	if err := in.Store.UpsertRepository(ctx, now); err != nil {
		return known, false, err
	}
	if err := in.moveTasks(ctx, installation, found.Repo); err != nil {
		return known, false, err
	}
	return now, true, in.Store.PlanSetups(ctx, installation, []sia.Repo{found.Repo}, 0, false)
}

// locate asks GitHub about a repository that a delivery names. A delivery from another installation than the stored
// one may be late, so it tries a token of the stored one first, which is valid for this repository alone.
func (in *Intake) locate(
	ctx context.Context, known store.Repository, installation int64, repo sia.Repo,
) (github.Repository, int64, error) {
	if known.ID == repo.ID && known.Installation != installation {
		found, err := in.GitHub.Repo(known.Installation, known.Repo).ByID(ctx)
		if err == nil {
			return found, known.Installation, nil
		}
	}
	found, err := in.GitHub.Repo(installation, repo).Repository(ctx)
	return found, installation, err
}

// moveTasks updates the place of the repository in all of its tasks.
func (in *Intake) moveTasks(ctx context.Context, installation int64, repo sia.Repo) error {
	tasks, err := in.Store.Tasks(ctx, store.Filter{Repo: repo.ID, Limit: store.NoLimit})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if _, err := in.moveTask(ctx, t, installation, repo); err != nil {
			return err
		}
	}
	return nil
}

// moveTask updates the place of the repository in a task, and returns the task.
func (in *Intake) moveTask(ctx context.Context, t sia.Task, installation int64, repo sia.Repo) (sia.Task, error) {
	if t.Installation == installation && t.Repo == repo && !t.Gone {
		return t, nil
	}
	r, err := in.Store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("moved/%s/v%d", t.ID, t.Version), At: in.Now(),
		Fact: sia.RepoMoved{Installation: installation, Repo: repo}})
	return r.Task, err
}
