package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
)

// The path of a repository's settings on its base branch, and the limit on their size in bytes.
const (
	settingsFile  = config.Path
	settingsLimit = 64 << 10
)

// Files reads, stores and reports the settings files of repositories and of their owners. It is safe for concurrent
// use.
type Files struct {
	store    Store
	github   *github.App
	git      *gitops.Cache
	override func(*sia.Settings)
	only     *policies.Set // nil: use the policy files
	log      *slog.Logger

	// reportLocks serialize the reports on a repository: each looks for an existing check run first, and a push and a
	// task can find the same error at once. Several repositories share a lock.
	reportLocks [64]sync.Mutex
}

// New returns the settings files of all repositories that the app can access. override changes settings after they
// are read. If only is not nil, these policies are in force, whatever the policy files contain.
func New(
	s Store, gh *github.App, git *gitops.Cache, override func(*sia.Settings), only *policies.Set, log *slog.Logger,
) *Files {
	return &Files{store: s, github: gh, git: git, override: override, only: only, log: log}
}

// Settings returns the last known settings in force in a repository. It reads a file that was never read before, here
// or in the owner's .github repository: the file may name another label, without which no task would start. The files
// are read again before each attempt.
func (f *Files) Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error) {
	known, err := f.inForce(ctx, installation, repo, nil, false)
	if known.Warning != "" {
		f.log.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "why", known.Warning)
	}
	return known.Settings, err
}

// At reads the settings at a commit of a branch, which is a task's base, and reads the owner's again if the
// repository has none of its own. Settings on the default branch are stored as the repository's; those on other
// branches apply to this call only. If the file is invalid, the last valid settings stay in force, with a warning.
func (f *Files) At(
	ctx context.Context, installation int64, repo sia.Repo, branch, sha string,
) (sia.InForce, error) {
	b, err := f.git.Repo(f.github.Repo(installation, repo).Remote()).ReadFile(ctx, sha, settingsFile, settingsLimit)
	own, bad, err := f.read(ctx, installation, repo, sha, b, err)
	if err != nil {
		return sia.InForce{}, err
	}
	defaultBranch, err := f.defaultBranch(ctx, repo, branch)
	if err != nil {
		return sia.InForce{}, err
	}
	var onBranch *store.OwnSettings // nil: use the repository's
	if branch == defaultBranch {
		err = f.save(ctx, repo, sha, own, bad)
	} else if bad == nil {
		onBranch = &store.OwnSettings{Settings: own, SHA: sha}
	}
	if err != nil {
		return sia.InForce{}, err
	}
	known, err := f.inForce(ctx, installation, repo, onBranch, true)
	if bad != nil {
		text := fmt.Sprintf("The settings in `%s` can't be used, so the last good ones hold: %v", settingsFile, bad)
		known.Warning = strings.TrimSuffix(text+"\n\n"+known.Warning, "\n\n")
	}
	return known, err
}

// defaultBranch returns a repository's default branch if it is known, or else maybe.
func (f *Files) defaultBranch(ctx context.Context, repo sia.Repo, maybe string) (string, error) {
	known, err := f.store.Repository(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return cmp.Or(known.DefaultBranch, maybe), err
}

// readAndSave reads and stores the settings in the file on a repository's default branch. b and err are the result of
// reading the file.
func (f *Files) readAndSave(
	ctx context.Context, installation int64, repo sia.Repo, sha string, b []byte, err error,
) (bad *invalid.File, _ error) {
	own, bad, err := f.read(ctx, installation, repo, sha, b, err)
	if err != nil {
		return bad, err
	}
	return bad, f.save(ctx, repo, sha, own, bad)
}

// read parses a repository's own settings; nil: there are none. b and err are the result of reading the file. It
// reports an invalid file on its commit.
func (f *Files) read(
	ctx context.Context, installation int64, repo sia.Repo, sha string, b []byte, err error,
) (own *sia.Settings, bad *invalid.File, _ error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case errors.Is(err, gitops.ErrTooLarge) || errors.Is(err, github.ErrTooLarge):
		bad = &invalid.File{Name: settingsFile, Problems: []invalid.Problem{{Message: fmt.Sprintf("the file has more "+
			"than %d KiB, which settings never need", settingsLimit>>10)}}}
	case err != nil:
		return nil, nil, fmt.Errorf("read %s: %w", settingsFile, err)
	default:
		var found config.Effective
		found, err = config.Resolve(&config.File{Name: settingsFile, Content: b})
		if !errors.As(err, &bad) {
			if bad, err = f.checkMemoryBranch(ctx, installation, repo, found); err != nil {
				return nil, nil, err
			}
		}
		if bad == nil {
			return &found.Settings, nil, nil
		}
	}
	return nil, bad, f.report(ctx, installation, repo, sha, bad)
}

