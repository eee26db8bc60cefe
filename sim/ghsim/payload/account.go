package payload

import (
	"maps"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// App is an app as payloads carry it.
func (s *Shaper) App(a *model.App) Object {
	events := a.Events
	if events == nil {
		events = []string{}
	}
	return Object{
		"id": a.ID, "node_id": NodeID("A", a.ID), "slug": a.Slug, "owner": s.User(a.Owner), "name": a.Name,
		"description":  "",
		"external_url": s.hub.URL(), "html_url": s.HTML("/apps/%s", a.Slug), "created_at": Stamp(a.Made),
		"updated_at":  Stamp(a.Made),
		"permissions": a.Permissions, "events": events,
	}
}

// Integration is an app as the REST API answers it.
func (s *Shaper) Integration(a *model.App) Object {
	o := s.App(a)
	o["client_id"] = a.ClientID
	return o
}

// appOrNull is an app, or null.
func (s *Shaper) appOrNull(a *model.App) any {
	if a == nil {
		return nil
	}
	return s.App(a)
}

// Installation is an app's installation.
func (s *Shaper) Installation(i *model.Installation) Object {
	kind := i.Account.Kind
	if kind != "Organization" {
		kind = "User"
	}
	return Object{
		"id": i.ID, "account": s.User(i.Account), "repository_selection": i.Selection(),
		"access_tokens_url": s.API("/app/installations/%d/access_tokens", i.ID),
		"repositories_url":  s.API("/installation/repositories"),
		"html_url":          s.HTML("/settings/installations/%d", i.ID), "app_id": i.App.ID, "app_slug": i.App.Slug,
		"client_id": i.App.ClientID,
		"target_id": i.Account.ID, "target_type": kind, "permissions": i.Permissions, "events": i.App.Events,
		"created_at": Stamp(i.Made), "updated_at": Stamp(i.Updated), "single_file_name": nil,
		"has_multiple_single_files": false,
		"single_file_paths":         []string{}, "suspended_at": Stamp(i.Suspended),
		"suspended_by": s.userOrNull(i.SuspendedBy),
	}
}

// User is an account as issues, comments and payloads carry it.
func (s *Shaper) User(u *model.User) Object {
	if u == nil {
		u = &model.User{Login: "ghost", Kind: "User", ID: 10137}
	}
	url := s.API("/users/%s", u.Login)
	html := s.HTML("/%s", u.Login)
	if u.Kind == "Bot" {
		html = s.HTML("/apps/%s", u.Login[:len(u.Login)-len("[bot]")])
	}
	return Object{
		"login": u.Login, "id": u.ID, "node_id": NodeID("U", u.ID), "avatar_url": s.HTML("/_avatar/%d", u.ID),
		"gravatar_id": "",
		"url":         url, "html_url": html, "type": u.Kind, "site_admin": false,
		"followers_url": url + "/followers", "following_url": url + "/following{/other_user}",
		"gists_url":   url + "/gists{/gist_id}",
		"starred_url": url + "/starred{/owner}{/repo}", "subscriptions_url": url + "/subscriptions",
		"organizations_url": url + "/orgs", "repos_url": url + "/repos", "events_url": url + "/events{/privacy}",
		"received_events_url": url + "/received_events",
	}
}

// userOrNull is an account, or null.
func (s *Shaper) userOrNull(u *model.User) any {
	if u == nil {
		return nil
	}
	return s.User(u)
}

// Users are accounts.
func (s *Shaper) Users(us []*model.User) []Object {
	return List(us, s.User)
}

// List is a list in payloads: never null.
func List[T any](all []T, of func(T) Object) []Object {
	out := []Object{}
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

// Profile is an account as GET /user answers it.
func (s *Shaper) Profile(u *model.User) Object {
	o := s.User(u)
	maps.Copy(o, Object{
		"name": nil, "user_view_type": "public", "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil,
		"bio":          nil,
		"public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": Stamp(u.Made), "updated_at": Stamp(u.Made),
	})
	return o
}

// RolePermissions are the permissions of a role, in a repository's format.
func RolePermissions(role string) Object {
	return Object{"pull": model.AtLeast(role, "read"), "triage": model.AtLeast(role, "triage"),
		"push": model.AtLeast(role, "write"), "maintain": model.AtLeast(role, "maintain"),
		"admin": model.AtLeast(role, "admin")}
}

// RepositoryStubs are repositories as installation events list them.
func RepositoryStubs(rs []*model.Repository) []Object {
	return List(rs, func(r *model.Repository) Object {
		return Object{"id": r.ID, "node_id": NodeID("R", r.ID), "name": r.Name, "full_name": r.FullName(),
			"private": r.Private}
	})
}
