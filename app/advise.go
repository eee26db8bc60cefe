package app

import (
	"context"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/settings"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
)

// adviser supplies the pages with policies, and the decisions that they learn from.
type adviser struct{ store *store.Store }

// InForce returns the policies that may be in force in a repository, as last read.
func (a adviser) InForce(ctx context.Context, repo store.Repository) (*policies.Set, error) {
	return settings.Kept(ctx, a.store, repo.Installation, repo.Repo)
}

// Mined returns the decisions with a known outcome, for package mine.
func (a adviser) Mined(ds []sia.Decision) (known []mine.Decision) {
	contexts, _ := learn.Snapshots(ds)
	for i, d := range ds {
		if m, ok := learn.ForMining(d, contexts[i]); ok {
			known = append(known, m)
		}
	}
	return known
}
