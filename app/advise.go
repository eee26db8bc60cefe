package app

import (
	"context"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/settings"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/work"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// newChooser returns a chooser of techniques, used for attempts and for the page with the preview.
func newChooser(g *deps, c Config) (*learn.Chooser, error) {
	setup, err := setupOf(c)
	if err != nil {
		return nil, err
	}
	return learn.NewChooser(g.store, bandit.NewLearner(policies.ShippedTechnique()), setup, g.now), nil
}

// assigner chooses coders.
type assigner struct {
	decider *learn.Decider
	coders  work.Coders
}

// adviser previews the choice of techniques and coders.
type adviser struct {
	store    *store.Store
	settings *settings.Files
	chooser  *learn.Chooser
	library  *technique.Library // the shipped techniques
	who      assigner
}

func newAdviser(s *store.Store, set *settings.Files, chooser *learn.Chooser, who assigner) adviser {
	library, _ := technique.LoadLibrary(nil) // it has no files that could be invalid
	return adviser{s, set, chooser, library, who}
}

// Assign ranks the coders that may work in a repository for a new task of a kind, by the policy in force there, best
// first, and returns the reason.
func (a adviser) Assign(
	ctx context.Context, repo store.Repository, kind policies.Kind,
) ([]coder.Option, string, error) {
	set, err := a.InForce(ctx, repo)
	if err != nil {
		return nil, "", err
	}
	in, read, err := a.settings.Kept(ctx, repo.Installation, repo.Repo)
	if err != nil {
		return nil, "", err
	}
	if !read {
		in.Settings = sia.DefaultSettings()
	}
	return a.who.decider.PreviewAssign(ctx, set, repo.Repo, in.Settings, kind,
		work.Candidates(a.who.coders.Allowed(in.Settings)))
}

// Advise ranks techniques for a pattern of failure in a repository, by the policy in force there, best first, and
// returns the reason.
func (a adviser) Advise(ctx context.Context, repo store.Repository, p sia.Pattern) ([]sia.Candidate, string, error) {
	set, err := a.InForce(ctx, repo)
	if err != nil {
		return nil, "", err
	}
	by := set.For(policies.TypeTechnique, policies.Context{Owner: repo.Owner, Repository: repo.String(), Attempt: 1,
		Failures: 1, Pattern: string(p)})
	return a.chooser.Preview(ctx, repo.Repo, p, a.library, by.Technique())
}

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
