// Package people has people's actions on a simulated GitHub, and their view of it: each method is an action of a person
// in a browser, or of the site's owner. Repositories, people and issues are named as in the browser.
//
// Methods take the simulator's lock themselves. A person needs GitHub's required role; errors say how to give it.
package people

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// Webhook is the webhook of new apps.
type Webhook struct{ URL, Secret string }

// People are all accounts.
type People struct {
	world  *world.World
	git    *git.Store
	issuer *access.TokenIssuer
	hook   Webhook
	ended  <-chan struct{}
}

// New are the people of a world. hook, unless it is empty, is every new app's webhook; ended is closed when the
// simulator is.
func New(w *world.World, store *git.Store, issuer *access.TokenIssuer, hook Webhook, ended <-chan struct{}) *People {
	return &People{world: w, git: store, issuer: issuer, hook: hook, ended: ended}
}

// repository finds a repository; the lock is held.
func (p *People) repository(fullName string) (*model.Repository, error) {
	r := p.world.Repository(fullName)
	if r == nil {
		return nil, fmt.Errorf("no repository %s: CreateRepo makes one", fullName)
	}
	return r, nil
}

// person finds a repository and a person with at least a role in it; the lock is held.
func (p *People) person(repo, login, role string) (*model.Repository, model.Actor, error) {
	r, err := p.repository(repo)
	if err != nil {
		return nil, model.Actor{}, err
	}
	u := p.world.User(login)
	if u == nil {
		return nil, model.Actor{}, fmt.Errorf("no user %s: CreateUser makes one", login)
	}
	if have := r.Role(login); !model.AtLeast(have, role) {
		return nil, model.Actor{}, lacks(login, have, repo, role)
	}
	return r, model.Actor{User: u}, nil
}

// inRepo changes something in a repository.
func (p *People) inRepo(repo string, do func(*model.Repository) error) error {
	_, err := read(p, repo, func(r *model.Repository) (struct{}, error) { return struct{}{}, do(r) })
	return err
}

// read reads something of a repository.
func read[T any](p *People, repo string, of func(*model.Repository) (T, error)) (x T, err error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.repository(repo)
	if err != nil {
		return x, err
	}
	return of(r)
}

// as changes something in a repository as a person with at least a role in it.
func (p *People) as(repo, login, role string, do func(*model.Repository, model.Actor) error) error {
	return p.inRepo(repo, func(*model.Repository) error {
		r, a, err := p.person(repo, login, role)
		if err != nil {
			return err
		}
		return do(r, a)
	})
}

// onIssue changes an issue or pull request as a person.
func (p *People) onIssue(
	repo string, number int, login, role string, do func(*model.Repository, *model.Issue, model.Actor) error,
) error {
	return p.as(repo, login, "read", func(r *model.Repository, a model.Actor) error {
		i := r.Issue(number)
		if i == nil {
			return fmt.Errorf("%s has no issue %d", repo, number)
		}
		if have := r.Role(login); !model.AtLeast(have, role) && i.By != a.User {
			return lacks(login, have, repo, role)
		}
		return do(r, i, a)
	})
}

func lacks(login, have, repo, want string) error {
	return fmt.Errorf("%s has the role %s in %s and needs %s: SetPermission gives it", login, have, repo, want)
}
