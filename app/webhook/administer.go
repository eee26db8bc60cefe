package webhook

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// administration is an event about an installation, or about a repository but none of its tasks.
type administration struct {
	installation       int64
	account            string
	added              []sia.Repo
	removed            []sia.Repo
	endReason          string       // why all tasks end; empty: they don't
	suspended          bool         // all tasks pause
	unsuspended        bool         // tasks that the suspension paused resume
	permissionsChanged bool         // the app's permissions changed
	pushed             *push        // nil: no push
	board              *boardChange // nil: not about a dashboard
	act                store.Act    // for `sia audit`; zero: nothing to list
	changed            time.Time    // when the installation last changed, according to the delivery
}

// administer updates the stored installations and repositories, and their labels.
func (in *Intake) administer(ctx context.Context, a administration) error {
	if a.pushed != nil {
		return in.handlePush(ctx, a.installation, *a.pushed)
	}
	if a.board != nil {
		return nil // updateBoard follows, after its ticked boxes
	}
	in.GitHub.Forget(a.installation) // cached tokens have the old permissions
	if a.endReason != "" {
		if err := in.stopTasks(ctx, store.Filter{Installation: a.installation}, a.endReason); err != nil {
			return err
		}
		return in.Store.RemoveInstallation(ctx, a.installation)
	}
	now, known, err := in.GitHub.Installation(ctx, a.installation)
	if err != nil {
		return err
	}
	if known && !now.Updated.Before(a.changed) { // not from a lagging replica of GitHub
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
		if err := in.moveTasks(ctx, a.installation, r); err != nil {
			return err
		}
	}
	// After all are stored: one may hold the settings of the others.
	return in.Store.PlanSetups(ctx, a.installation, a.added, len(a.added), a.permissionsChanged)
}

// suspend pauses all tasks of an installation that GitHub has suspended, or resumes them.
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

// remove forgets a repository that was taken out of an installation, and stops its tasks. It asks GitHub first: the
// repository may be in the installation again, or in that of another account, to which it was transferred.
func (in *Intake) remove(ctx context.Context, a administration, repo sia.Repo) error {
	now, covered, err := in.GitHub.InstallationOn(ctx, repo)
	if err != nil || covered && now.ID == a.installation && !now.Updated.Before(a.changed) {
		return err
	}
	if covered && now.ID != a.installation {
		_, moved, err := in.registerRepository(ctx, now.ID, repo, "")
		if moved && err == nil || err != nil && !sia.IsPermanent(err) {
			return err
		} // else another repository has its name
	}
	return in.forget(ctx, a.installation, repo.ID, "the repository was taken out of the app's installation")
}

// forget removes a repository that an installation no longer has, and ends its tasks.
func (in *Intake) forget(ctx context.Context, installation, repo int64, reason string) error {
	if err := in.stopTasks(ctx, store.Filter{Installation: installation, Repo: repo}, reason); err != nil {
		return err
	}
	return in.Store.RemoveRepository(ctx, installation, repo)
}

// stopTasks stops the running tasks of a filter, and marks the others as gone: GitHub can't be asked about them.
func (in *Intake) stopTasks(ctx context.Context, f store.Filter, reason string) error {
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
