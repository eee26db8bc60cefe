package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
)

// settingsFile is where a repository keeps its settings, on its base branch.
const (
	settingsFile  = ".sia/config.yml"
	settingsLimit = 64 << 10
)

// Settings gives the settings last known to be in force in a repository, or the
// defaults. The base branch is read anew before each attempt.
func (w *Worker) Settings(ctx context.Context, _ int64, repo sia.Repo) (sia.Settings, error) {
	set, _, err := w.Store.Settings(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		return sia.DefaultSettings(), nil
	}
	return set, err
}

// settingsAt reads the settings of a commit of the base branch. A file that is
// wrong leaves the last good settings in force and is reported in warning.
func (w *Worker) settingsAt(ctx context.Context, installation int64, repo sia.Repo, sha string) (set sia.Settings, warning string, err error) {
	b, err := w.mirrorOf(installation, repo).ReadFile(ctx, sha, settingsFile, settingsLimit)
	if errors.Is(err, fs.ErrNotExist) {
		set = sia.DefaultSettings()
		return set, "", w.Store.SaveSettings(ctx, repo.ID, set, sha)
	}
	if err != nil {
		return set, "", fmt.Errorf("read %s: %w", settingsFile, err)
	}
	set, bad := config.Parse(settingsFile, b)
	if bad != nil {
		if err := w.reportSettings(ctx, installation, repo, sha, bad); err != nil {
			return set, "", err
		}
		last, err := w.Settings(ctx, installation, repo)
		return last, fmt.Sprintf("The settings in `%s` can't be used, so the last good ones hold: %v", settingsFile, bad), err
	}
	return set, "", w.Store.SaveSettings(ctx, repo.ID, set, sha)
}

// reportSettings marks the commit whose settings can't be used with a failing
// check run, on the lines that are wrong.
func (w *Worker) reportSettings(ctx context.Context, installation int64, repo sia.Repo, sha string, bad error) error {
	var invalid *config.Invalid
	if !errors.As(bad, &invalid) {
		return nil
	}
	spec := checkRunSpec(render.ConfigCheckRun(invalid.Problems), sha)
	spec.Name, spec.ExternalID = render.ConfigCheckName, "settings/"+sha
	_, _, _, err := w.GitHub.Repo(installation, repo).UpsertCheckRun(ctx, spec, 0)
	return err
}

// SettingsEdited reads the settings of a commit that somebody pushed to the default
// branch, so that what is wrong is said on the commit that introduced it. Tasks
// take settings up when their next attempt begins.
func (w *Worker) SettingsEdited(ctx context.Context, installation int64, repo sia.Repo, sha string) error {
	known, err := w.Store.Repository(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && known.Installation != installation {
		return nil // it was taken out of the installation
	}
	if err != nil {
		return err
	}
	_, warning, err := w.settingsAt(ctx, installation, repo, sha)
	if warning != "" {
		w.Logger.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "sha", sha, "why", warning)
	}
	return err
}
