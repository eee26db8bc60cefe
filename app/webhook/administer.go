package webhook

import (
	"context"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// administration is what an event says about an installation itself, or about
// what lies in a repository beside its tasks.
type administration struct {
	installation int64
	account      string
	added        []sia.Repo
	removed      []sia.Repo
	gone         string // why everything ends; empty when it does not
	suspended    bool   // everything pauses
	unsuspended  bool   // what the suspension paused goes on
	permitted    bool   // the app may do more, or less, than before
	pushed       *push  // nil: it is about the installation
	board        *board // nil: it is not about a dashboard
}

// administer keeps the list of installations and repositories, and their labels.
func (in *Intake) administer(ctx context.Context, a administration) error {
	if a.pushed != nil {
		return in.pushed(ctx, a.installation, *a.pushed)
	}
	if a.board != nil {
		return nil // once its boxes were heard
	}
	in.GitHub.Forget(a.installation) // its tokens were made for what the app could do before
	if a.gone != "" {
		if err := in.each(ctx, store.Filter{Installation: a.installation}, sia.Stop{Reason: a.gone, Gone: true}); err != nil {
			return err
		}
		return in.Store.RemoveInstallation(ctx, a.installation)
	}
	if err := in.Store.UpsertInstallation(ctx, store.Installation{ID: a.installation, Account: a.account,
		Suspended: a.suspended}); err != nil {
		return err
	}
	if a.suspended {
		_, err := in.Store.Halt(ctx, store.Halt{Scope: sia.SuspensionHalt(a.installation), At: in.Now(),
			Reason: "the app's installation was suspended on GitHub"})
		return err
	}
	if a.unsuspended {
		if _, _, err := in.Store.Lift(ctx, sia.SuspensionHalt(a.installation), "", in.Now()); err != nil {
			return err
		}
	}
	for _, r := range a.removed {
		if err := in.each(ctx, store.Filter{Installation: a.installation, Repo: r.ID},
			sia.Stop{Reason: "the repository was taken out of the app's installation", Gone: true}); err != nil {
			return err
		}
		if err := in.Store.RemoveRepository(ctx, r.ID); err != nil {
			return err
		}
	}
	if err := in.Store.AddRepositories(ctx, a.installation, a.added); err != nil {
		return err
	}
	// Once all are known: one may hold the settings of the others.
	return in.Store.PlanSetups(ctx, a.installation, a.added, len(a.added), a.permitted)
}

// each applies a fact to every task of a filter that has not ended.
func (in *Intake) each(ctx context.Context, f store.Filter, fact sia.Fact) error {
	f.Open, f.Limit = true, store.EveryTask
	tasks, err := in.Store.Tasks(ctx, f)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		e := sia.Event{ID: "administration/" + string(fact.Kind()) + "/" + in.Now().UTC().Format("20060102T150405.000"),
			At: in.Now(), Fact: fact}
		if _, err := in.Store.Apply(ctx, t.ID, e); err != nil {
			return err
		}
	}
	return nil
}
