package welcome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/project"
)

// Branch is the head branch of the pull request.
const Branch = "sia/welcome"

// Settings provides the settings in force in a repository.
type Settings interface {
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
}

// Deps holds the dependencies of a [Welcomer]. All are required.
type Deps struct {
	GitHub   *github.App
	Git      *gitops.Cache
	Settings Settings
	Allowed  func(host string) bool // whether this server lets setup fetch from a host
	Now      func() time.Time
}

// Welcomer proposes settings. Make one with [New]. It is safe for concurrent use.
type Welcomer struct{ Deps }

// New returns a welcomer. It fails if a part of d is missing.
func New(d Deps) (*Welcomer, error) {
	if d.GitHub == nil || d.Git == nil || d.Settings == nil || d.Allowed == nil || d.Now == nil {
		return nil, errors.New("make what welcomes repositories: something that it works with is missing")
	}
	return &Welcomer{d}, nil
}

// Disabled proposes nothing, on a server with welcomes turned off.
type Disabled struct{}

// Welcome does nothing.
func (Disabled) Welcome(context.Context, store.Setup) (store.SetupResult, error) {
	return store.SetupResult{}, nil
}

// Welcome proposes settings to a new repository, unless there is a reason not to, and returns the outcome. Called when
// checks had time to begin (r.Due), it counts those that the push started. r has the current default branch. Errors are
// transient; a permanent failure, such as a missing permission, is an outcome.
func (w *Welcomer) Welcome(ctx context.Context, r store.Setup) (out store.SetupResult, err error) {
	out.Checks = r.Checks
	out.Welcome, err = w.outcome(ctx, r, &out)
	return out, err
}

func (w *Welcomer) outcome(ctx context.Context, r store.Setup, out *store.SetupResult) (outcome string, err error) {
	outcome, err = w.welcome(ctx, r, out)
	var (
		refused  *sia.Error
		auth     *gitops.AuthError
		gone     *gitops.NotFoundError
		rejected *gitops.RejectedError
	)
	switch {
	case errors.As(err, &refused) && refused.Permanent:
		return "it could not be done: " + refused.Message, nil
	case errors.As(err, &auth), errors.As(err, &gone), errors.As(err, &rejected):
		return "the branch " + Branch + " could not be pushed: GitHub refused it", nil
	}
	return outcome, err
}

func (w *Welcomer) welcome(ctx context.Context, r store.Setup, out *store.SetupResult) (outcome string, err error) {
	switch {
	case r.Together == 0:
		return "the repository is not new", nil
	case r.Together > store.MaxTogether:
		return fmt.Sprintf("%d repositories were added at once, and only up to %d get a pull request each", r.Together,
			store.MaxTogether), nil
	case r.Name == sia.OwnersRepo:
		return "its settings are those of all repositories of the owner", nil
	}
	repo := w.GitHub.Repo(r.Installation, r.Repo)
	if pull, exists, err := repo.AnyPull(ctx, Branch); err != nil || exists {
		if err != nil || pull.State != "open" {
			return "pull request " + fmt.Sprint(pull.Number) + " proposed it", err
		}
		switch {
		case r.Checks != nil:
		case r.Due:
			err = countChecks(ctx, repo, pull.HeadSHA, out)
		default: // too early, or nothing planned it, such as after a lost answer
			var set sia.Settings
			set, err = w.Settings.Settings(ctx, r.Installation, r.Repo)
			out.Again = set.Checks.Wait.D()
		}
		return "pull request " + fmt.Sprint(pull.Number) + " proposes it", err
	}
	head, ok, err := repo.DefaultHead(ctx)
	if err != nil || !ok {
		return "the repository is empty, or has another name by now", err
	}
	_, exists, err := repo.File(ctx, head, config.Path, maxFile)
	if exists {
		return "it has settings of its own", nil // also if it is too large
	}
	if err != nil {
		return "", err
	}
	set, err := w.Settings.Settings(ctx, r.Installation, r.Repo)
	if err != nil || !set.Welcome {
		return "the owner's settings say so (welcome: false)", err
	}
	return w.propose(ctx, repo, r, set, head, out)
}

