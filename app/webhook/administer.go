package webhook

import (
	"context"
	"time"

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
	gone         string    // why everything ends; empty when it does not
	suspended    bool      // everything pauses
	unsuspended  bool      // what the suspension paused goes on
	permitted    bool      // the app may do more, or less, than before
	pushed       *push     // nil: it is about the installation
	board        *board    // nil: it is not about a dashboard
	act          store.Act // what somebody did, as `sia audit` lists it; zero: nothing of that kind
	changed      time.Time // when the installation had last changed, as the delivery shows it
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
		if err := in.gone(ctx, store.Filter{Installation: a.installation}, a.gone); err != nil {
			return err
		}
		return in.Store.RemoveInstallation(ctx, a.installation)
	}
	now, known, err := in.GitHub.Installation(ctx, a.installation)
	if err != nil {
		return err
	}
	if known && !now.Updated.Before(a.changed) { // else one of GitHub's servers has not heard of it
		a.suspended, a.unsuspended = now.Suspended, a.suspended || a.unsuspended
	}
	if err := in.Store.UpsertInstallation(ctx, store.Installation{ID: a.installation, Account: a.account,
		Suspended: a.suspended}); err != nil {
		return err
	}
	if a.suspended || a.unsuspended {
		if err := in.suspend(ctx, a.installation, a.suspended); err != nil {
			return err
		}
	}
	for _, r := range a.removed {
		if err := in.remove(ctx, a, r); err != nil {
			return err
		}
	}
	if err := in.Store.AddRepositories(ctx, a.installation, a.added); err != nil {
		return err
	}
	for _, r := range a.added {
		if err := in.follow(ctx, a.installation, r); err != nil {
			return err
		}
	}
	// Once all are known: one may hold the settings of the others.
	return in.Store.PlanSetups(ctx, a.installation, a.added, len(a.added), a.permitted)
}

// suspend pauses everything of an installation that GitHub has suspended, or lets it go on.
func (in *Intake) suspend(ctx context.Context, installation int64, suspended bool) (err error) {
	scope := sia.SuspensionHalt(installation)
	if suspended {
		_, err = in.Store.Halt(ctx, store.Halt{Scope: scope, At: in.Now(),
			Reason: "the app's installation was suspended on GitHub"})
	} else {
		_, _, err = in.Store.Lift(ctx, scope, "", in.Now())
	}
	return err
}

// remove forgets a repository that was taken out of an installation, and stops its tasks. GitHub is asked first: it may
// be in the installation again, or in another account's, to which it was transferred.
func (in *Intake) remove(ctx context.Context, a administration, repo sia.Repo) error {
	now, covered, err := in.GitHub.InstallationOn(ctx, repo)
	if err != nil || covered && now.ID == a.installation && !now.Updated.Before(a.changed) {
		return err
	}
	if covered && now.ID != a.installation {
		_, moved, err := in.registerRepository(ctx, now.ID, repo, "")
		if moved && err == nil || err != nil && !sia.IsPermanent(err) {
			return err
		} // else its name is another's by now
	}
	return in.forget(ctx, a.installation, repo.ID, "the repository was taken out of the app's installation")
}

// forget forgets a repository that an installation has no more, and ends its tasks.
func (in *Intake) forget(ctx context.Context, installation, repo int64, reason string) error {
	if err := in.gone(ctx, store.Filter{Installation: installation, Repo: repo}, reason); err != nil {
		return err
	}
	return in.Store.RemoveRepository(ctx, installation, repo)
}

// gone stops every task of a filter that has not ended, and has the others know that GitHub can't be asked about them.
func (in *Intake) gone(ctx context.Context, f store.Filter, reason string) error {
	f.Limit = store.NoLimit
	tasks, err := in.Store.Tasks(ctx, f)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		e := sia.Event{ID: "administration/" + string(sia.KStop) + "/" + in.Now().UTC().Format("20060102T150405.000"),
			At: in.Now(), Fact: sia.Stop{Reason: reason, Gone: true}}
		if _, err := in.Store.Apply(ctx, t.ID, e); err != nil {
			return err
		}
	}
	return nil
}
