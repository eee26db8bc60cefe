package webhook

import (
	"context"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
)

// Welcomer proposes settings to a repository that is new, and returns the result in words for people,
// which counts without an error only. Doing it twice is harmless; an error is one that may pass.
type Welcomer interface {
	Welcome(ctx context.Context, r store.Setup) (came string, err error)
}

// Setup makes a repository ready to be worked in: the labels are there, and it has got settings
// proposed where it is new. It is one job for each repository, so that none holds up another, at a
// pace that the store keeps.
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
	labels := render.Labels(set.Label)
	want := make([]github.Label, len(labels))
	for i, l := range labels {
		want[i] = github.Label{Name: l.Name, Color: l.Color, Description: l.Description}
	}
	if err := repo.EnsureLabels(ctx, want); err != nil {
		return store.SetupResult{}, err
	}
	came, err := in.Welcome.Welcome(ctx, r)
	return store.SetupResult{State: store.SetupDone, Welcome: came}, err
}
