package settings

import (
	"context"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Store is what the package needs of the database. [store.Store] implements it.
type Store interface {
	PlanSetups(ctx context.Context, installation int64, repos []sia.Repo, together int, again bool) error
	Policies(ctx context.Context, repo int64) (files []store.PolicyFile, read store.PolicyRead, err error)
	Repository(ctx context.Context, id int64) (store.Repository, error)
	RepositoryNamed(ctx context.Context, installation int64, name string) (store.Repository, error)
	SavePolicies(ctx context.Context, repo int64, read store.PolicyRead, files []store.PolicyFile) error
	SaveSettings(ctx context.Context, repo int64, own store.OwnSettings) error
	Settings(ctx context.Context, repo int64) (own store.OwnSettings, err error)
}