// save stores a repository's own settings. If they are invalid, the last valid ones stay.
func (f *Files) save(ctx context.Context, repo sia.Repo, sha string, own *sia.Settings, bad *invalid.File) error {
	if bad == nil {
		return f.store.SaveSettings(ctx, repo.ID, store.OwnSettings{Settings: own, SHA: sha})
	}
	_, err := f.store.Settings(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		return f.store.SaveSettings(ctx, repo.ID, store.OwnSettings{}) // it was read, and no valid version is known
	}
	return err
}

// Edited reads the settings of the default branch after a push, to report errors on the current commit. Tasks use the
// new settings from their next attempt on.
func (f *Files) Edited(ctx context.Context, installation int64, repo sia.Repo, branch string) error {
	if known, err := f.covers(ctx, installation, repo); err != nil || !known {
		return err
	}
	mirror := f.git.Repo(f.github.Repo(installation, repo).Remote())
	sha, err := mirror.Fetch(ctx, branch) // the delivery may be late, and its commit gone
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil
	}
	if err != nil {
		return err
	}
	before, err := f.Settings(ctx, installation, repo)
	if err != nil {
		return err
	}
	b, err := mirror.ReadFile(ctx, sha, settingsFile, settingsLimit)
	bad, err := f.readAndSave(ctx, installation, repo, sha, b, err)
	if err == nil {
		err = f.createLabel(ctx, installation, repo, before.Label)
	}
	if err == nil {
		_, err = f.updatePolicies(ctx, installation, repo, sha, f.ownPolicies(installation, repo, sha))
	}
	if bad != nil {
		f.log.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "sha", sha, "why", bad.Error())
	}
	return err
}

// createLabel plans another setup of a repository, which creates its label, if that is no longer before.
func (f *Files) createLabel(ctx context.Context, installation int64, repo sia.Repo, before string) error {
	now, err := f.Settings(ctx, installation, repo)
	if err != nil || strings.EqualFold(now.Label, before) {
		return err
	}
	return f.store.PlanSetups(ctx, installation, []sia.Repo{repo}, 1, true)
}

// covers reports whether the installation covers a repository, as far as SIA knows.
func (f *Files) covers(ctx context.Context, installation int64, repo sia.Repo) (bool, error) {
	known, err := f.store.Repository(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && known.Installation == installation, err
}

// report reports the errors in a settings file on its commit.
func (f *Files) report(
	ctx context.Context, installation int64, repo sia.Repo, sha string, bad *invalid.File,
) error {
	return f.show(ctx, installation, repo, github.CheckRunSpec{Name: render.ConfigCheckName,
		ExternalID: "settings/" + sha, HeadSHA: sha, CheckRun: render.ConfigCheckRun(bad.Problems)})
}

// show creates or updates a check run.
func (f *Files) show(
	ctx context.Context, installation int64, repo sia.Repo, spec github.CheckRunSpec,
) error {
	lock := &f.reportLocks[uint64(repo.ID)%uint64(len(f.reportLocks))]
	lock.Lock()
	defer lock.Unlock()
	_, err := f.github.Repo(installation, repo).CheckRuns.Upsert(ctx, spec, 0)
	return err
}