// countChecks counts what reported on a commit: check runs and statuses, or workflow runs that have none yet. What is
// hidden from the app is not counted.
func countChecks(ctx context.Context, repo *github.Repo, sha string, out *store.SetupResult) error {
	look, err := repo.Checks.Look(ctx, github.LookAt{SHA: sha})
	switch {
	case sia.IsPermanent(err):
		return nil
	case err != nil:
		return err
	}
	n := max(len(look.Checks.Runs)+len(look.Checks.Statuses), len(look.Workflows))
	out.Checks = &n
	return nil
}

// maxFile is the maximum size of a file to read, in bytes; GitHub's API returns no more.
const maxFile = project.MaxFile

// propose opens the pull request.
func (w *Welcomer) propose(
	ctx context.Context, repo *github.Repo, r store.Setup, set sia.Settings, head string, out *store.SetupResult,
) (outcome string, err error) {
	found, err := detectProject(ctx, repo, head)
	if err != nil {
		return "", err
	}
	required, err := w.required(ctx, repo, r.DefaultBranch)
	if err != nil {
		return "", err
	}
	file, differs := config.Proposal{Project: found, Required: required, Allowed: w.Allowed}.File()
	if !differs {
		return "nothing was found that settings would have to say", nil
	}
	if mine, err := w.ownsBranch(ctx, repo, file); err != nil || !mine {
		return "there is a branch " + Branch + " that is somebody else's", err
	}
	if err := w.push(ctx, repo, r.DefaultBranch, file); err != nil {
		return "", err
	}
	pull, err := repo.EnsurePull(ctx, github.NewPull{Head: Branch, Base: r.DefaultBranch, Title: render.WelcomeTitle(),
		Body: render.WelcomeBody(render.Welcome{Repo: r.Repo, Label: set.Label, Project: found,
			Required: required, Blocked: slices.DeleteFunc(found.Hosts(), w.Allowed)})})
	if err == nil {
		out.Again = set.Checks.Wait.D()
	}
	return "pull request " + fmt.Sprint(pull.Number) + " proposes it", err
}

// detectProject detects the kind of project at a commit. It uses GitHub's API, which fetches only a few files.
func detectProject(ctx context.Context, repo *github.Repo, sha string) (found project.Project, err error) {
	found = project.Look(func(dir string) (names []string) {
		if err == nil {
			names, err = repo.Names(ctx, sha, dir)
		}
		return names
	}, func(name string) (b []byte, ok bool) {
		if err != nil {
			return nil, false
		}
		b, ok, err = repo.File(ctx, sha, name, maxFile)
		if errors.Is(err, github.ErrTooLarge) {
			err = nil
			return nil, false
		}
		return b, ok && err == nil
	})
	return found, err
}

// required returns the names of the checks that a branch's rules require.
func (w *Welcomer) required(ctx context.Context, repo *github.Repo, branch string) (names []string, err error) {
	rules, err := repo.Rules.Required(ctx, branch)
	for _, r := range rules.All {
		if r.Name != "" && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// ownsBranch reports whether the branch is SIA's: it does not exist, or has exactly this file from an interrupted
// run.
func (w *Welcomer) ownsBranch(ctx context.Context, repo *github.Repo, file []byte) (bool, error) {
	head, ok, err := repo.Head(ctx, Branch)
	if err != nil || !ok {
		return err == nil, err
	}
	is, _, err := repo.File(ctx, head, config.Path, maxFile)
	return bytes.Equal(is, file), err
}

// push commits the file to the branch, on top of the base branch.
func (w *Welcomer) push(ctx context.Context, repo *github.Repo, base string, file []byte) error {
	mirror := w.Git.Repo(repo.Remote())
	head, err := mirror.Fetch(ctx, base)
	if err != nil {
		return err
	}
	bot, err := w.GitHub.Author(ctx, w.Now())
	if err != nil {
		return err
	}
	_, _, err = mirror.CommitFiles(ctx, gitops.FilesSpec{Branch: Branch, Base: head, Author: bot,
		Message: render.WelcomeTitle(), Update: func(func(string) ([]byte, error)) (map[string][]byte, error) {
			return map[string][]byte{config.Path: file}, nil
		}})
	return err
}
