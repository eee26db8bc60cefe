package webhook

import (
	"context"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
)

// Setup makes a repository ready to be worked in: the labels are there. It is one job for
// each repository, so that none holds up another, at a pace that the store keeps.
func (in *Intake) Setup(ctx context.Context, r store.Repository) (store.SetupState, error) {
	repo := in.GitHub.Repo(r.Installation, r.Repo)
	found, err := repo.Repository(ctx)
	if err != nil {
		return "", err
	}
	if found.Archived {
		return store.SetupArchived, nil
	}
	r.DefaultBranch, r.Private = found.DefaultBranch, found.Private
	if err := in.Store.UpsertRepository(ctx, r); err != nil {
		return "", err
	}
	set, err := in.Settings.Settings(ctx, r.Installation, r.Repo)
	if err != nil {
		return "", err
	}
	labels := render.Labels(set.Label)
	want := make([]github.Label, len(labels))
	for i, l := range labels {
		want[i] = github.Label{Name: l.Name, Color: l.Color, Description: l.Description}
	}
	return store.SetupDone, repo.EnsureLabels(ctx, want)
}
