// Package model is the state of a simulated GitHub: accounts, repositories, issues, pull requests, checks, workflow
// runs and apps, with queries on each. Package world makes changes and carries out their consequences.
//
// Everything here is guarded by the simulator's lock. Start reading at [Hub].
package model

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Hub contains everything, by name.
type Hub struct {
	clock  func() time.Time
	lastID atomic.Int64
	url    string
	users  map[string]*User       // by lower-case login
	repos  map[string]*Repository // by lower-case owner/name
	former map[string]*Repository // by former names
	apps   map[int64]*App
	insts  map[int64]*Installation
}

// NewHub is an empty hub.
func NewHub(clock func() time.Time) *Hub {
	h := &Hub{clock: clock, users: map[string]*User{}, repos: map[string]*Repository{}, former: map[string]*Repository{},
		apps: map[int64]*App{}, insts: map[int64]*Installation{}}
	h.lastID.Store(1000)
	return h
}

// Now is the time by the simulator's clock, in UTC. The lock need not be held.
func (h *Hub) Now() time.Time { return h.clock().UTC() }

// NextID is the next id; all kinds of objects share one sequence. The lock need not be held.
func (h *Hub) NextID() int64 { return h.lastID.Add(1) }

// LastID is the last assigned id.
func (h *Hub) LastID() int64 { return h.lastID.Load() }

// URL is the base URL of everything, without a trailing slash.
func (h *Hub) URL() string { return h.url }

// SetURL sets the base URL.
func (h *Hub) SetURL(url string) { h.url = strings.TrimRight(url, "/") }

// User is the account of a login, or nil.
func (h *Hub) User(login string) *User { return h.users[strings.ToLower(login)] }

// Users are all accounts, by login.
func (h *Hub) Users() []*User { return sorted(h.users) }

// AddUser adds an account.
func (h *Hub) AddUser(u *User) { h.users[strings.ToLower(u.Login)] = u }

// Repository is the repository of a present or former full name, owner/name, or nil.
func (h *Hub) Repository(fullName string) *Repository {
	key := strings.ToLower(fullName)
	if r := h.repos[key]; r != nil {
		return r
	}
	return h.former[key]
}

// Rename renames a repository. The former name leads to it until another repository has that name.
// https://docs.github.com/en/repositories/creating-and-managing-repositories/renaming-a-repository
func (h *Hub) Rename(r *Repository, name string) {
	h.forget(r)
	r.Name = name
	h.AddRepository(r)
}

// Transfer gives a repository another owner. Its former name leads to it, as after a rename; installations of the
// former owner no longer include it.
// https://docs.github.com/en/repositories/creating-and-managing-repositories/transferring-a-repository
func (h *Hub) Transfer(r *Repository, to *User) {
	h.forget(r)
	r.Owner = to
	r.Perms[strings.ToLower(to.Login)] = "admin"
	h.AddRepository(r)
	h.takeOut(r)
}

// Delete deletes a repository, with its name and its place in installations.
func (h *Hub) Delete(r *Repository) {
	h.RemoveRepository(r)
	h.takeOut(r)
}

// takeOut removes a repository from all installations.
func (h *Hub) takeOut(r *Repository) {
	for _, i := range h.Installations() {
		i.Repos = slices.DeleteFunc(i.Repos, func(x *Repository) bool { return x == r })
	}
}

// RenameUser renames an account, and the owner of its repositories.
// https://docs.github.com/en/account-and-profile/concepts/username-changes
func (h *Hub) RenameUser(u *User, login string) {
	var own []*Repository
	for _, r := range h.Repositories() {
		if r.Owner == u {
			own = append(own, r)
			h.forget(r)
		}
	}
	delete(h.users, strings.ToLower(u.Login))
	u.Login = login
	h.AddUser(u)
	for _, r := range own {
		h.AddRepository(r)
	}
}

// forget makes a repository's name a former one.
func (h *Hub) forget(r *Repository) {
	h.RemoveRepository(r)
	h.former[strings.ToLower(r.FullName())] = r
}

// Repositories are all repositories, by name.
func (h *Hub) Repositories() []*Repository { return sorted(h.repos) }

// AddRepository adds a repository.
func (h *Hub) AddRepository(r *Repository) {
	key := strings.ToLower(r.FullName())
	h.repos[key] = r
	delete(h.former, key)
}

// RemoveRepository removes a repository.
func (h *Hub) RemoveRepository(r *Repository) { delete(h.repos, strings.ToLower(r.FullName())) }

// App is the app of an id, or nil.
func (h *Hub) App(id int64) *App { return h.apps[id] }

// Apps are all registered apps, oldest first.
func (h *Hub) Apps() []*App { return sorted(h.apps) }

// AppBySlug is the app of a slug, or nil.
func (h *Hub) AppBySlug(slug string) *App {
	for _, a := range h.apps {
		if a.Slug == slug {
			return a
		}
	}
	return nil
}

// AddApp registers an app.
func (h *Hub) AddApp(a *App) { h.apps[a.ID] = a }

// Installation is the installation of an id, or nil when there is none, or no longer.
func (h *Hub) Installation(id int64) *Installation {
	if i := h.insts[id]; i != nil && !i.Removed {
		return i
	}
	return nil
}

// Installations are all installations, oldest first.
func (h *Hub) Installations() []*Installation {
	return slices.DeleteFunc(sorted(h.insts), func(i *Installation) bool { return i.Removed })
}

// AddInstallation adds an installation.
func (h *Hub) AddInstallation(i *Installation) { h.insts[i.ID] = i }

// Installed are the installations that receive a repository's events, oldest first.
func (h *Hub) Installed(r *Repository) []*Installation {
	return slices.DeleteFunc(h.Installations(),
		func(i *Installation) bool { return !i.Has(r) || !i.Suspended.IsZero() })
}

func sorted[K interface{ ~int64 | ~string }, V any](m map[K]V) []V {
	var vs []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		vs = append(vs, m[k])
	}
	return vs
}
