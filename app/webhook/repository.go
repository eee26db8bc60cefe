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

// registerRepository makes a repository known that a delivery names and nothing else did: the app was
// installed on it before this server was there, or the delivery that said so is lost. So it does where
// the delivery says that the default branch is another; empty: it doesn't say. It returns where the repository is now,
// for a delivery may be late and name what it was; false where that can't be told, for its name is another's by now.
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
	if found.ID != repo.ID { // it has another name by now, and what it says next will tell
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
	if err := in.follow(ctx, installation, found.Repo); err != nil {
		return known, false, err
	}
	return now, true, in.Store.PlanSetups(ctx, installation, []sia.Repo{found.Repo}, 0, false)
}

// locate asks GitHub about a repository that a delivery names. Where the delivery is of another installation than the
// known one, it may be late: a token of the known one, good for this repository alone, tells.
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

// follow has every task of a repository know where that is now.
func (in *Intake) follow(ctx context.Context, installation int64, repo sia.Repo) error {
	tasks, err := in.Store.Tasks(ctx, store.Filter{Repo: repo.ID, Limit: store.NoLimit})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if _, err := in.move(ctx, t, installation, repo); err != nil {
			return err
		}
	}
	return nil
}

// move has a task know where its repository is now, and returns the task.
func (in *Intake) move(ctx context.Context, t sia.Task, installation int64, repo sia.Repo) (sia.Task, error) {
	if t.Installation == installation && t.Repo == repo && !t.Gone {
		return t, nil
	}
	r, err := in.Store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("moved/%s/v%d", t.ID, t.Version), At: in.Now(),
		Fact: sia.RepoMoved{Installation: installation, Repo: repo}})
	return r.Task, err
}
