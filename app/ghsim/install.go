package ghsim

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// defaultPermissions are what an app asks for unless SetAppPermissions says
// otherwise.
var defaultPermissions = map[string]string{
	"actions": "write", "administration": "read", "checks": "write", "contents": "write", "issues": "write",
	"metadata": "read", "pull_requests": "write", "statuses": "write", "workflows": "write",
}

var defaultEvents = []string{
	"check_run", "check_suite", "create", "delete", "issue_comment", "issues", "pull_request", "pull_request_review",
	"pull_request_review_comment",
	"push", "status", "workflow_run",
}

// CreateApp registers an app with a new private key, the permissions of
// [Server.SetAppPermissions]'s default and the webhook of [Config], if any. A
// ping is sent to the webhook.
func (s *Server) CreateApp(slug string) (App, error) {
	key, err := s.newAppKey()
	if err != nil {
		return App{}, fmt.Errorf("creating app %s: %w", slug, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.addApp(slug, slug, s.ensureUser("app-owner", "User"), key, defaultPermissions, defaultEvents)
	if s.cfg.WebhookURL != "" {
		s.setHook(a, s.cfg.WebhookURL, s.cfg.WebhookSecret)
	}
	return App{ID: a.id, Slug: a.slug, ClientID: a.clientID, ClientSecret: a.clientSecret, PrivateKeyPEM: key.pem(), Bot: a.bot.public(),
		WebhookSecret: s.cfg.WebhookSecret}, nil
}

func (s *Server) addApp(slug, name string, owner *user, key *appKey, perms map[string]string, events []string) *app {
	a := &app{id: s.newID(), slug: slug, name: name, owner: owner, key: key, made: s.now(),
		permissions: maps.Clone(perms), events: slices.Clone(events)}
	a.clientSecret = secretText("")
	a.clientID = fmt.Sprintf("Iv23li%014d", a.id)
	a.bot = s.ensureUser(slug+"[bot]", "Bot")
	s.apps[a.id] = a
	return a
}

func (s *Server) addActionsApp() {
	a := s.addApp("github-actions", "GitHub Actions", s.ensureUser("github", "Organization"), nil,
		map[string]string{"actions": "write", "checks": "write", "contents": "write", "metadata": "read"}, nil)
	delete(s.apps, a.id)
	a.id = 15368 // its id on github.com
	s.actions = a
}

// SetWebhook points an app's webhook at url and sends it a ping; an empty url
// removes it.
func (s *Server) SetWebhook(appID int64, url, secret string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.apps[appID]
	if a == nil {
		return fmt.Errorf("no app %d", appID)
	}
	s.setHook(a, url, secret)
	return nil
}

// SetAppPermissions replaces what an app and its installations may do, such as
// {"issues": "write", "contents": "read"}; metadata: read is always granted.
func (s *Server) SetAppPermissions(appID int64, permissions map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.apps[appID]
	if a == nil {
		return fmt.Errorf("no app %d", appID)
	}
	a.permissions = maps.Clone(permissions)
	a.permissions["metadata"] = "read"
	for _, i := range s.insts {
		if i.app != a {
			continue
		}
		i.permissions, i.updated = maps.Clone(a.permissions), s.now()
		s.emitInstallation(i, s.who(i.account), "installation", "new_permissions_accepted", object{"repositories": repoStubs(i.repos)})
	}
	return nil
}

// Install installs an app for an owner on the named repositories ("name" or
// "owner/name"); none means all of the owner's. It returns the installation's
// id. Installing again adds repositories.
func (s *Server) Install(appID int64, owner string, repos ...string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.apps[appID]
	if a == nil {
		return 0, fmt.Errorf("installing app %d: no such app", appID)
	}
	u := s.users[lower(owner)]
	if u == nil {
		return 0, fmt.Errorf("installing %s: no account %s", a.slug, owner)
	}
	rs, err := s.ownedRepos(u, repos)
	if err != nil {
		return 0, fmt.Errorf("installing %s: %w", a.slug, err)
	}
	for _, i := range s.insts {
		if i.app == a && i.account == u && !i.removed {
			s.addToInstallation(i, rs)
			return i.id, nil
		}
	}
	i := &installation{id: s.newID(), app: a, account: u, repos: rs, made: s.now(), updated: s.now(),
		allRepos: len(repos) == 0, permissions: maps.Clone(a.permissions), installEvent: a.events}
	s.insts[i.id] = i
	s.note(Entry{Kind: "installation.created", Actor: u.login, Ref: a.slug, Number: int(i.id)})
	s.emitInstallation(i, s.who(u), "installation", "created", object{"repositories": repoStubs(rs)})
	return i.id, nil
}

func (s *Server) addToInstallation(i *installation, rs []*repository) {
	var added []*repository
	for _, r := range rs {
		if !i.has(r) {
			i.repos, added = append(i.repos, r), append(added, r)
		}
	}
	if len(added) == 0 {
		return
	}
	i.updated = s.now()
	for _, r := range added {
		s.note(Entry{Kind: "installation_repositories.added", Actor: i.account.login, Repo: r.fullName(), Ref: i.app.slug})
	}
	s.emitInstallation(i, s.who(i.account), "installation_repositories", "added", object{
		"repository_selection": i.selection(), "repositories_added": repoStubs(added),
		"repositories_removed": []object{}, "requester": nil,
	})
}

// RemoveFromInstallation takes repositories ("owner/name") out of an installation.
func (s *Server) RemoveFromInstallation(id int64, repos ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.insts[id]
	if i == nil || i.removed {
		return fmt.Errorf("no installation %d", id)
	}
	var gone []*repository
	for _, name := range repos {
		r, err := s.findRepo(name)
		if err != nil {
			return err
		}
		i.repos = slices.DeleteFunc(i.repos, func(x *repository) bool { return x == r })
		gone = append(gone, r)
		s.note(Entry{Kind: "installation_repositories.removed", Actor: i.account.login, Repo: r.fullName(), Ref: i.app.slug})
	}
	i.allRepos, i.updated = false, s.now()
	s.emitInstallation(i, s.who(i.account), "installation_repositories", "removed", object{
		"repository_selection": i.selection(), "repositories_added": []object{},
		"repositories_removed": repoStubs(gone), "requester": nil,
	})
	return nil
}

// Uninstall removes an installation and all its tokens.
func (s *Server) Uninstall(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.insts[id]
	if i == nil || i.removed {
		return fmt.Errorf("no installation %d", id)
	}
	i.removed = true
	maps.DeleteFunc(s.tokens, func(_ string, t *token) bool { return t.inst == i })
	s.note(Entry{Kind: "installation.deleted", Actor: i.account.login, Ref: i.app.slug, Number: int(i.id)})
	s.emitInstallation(i, s.who(i.account), "installation", "deleted", object{"repositories": repoStubs(i.repos)})
	return nil
}

// Suspend suspends or resumes an installation; while suspended its tokens are
// answered 403.
func (s *Server) Suspend(id int64, suspended bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.insts[id]
	if i == nil || i.removed {
		return fmt.Errorf("no installation %d", id)
	}
	action := "unsuspend"
	i.suspended, i.suspendedBy = time.Time{}, nil
	if suspended {
		action = "suspend"
		i.suspended, i.suspendedBy = s.now(), i.account
	}
	s.note(Entry{Kind: "installation." + action, Actor: i.account.login, Ref: i.app.slug, Number: int(i.id)})
	s.emitInstallation(i, s.who(i.account), "installation", action, object{"repositories": repoStubs(i.repos)})
	return nil
}

func (i *installation) selection() string {
	if i.allRepos {
		return "all"
	}
	return "selected"
}

// ownedRepos resolves names of an owner's repositories; none means all.
func (s *Server) ownedRepos(u *user, names []string) ([]*repository, error) {
	var rs []*repository
	if len(names) == 0 {
		for _, r := range s.repos {
			if r.owner == u {
				rs = append(rs, r)
			}
		}
		slices.SortFunc(rs, func(a, b *repository) int { return int(a.id - b.id) })
		return rs, nil
	}
	for _, n := range names {
		r := s.repos[lower(u.login+"/"+n)]
		if r == nil {
			r = s.repos[lower(n)]
		}
		if r == nil || r.owner != u {
			return nil, fmt.Errorf("%s has no repository %s", u.login, n)
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// repoStubs are repositories as installation events list them.
func repoStubs(rs []*repository) []object {
	out := []object{}
	for _, r := range rs {
		out = append(out, object{"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private})
	}
	return out
}
