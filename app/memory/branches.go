package memory

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/secret"
)

// Settings reads the settings of repositories, which name the memory branch.
type Settings interface {
	// Settings returns the settings last known to be in force.
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
	// At returns the settings at a commit of the base branch.
	At(ctx context.Context, installation int64, repo sia.Repo, branch, sha string) (sia.InForce, error)
}

// Branches accesses the memory branches of all repositories. It is safe for concurrent use.
type Branches struct {
	store    Store
	github   *github.App
	git      *gitops.Cache
	settings Settings
	results  Results
	secrets  *secret.Masker
	log      *slog.Logger
	now      func() time.Time
}

// New returns the memory branches of the repositories that the app can see.
func New(
	s Store, gh *github.App, git *gitops.Cache, set Settings, results Results, secrets *secret.Masker, log *slog.Logger,
	now func() time.Time,
) *Branches {
	return &Branches{store: s, github: gh, git: git, settings: set, results: results, secrets: secrets, log: log, now: now}
}

// mirror returns the git mirror of a repository.
func (b *Branches) mirror(installation int64, repo sia.Repo) *gitops.Repo {
	return b.git.Repo(b.github.Repo(installation, repo).Remote())
}

// Read imports changes that users made on the memory branch since it was last read or written, and immediately writes
// the resulting lessons. warning describes for users what can't be read.
func (b *Branches) Read(
	ctx context.Context, installation int64, repo sia.Repo, name string, by sia.Actor,
) (warning string, err error) {
	mirror := b.mirror(installation, repo)
	head, err := mirror.Fetch(ctx, name)
	if errors.Is(err, gitops.ErrNoBranch) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	last, err := b.store.MemoryHead(ctx, repo.ID)
	if err != nil || last.SHA == head {
		return last.Warning, err
	}
	bot, err := b.github.Author(ctx, b.now())
	if err != nil {
		return "", err
	}
	var read lessonSync
	sha, err := b.commit(ctx, installation, repo, gitops.FilesSpec{
		Branch: name, Author: bot, Message: messagePrefix + "lessons as people edited them",
		Update: func(branch func(string) ([]byte, error)) (map[string][]byte, error) {
			if read, err = b.lessonFiles(ctx, repo, branch, by); err != nil || read.edits == 0 {
				return nil, err
			}
			return read.files, nil
		},
	})
	if refused := refusalWarning(err); refused != "" {
		return refused, nil
	}
	if err != nil {
		return "", err
	}
	return read.warning, b.store.SaveMemoryHead(ctx, repo.ID, read.head(sha))
}

// commit commits files to a memory branch. It refuses the default branch, and another one with other content: the
// branch that the owner's settings name was checked in the owner's .github repository only.
func (b *Branches) commit(
	ctx context.Context, installation int64, repo sia.Repo, spec gitops.FilesSpec,
) (sha string, err error) {
	known, err := b.store.Repository(ctx, repo.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if spec.Branch == known.DefaultBranch {
		return "", codeBranchError(spec.Branch)
	}
	if spec.Branch != sia.DefaultSettings().Memory.Branch { // nobody else uses the default
		spec.Holds = memory.BranchPaths()
	}
	sha, _, err = b.mirror(installation, repo).CommitFiles(ctx, spec)
	if errors.Is(err, gitops.ErrOtherContent) {
		return "", codeBranchError(spec.Branch)
	}
	return sha, err
}

// Edited reads a repository's memory branch after somebody pushed to it.
func (b *Branches) Edited(ctx context.Context, installation int64, repo sia.Repo, by sia.Actor) error {
	set, err := b.settings.Settings(ctx, installation, repo)
	if err != nil {
		return err
	}
	warning, err := b.Read(ctx, installation, repo, set.Memory.Branch, by)
	if warning != "" {
		b.log.WarnContext(ctx, "memory can't be read whole", "repo", repo.String(), "why", warning)
	}
	return err
}
