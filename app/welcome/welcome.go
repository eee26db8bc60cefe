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

// Branch is the branch of the pull request.
const Branch = "sia/welcome"

// Together is how many repositories may be added at once for each of them to get a pull request. Who adds more
// would get a flood of mail.
const Together = 10

// Settings gives the settings in force in a repository.
type Settings interface {
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
}

// Deps is what a [Welcomer] works with. Everything is needed.
type Deps struct {
	GitHub   *github.App
	Git      *gitops.Cache
	Settings Settings
	Allowed  func(host string) bool // whether setup may fetch from a host on this server
	Now      func() time.Time
}

// Welcomer proposes settings. Make one with [New]. Safe for concurrent use.
type Welcomer struct{ Deps }

// New returns a welcomer; it is an error when anything of d is missing.
func New(d Deps) (*Welcomer, error) {
	if d.GitHub == nil || d.Git == nil || d.Settings == nil || d.Allowed == nil || d.Now == nil {
		return nil, errors.New("make what welcomes repositories: something that it works with is missing")
	}
	return &Welcomer{d}, nil
}

// Nobody welcomes nobody: the server was told not to.
type Nobody struct{}

// Welcome does nothing, about which there is nothing to say.
func (Nobody) Welcome(context.Context, store.Setup) (string, error) { return "", nil }

// Welcome proposes settings to a repository that is new, unless something speaks against it, and returns the result.
// The default branch in r is the present one. An error is one that may pass; what trying again can't help,
// such as a permission that is missing, is a result.
func (w *Welcomer) Welcome(ctx context.Context, r store.Setup) (came string, err error) {
	came, err = w.welcome(ctx, r)
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
	return came, err
}

func (w *Welcomer) welcome(ctx context.Context, r store.Setup) (came string, err error) {
	switch {
	case r.Together == 0:
		return "the repository is not new", nil
	case r.Together > Together:
		return fmt.Sprintf("%d repositories were added at once, and only up to %d get a pull request each", r.Together,
			Together), nil
	case r.Name == sia.OwnersRepo:
		return "its settings are those of all repositories of the owner", nil
	}
	repo := w.GitHub.Repo(r.Installation, r.Repo)
	if pull, was, err := repo.AnyPull(ctx, Branch); err != nil || was {
		return "pull request " + fmt.Sprint(pull.Number) + " proposed it", err
	}
	head, ok, err := repo.DefaultHead(ctx)
	if err != nil || !ok {
		return "the repository is empty, or has another name by now", err
	}
	_, has, err := repo.File(ctx, head, config.Path, maxFile)
	if has {
		return "it has settings of its own", nil // too large, too
	}
	if err != nil {
		return "", err
	}
	set, err := w.Settings.Settings(ctx, r.Installation, r.Repo)
	if err != nil || !set.Welcome {
		return "the owner's settings say so (welcome: false)", err
	}
	return w.propose(ctx, repo, r, set, head)
}

// maxFile bounds a file of a repository that is read, in bytes; GitHub's API gives no more.
const maxFile = project.MaxFile

// propose opens the pull request.
func (w *Welcomer) propose(
	ctx context.Context, repo *github.Repo, r store.Setup, set sia.Settings, head string,
) (came string, err error) {
	found, err := look(ctx, repo, head)
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
	if mine, err := w.mayPush(ctx, repo, file); err != nil || !mine {
		return "there is a branch " + Branch + " that is somebody else's", err
	}
	if err := w.push(ctx, repo, r.DefaultBranch, file); err != nil {
		return "", err
	}
	pull, err := repo.EnsurePull(ctx, github.NewPull{Head: Branch, Base: r.DefaultBranch, Title: render.WelcomeTitle(),
		Body: render.WelcomeBody(render.Welcome{Repo: r.Repo, Label: set.Label, Project: found,
			Required: required, Blocked: slices.DeleteFunc(found.Hosts(), w.Allowed)})})
	return "pull request " + fmt.Sprint(pull.Number) + " proposes it", err
}

// look says what kind of project a commit holds, by GitHub's API: that brings a few files here, and not all.
func look(ctx context.Context, repo *github.Repo, sha string) (project.Project, error) {
	names, err := repo.Top(ctx, sha)
	if err != nil {
		return project.Project{}, err
	}
	var failed error
	found := project.Look(names, func(name string) ([]byte, bool) {
		if failed != nil {
			return nil, false
		}
		b, ok, err := repo.File(ctx, sha, name, maxFile)
		if errors.Is(err, github.ErrTooLarge) {
			return nil, false
		}
		failed = err
		return b, ok && err == nil
	})
	return found, failed
}

// required are the names of the checks that a branch's rules require.
func (w *Welcomer) required(ctx context.Context, repo *github.Repo, branch string) (names []string, err error) {
	rules, err := repo.Required(ctx, branch)
	for _, r := range rules.All {
		if r.Name != "" && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// mayPush reports whether the branch is SIA's: there is none yet, or it has the very file, since this was
// interrupted before.
func (w *Welcomer) mayPush(ctx context.Context, repo *github.Repo, file []byte) (bool, error) {
	head, ok, err := repo.Head(ctx, Branch)
	if err != nil || !ok {
		return err == nil, err
	}
	is, _, err := repo.File(ctx, head, config.Path, maxFile)
	return bytes.Equal(is, file), err
}

// push commits the file to the branch, which begins at the base branch.
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
