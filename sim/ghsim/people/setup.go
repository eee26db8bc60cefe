package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// User is an account.
type User struct {
	ID    int64
	Login string
	Type  string // User, Bot or Organization
}

// App is a registered GitHub App.
type App struct {
	ID            int64
	Slug          string
	ClientID      string
	ClientSecret  string // for signing people in
	PrivateKeyPEM []byte // PKCS #1, as GitHub hands it out
	Bot           User   // the account of its comments and commits
	WebhookSecret string
}

// Repo is a repository.
type Repo struct {
	ID       int64
	FullName string // owner/name
	CloneURL string
	Dir      string // bare repository on this machine
	Head     string // SHA of the default branch
}

// RepoSpec describes a new repository.
type RepoSpec struct {
	Files         map[string]string // path → content; names ending in .sh are executable
	From          string            // instead of Files: a local git repository; its branches are copied
	DefaultBranch string            // default main, or what From has checked out
	Public        bool              // repositories are private by default
	Message       string            // of the first commit; default "Initial commit"
	LastNumber    int               // of its earlier issues and pull requests
}

// CreateUser registers a person; an existing account is returned unchanged.
func (p *People) CreateUser(login string) User {
	p.world.Lock()
	defer p.world.Unlock()
	kind := "User"
	if strings.HasSuffix(login, "[bot]") { // of another app: people's logins have no brackets
		kind = "Bot"
	}
	return publicUser(p.world.EnsureUser(login, kind))
}

// CreateOrg registers an organization.
func (p *People) CreateOrg(login string) User {
	p.world.Lock()
	defer p.world.Unlock()
	return publicUser(p.world.EnsureUser(login, "Organization"))
}

func publicUser(u *model.User) User { return User{ID: u.ID, Login: u.Login, Type: u.Kind} }

// CreateRepo makes a repository; an unknown owner becomes a user. It has GitHub's default labels and no protection.
func (p *People) CreateRepo(owner, name string, spec RepoSpec) (Repo, error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.world.CreateRepository(owner, name, !spec.Public, git.Spec{Files: spec.Files, From: spec.From,
		DefaultBranch: spec.DefaultBranch, Message: spec.Message})
	if err != nil {
		return Repo{}, err
	}
	r.LastNumber = spec.LastNumber
	return p.publicRepo(r), nil
}

func (p *People) publicRepo(r *model.Repository) Repo {
	return Repo{ID: r.ID, FullName: r.FullName(), CloneURL: p.world.URL() + "/" + r.FullName() + ".git", Dir: r.Dir,
		Head: r.Head(r.DefaultBranch)}
}

// Repo is a repository as it is now.
func (p *People) Repo(fullName string) (Repo, error) {
	return read(p, fullName, func(r *model.Repository) (Repo, error) {
		return p.publicRepo(r), nil
	})
}

// SetPermission gives a user a role in a repository: none, read, triage, write,
// maintain or admin.
func (p *People) SetPermission(repo, login, role string) error {
	if !slices.Contains(model.Roles(), role) {
		return fmt.Errorf("permission %q: want one of %s", role, strings.Join(model.Roles(), ", "))
	}
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.repository(repo)
	if err != nil {
		return err
	}
	r.Perms[strings.ToLower(p.world.EnsureUser(login, "User").Login)] = role
	return nil
}

// RenameRepo renames a repository. Requests for the former name are redirected.
func (p *People) RenameRepo(repo, name string) error {
	return p.onRepo(repo, func(r *model.Repository) { p.world.Rename(r, name) })
}

// SetDefaultBranch makes another branch of a repository the default one.
func (p *People) SetDefaultBranch(repo, branch string) error {
	return p.inRepo(repo, func(r *model.Repository) error {
		if r.Head(branch) == "" {
			return fmt.Errorf("no branch %s in %s", branch, repo)
		}
		r.DefaultBranch = branch
		return p.git.SetHEAD(r.Dir, branch)
	})
}

// RenameBranch renames the default branch of a repository. Its open pull requests follow, and nothing is announced.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
// https://github.com/orgs/community/discussions/200245
func (p *People) RenameBranch(repo, to string) error {
	return p.inRepo(repo, func(r *model.Repository) error {
		from := r.DefaultBranch
		sha := r.Head(from)
		if err := p.git.SetRef(r.Dir, "refs/heads/"+to, sha, ""); err != nil {
			return err
		}
		r.Refs["refs/heads/"+to], r.DefaultBranch = sha, to
		for _, i := range r.Issues {
			if i.Pull != nil && i.State == "open" && i.Pull.Base == from {
				i.Pull.Base = to
			}
		}
		if err := p.git.SetHEAD(r.Dir, to); err != nil {
			return err
		}
		delete(r.Refs, "refs/heads/"+from)
		return p.git.SetRef(r.Dir, "refs/heads/"+from, "", sha)
	})
}

// Transfer gives a repository to another account. The app gets no event: the test decides which events the
// installations get.
func (p *People) Transfer(repo, to string) error {
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.repository(repo)
	if err != nil {
		return err
	}
	p.world.Transfer(r, p.world.EnsureUser(to, "User"))
	return nil
}

// DeleteRepo deletes a repository. The app gets no event.
// https://docs.github.com/en/repositories/creating-and-managing-repositories/deleting-a-repository
func (p *People) DeleteRepo(repo string) error {
	return p.onRepo(repo, func(r *model.Repository) { p.world.Delete(r) })
}

// SetPrivate makes a repository private or public.
func (p *People) SetPrivate(repo string, private bool) error {
	return p.onRepo(repo, func(r *model.Repository) { r.Private = private })
}

// RenameUser renames a person or an organisation, with their repositories.
func (p *People) RenameUser(login, to string) error {
	p.world.Lock()
	defer p.world.Unlock()
	u := p.world.User(login)
	if u == nil {
		return fmt.Errorf("no user %s", login)
	}
	p.world.RenameUser(u, to)
	return nil
}

// Archive makes a repository read-only.
func (p *People) Archive(repo string) error {
	return p.onRepo(repo, func(r *model.Repository) { r.Archived = true })
}
