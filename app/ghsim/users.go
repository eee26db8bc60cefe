package ghsim

import (
	"maps"
)

// userJSON is an account as issues, comments and payloads carry it.
func (s *Server) userJSON(u *user) object {
	if u == nil {
		u = &user{login: "ghost", kind: "User", id: 10137}
	}
	url := s.api("/users/%s", u.login)
	html := s.html("/%s", u.login)
	if u.kind == "Bot" {
		html = s.html("/apps/%s", u.login[:len(u.login)-len("[bot]")])
	}
	return object{
		"login": u.login, "id": u.id, "node_id": nodeID("U", u.id), "avatar_url": s.html("/_avatar/%d", u.id), "gravatar_id": "",
		"url": url, "html_url": html, "type": u.kind, "site_admin": false,
		"followers_url": url + "/followers", "following_url": url + "/following{/other_user}", "gists_url": url + "/gists{/gist_id}",
		"starred_url": url + "/starred{/owner}{/repo}", "subscriptions_url": url + "/subscriptions",
		"organizations_url": url + "/orgs", "repos_url": url + "/repos", "events_url": url + "/events{/privacy}",
		"received_events_url": url + "/received_events",
	}
}

// userOrNull is an account, or null.
func (s *Server) userOrNull(u *user) any {
	if u == nil {
		return nil
	}
	return s.userJSON(u)
}

func (s *Server) usersJSON(us []*user) []object {
	out := []object{}
	for _, u := range us {
		out = append(out, s.userJSON(u))
	}
	return out
}

func (s *Server) getUser(c *call) (answer, error) {
	u := s.users[lower(c.params["username"])]
	if u == nil {
		return answer{}, notFound()
	}
	return ok(s.profileJSON(u)), nil
}

func (s *Server) profileJSON(u *user) object {
	o := s.userJSON(u)
	maps.Copy(o, object{
		"name": nil, "user_view_type": "public", "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": stamp(u.made), "updated_at": stamp(u.made),
	})
	return o
}

// getPermission is GET /repos/{owner}/{repo}/collaborators/{username}/permission.
func (s *Server) getPermission(c *call) (answer, error) {
	u := s.users[lower(c.params["username"])]
	if u == nil {
		return answer{}, notFound()
	}
	role := c.repo.role(u.login)
	legacy := map[string]string{"maintain": "write", "triage": "read"}[role]
	if legacy == "" {
		legacy = role
	}
	who := s.userJSON(u)
	who["role_name"] = role
	who["permissions"] = rolePermissions(role)
	return ok(object{"permission": legacy, "role_name": role, "user": who}), nil
}

func rolePermissions(role string) object {
	return object{"pull": atLeast(role, "read"), "triage": atLeast(role, "triage"), "push": atLeast(role, "write"),
		"maintain": atLeast(role, "maintain"), "admin": atLeast(role, "admin")}
}

// association is how an author belongs to a repository.
func (r *repository) association(u *user) string {
	switch {
	case u == nil || u.kind == "Bot":
		return "NONE"
	case u == r.owner:
		return "OWNER"
	case atLeast(r.role(u.login), "triage"):
		return "COLLABORATOR"
	}
	return "NONE"
}
