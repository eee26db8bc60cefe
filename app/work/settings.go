package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
)

// settingsFile is where a repository keeps its settings, on its base branch.
const (
	settingsFile  = config.Path
	settingsLimit = 64 << 10
)

// inForce are the settings in force in a repository.
type inForce struct {
	sia.Settings
	from    string // the file that they are from, for people; empty: there is none, and the defaults hold
	warning string // for people: a file that can't be used
}

// Settings gives the settings last known to be in force in a repository. A file
// that was never read, here or in the owner's .github repository, is read first:
// it may name another label, and then nothing would ever begin. The files are
// read anew before each attempt.
func (w *Worker) Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error) {
	known, err := w.settings(ctx, installation, repo, false)
	if known.warning != "" {
		w.Logger.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "why", known.warning)
	}
	return known.Settings, err
}

// settingsAt reads the settings of a commit of the base branch, and the owner's
// anew when the repository has none of its own. A file that is wrong leaves the
// last good settings in force, and a warning.
func (w *Worker) settingsAt(ctx context.Context, installation int64, repo sia.Repo, sha string) (inForce, error) {
	bad, err := w.readSettings(ctx, installation, repo, sha)
	if err != nil {
		return inForce{}, err
	}
	known, err := w.settings(ctx, installation, repo, true)
	if bad != nil {
		own := fmt.Sprintf("The settings in `%s` can't be used, so the last good ones hold: %v", settingsFile, bad)
		known.warning = strings.TrimSuffix(own+"\n\n"+known.warning, "\n\n")
	}
	return known, err
}

// readSettings takes up a repository's own settings as a commit of its base branch
// has them.
func (w *Worker) readSettings(ctx context.Context, installation int64, repo sia.Repo, sha string) (bad *config.Invalid, err error) {
	b, err := w.mirrorOf(installation, repo).ReadFile(ctx, sha, settingsFile, settingsLimit)
	return w.takeUp(ctx, installation, repo, sha, b, err)
}

// takeUp keeps what a repository's own settings file says, which was read with an
// error or without. A file that is wrong is reported on its commit; the last good
// settings stay.
func (w *Worker) takeUp(ctx context.Context, installation int64, repo sia.Repo, sha string, b []byte, err error) (bad *config.Invalid, _ error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, w.Store.SaveSettings(ctx, repo.ID, store.OwnSettings{SHA: sha})
	case errors.Is(err, gitops.ErrTooLarge) || errors.Is(err, github.ErrTooLarge):
		bad = &config.Invalid{Name: settingsFile, Problems: []config.Problem{{Message: fmt.Sprintf("the file has more than %d KiB, which settings never need", settingsLimit>>10)}}}
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", settingsFile, err)
	default:
		set, err := config.Parse(settingsFile, b)
		if !errors.As(err, &bad) {
			return nil, w.Store.SaveSettings(ctx, repo.ID, store.OwnSettings{Settings: &set, SHA: sha})
		}
	}
	spec := checkRunSpec(render.ConfigCheckRun(bad.Problems), sha)
	spec.Name, spec.ExternalID = render.ConfigCheckName, "settings/"+sha
	if _, _, _, err := w.GitHub.Repo(installation, repo).UpsertCheckRun(ctx, spec, 0); err != nil {
		return bad, err
	}
	if _, err := w.Store.Settings(ctx, repo.ID); errors.Is(err, store.ErrNotFound) {
		return bad, w.Store.SaveSettings(ctx, repo.ID, store.OwnSettings{}) // read, and nothing good found yet
	}
	return bad, nil
}

// SettingsEdited reads the settings of a commit that somebody pushed to the default
// branch, so that what is wrong is said on the commit that introduced it. Tasks
// take settings up when their next attempt begins.
func (w *Worker) SettingsEdited(ctx context.Context, installation int64, repo sia.Repo, sha string) error {
	if known, err := w.covers(ctx, installation, repo); err != nil || !known {
		return err
	}
	bad, err := w.readSettings(ctx, installation, repo, sha)
	if bad != nil {
		w.Logger.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "sha", sha, "why", bad.Error())
	}
	return err
}

// covers reports whether the installation covers a repository, as far as SIA knows.
func (w *Worker) covers(ctx context.Context, installation int64, repo sia.Repo) (bool, error) {
	known, err := w.Store.Repository(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && known.Installation == installation, err
}
