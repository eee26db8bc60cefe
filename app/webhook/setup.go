package webhook

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
)

// Welcomer proposes settings to a new repository, and counts the checks that this starts. It sets all of the result but
// the state. It is idempotent, and its errors are transient.
type Welcomer interface {
	Welcome(ctx context.Context, r store.Setup) (store.SetupResult, error)
}

// Setup prepares a repository: it creates the labels, and proposes settings if the repository is new. Each repository
// has a job of its own, so that none delays another, at a rate that the store limits.
func (in *Intake) Setup(ctx context.Context, r store.Setup) (store.SetupResult, error) {
	repo := in.GitHub.Repo(r.Installation, r.Repo)
	found, err := repo.Repository(ctx)
	if err != nil {
		return store.SetupResult{}, err
	}
	if found.Archived {
		return store.SetupResult{State: store.SetupArchived, Welcome: "the repository is archived"}, nil
	}
	if !in.Allowed.Has(r.Repo) {
		return store.SetupResult{State: store.SetupDone, Welcome: "the server's --repos leaves it out"}, nil
	}
	r.DefaultBranch, r.Private = found.DefaultBranch, found.Private
	if err := in.Store.UpsertRepository(ctx, r.Repository); err != nil {
		return store.SetupResult{}, err
	}
	set, err := in.Settings.Settings(ctx, r.Installation, r.Repo)
	if err != nil {
		return store.SetupResult{}, err
	}
	if err := repo.EnsureLabels(ctx, render.Labels(set.Label)); err != nil {
		return store.SetupResult{}, err
	}
	result, err := in.Welcome.Welcome(ctx, r)
	result.State = store.SetupDone
	return result, err
}
