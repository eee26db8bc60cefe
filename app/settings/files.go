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

// settingsFile is where a repository keeps its settings, on its base branch.
const (
	settingsFile  = config.Path
	settingsLimit = 64 << 10
)

// Files reads, keeps and reports the settings files of repositories and of their owners. Safe for
// concurrent use.
type Files struct {
	store    Store
	github   *github.App
	git      *gitops.Cache
	override func(*sia.Settings)
	only     *policies.Set // nil: files say which policies hold
	log      *slog.Logger

	// One report at a time on a repository: each looks whether its check run is there before it
	// makes one, and a push and a task can find the same file wrong at the same moment. A few
	// repositories share a lock.
	reporting [64]sync.Mutex
}

// New returns the settings files of all repositories that the app can see. The override
// changes settings whatever the files say; only are the policies that hold then, nil: the files say.
func New(
	s Store, gh *github.App, git *gitops.Cache, override func(*sia.Settings), only *policies.Set, log *slog.Logger,
) *Files {
	return &Files{store: s, github: gh, git: git, override: override, only: only, log: log}
}

// Settings gives the settings last known to be in force in a repository. A file
// that was never read, here or in the owner's .github repository, is read first:
// it may name another label, and then nothing would ever begin. The files are
// read anew before each attempt.
func (f *Files) Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error) {
	known, err := f.inForce(ctx, installation, repo, nil, false)
	if known.Warning != "" {
		f.log.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "why", known.Warning)
	}
	return known.Settings, err
}

// At reads the settings of a commit of a branch, which is a task's base, and the owner's anew when there are none of
// its own. Those of the default branch are the repository's from then on; those of another count for this answer alone.
// A file that is wrong leaves the last good settings of the repository in force, and a warning.
func (f *Files) At(
	ctx context.Context, installation int64, repo sia.Repo, branch, sha string,
) (sia.InForce, error) {
	b, err := f.git.Repo(f.github.Repo(installation, repo).Remote()).ReadFile(ctx, sha, settingsFile, settingsLimit)
	own, bad, err := f.read(ctx, installation, repo, sha, b, err)
	if err != nil {
		return sia.InForce{}, err
	}
	standard, err := f.defaultBranch(ctx, repo, branch)
	if err != nil {
		return sia.InForce{}, err
	}
	var here *store.OwnSettings // nil: the repository's
	if branch == standard {
		err = f.keep(ctx, repo, sha, own, bad)
	} else if bad == nil {
		here = &store.OwnSettings{Settings: own, SHA: sha}
	}
	if err != nil {
		return sia.InForce{}, err
	}
	known, err := f.inForce(ctx, installation, repo, here, true)
	if bad != nil {
		text := fmt.Sprintf("The settings in `%s` can't be used, so the last good ones hold: %v", settingsFile, bad)
		known.Warning = strings.TrimSuffix(text+"\n\n"+known.Warning, "\n\n")
	}
	return known, err
}

// defaultBranch is a repository's default branch, as far as it is known: else a branch that may be it.
func (f *Files) defaultBranch(ctx context.Context, repo sia.Repo, maybe string) (string, error) {
	known, err := f.store.Repository(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return cmp.Or(known.DefaultBranch, maybe), err
}

// takeUp keeps what a repository's own settings file says on its default branch, which was read with an error or
// without.
func (f *Files) takeUp(
	ctx context.Context, installation int64, repo sia.Repo, sha string, b []byte, err error,
) (bad *invalid.File, _ error) {
	own, bad, err := f.read(ctx, installation, repo, sha, b, err)
	if err != nil {
		return bad, err
	}
	return bad, f.keep(ctx, repo, sha, own, bad)
}

// read makes settings of a repository's own file, which was read with an error or without; nil where there is none. One
// that is wrong is reported on its commit.
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
			if bad, err = f.ownBranch(ctx, installation, repo, found); err != nil {
				return nil, nil, err
			}
		}
		if bad == nil {
			return &found.Settings, nil, nil
		}
	}
	return nil, bad, f.report(ctx, installation, repo, sha, bad)
}

// keep keeps a repository's own settings. Where they are wrong, the last good ones stay.
func (f *Files) keep(ctx context.Context, repo sia.Repo, sha string, own *sia.Settings, bad *invalid.File) error {
	if bad == nil {
		return f.store.SaveSettings(ctx, repo.ID, store.OwnSettings{Settings: own, SHA: sha})
	}
	_, err := f.store.Settings(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		return f.store.SaveSettings(ctx, repo.ID, store.OwnSettings{}) // read, and nothing good found yet
	}
	return err
}

// Edited reads the settings of the default branch, which somebody pushed to, so that what is wrong is said on the
// commit that is there. Tasks take settings up when their next attempt begins.
func (f *Files) Edited(ctx context.Context, installation int64, repo sia.Repo, branch string) error {
	if known, err := f.covers(ctx, installation, repo); err != nil || !known {
		return err
	}
	mirror := f.git.Repo(f.github.Repo(installation, repo).Remote())
	sha, err := mirror.Fetch(ctx, branch) // a delivery may come late: what it names need not be there any more
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := mirror.ReadFile(ctx, sha, settingsFile, settingsLimit)
	bad, err := f.takeUp(ctx, installation, repo, sha, b, err)
	if err == nil {
		_, err = f.takePolicies(ctx, installation, repo, sha, f.ownPolicies(installation, repo, sha))
	}
	if bad != nil {
		f.log.WarnContext(ctx, "settings can't be used", "repo", repo.String(), "sha", sha, "why", bad.Error())
	}
	return err
}

// covers reports whether the installation covers a repository, as far as SIA knows.
func (f *Files) covers(ctx context.Context, installation int64, repo sia.Repo) (bool, error) {
	known, err := f.store.Repository(ctx, repo.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && known.Installation == installation, err
}

// report says on a commit what is wrong with the settings file that it has.
func (f *Files) report(
	ctx context.Context, installation int64, repo sia.Repo, sha string, bad *invalid.File,
) error {
	spec := github.CheckRunSpec{Name: render.ConfigCheckName, ExternalID: "settings/" + sha, HeadSHA: sha}
	return f.show(ctx, installation, repo, spec, render.ConfigCheckRun(bad.Problems))
}

// show makes a check run look like a view, once for its id.
func (f *Files) show(
	ctx context.Context, installation int64, repo sia.Repo, spec github.CheckRunSpec, v render.CheckRunView,
) error {
	spec.Status, spec.Conclusion, spec.Title, spec.Summary, spec.Text = v.Status, v.Conclusion, v.Title, v.Summary, v.Text
	for _, a := range v.Annotations {
		spec.Annotations = append(spec.Annotations, github.Annotation{
			Path: a.Path, StartLine: a.Line, EndLine: a.Line, Level: a.Level, Title: a.Title, Message: a.Message,
		})
	}
	reporting := &f.reporting[uint64(repo.ID)%uint64(len(f.reporting))]
	reporting.Lock()
	defer reporting.Unlock()
	_, _, _, err := f.github.Repo(installation, repo).UpsertCheckRun(ctx, spec, 0)
	return err
}
