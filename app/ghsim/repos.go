package ghsim

import (
	"maps"
	"slices"
	"strings"
)

// repoLiteJSON is a repository as lists and other objects carry it.
func (s *Server) repoLiteJSON(r *repository) object {
	u := s.api("/repos/%s", r.fullName())
	return object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private,
		"owner": s.userJSON(r.owner), "html_url": s.html("/%s", r.fullName()), "description": nil, "fork": false, "url": u,
		"archive_url": u + "/{archive_format}{/ref}", "assignees_url": u + "/assignees{/user}", "blobs_url": u + "/git/blobs{/sha}",
		"branches_url": u + "/branches{/branch}", "collaborators_url": u + "/collaborators{/collaborator}",
		"comments_url": u + "/comments{/number}", "commits_url": u + "/commits{/sha}", "compare_url": u + "/compare/{base}...{head}",
		"contents_url": u + "/contents/{+path}", "contributors_url": u + "/contributors", "deployments_url": u + "/deployments",
		"downloads_url": u + "/downloads", "events_url": u + "/events", "forks_url": u + "/forks",
		"git_commits_url": u + "/git/commits{/sha}", "git_refs_url": u + "/git/refs{/sha}", "git_tags_url": u + "/git/tags{/sha}",
		"hooks_url": u + "/hooks", "issue_comment_url": u + "/issues/comments{/number}", "issue_events_url": u + "/issues/events{/number}",
		"issues_url": u + "/issues{/number}", "keys_url": u + "/keys{/key_id}", "labels_url": u + "/labels{/name}",
		"languages_url": u + "/languages", "merges_url": u + "/merges", "milestones_url": u + "/milestones{/number}",
		"notifications_url": u + "/notifications{?since,all,participating}", "pulls_url": u + "/pulls{/number}",
		"releases_url": u + "/releases{/id}", "stargazers_url": u + "/stargazers", "statuses_url": u + "/statuses/{sha}",
		"subscribers_url": u + "/subscribers", "subscription_url": u + "/subscription", "tags_url": u + "/tags",
		"teams_url": u + "/teams", "trees_url": u + "/git/trees{/sha}",
	}
}

// repoJSON is a repository as payloads carry it.
func (s *Server) repoJSON(r *repository) object {
	open := 0
	for _, i := range r.issues {
		if i.state == "open" {
			open++
		}
	}
	visibility := "public"
	if r.private {
		visibility = "private"
	}
	html := s.html("/%s", r.fullName())
	o := s.repoLiteJSON(r)
	maps.Copy(o, object{
		"created_at": stamp(r.made), "updated_at": stamp(r.pushed), "pushed_at": stamp(r.pushed),
		"git_url": "git" + html[len("http"):] + ".git", "ssh_url": "git@" + hostOf(s.url) + ":" + r.fullName() + ".git",
		"clone_url": html + ".git", "svn_url": html, "homepage": nil, "size": 1, "stargazers_count": 0, "watchers_count": 0,
		"language": nil, "has_issues": true, "has_projects": false, "has_downloads": true, "has_wiki": false, "has_pages": false,
		"has_discussions": false, "forks_count": 0, "mirror_url": nil, "archived": false, "disabled": false,
		"open_issues_count": open, "license": nil, "allow_forking": false, "is_template": false, "web_commit_signoff_required": false,
		"topics": []string{}, "visibility": visibility, "forks": 0, "open_issues": open, "watchers": 0,
		"default_branch": r.defaultBranch, "custom_properties": object{},
	})
	return o
}

// repoFullJSON is a repository as GET /repos/{owner}/{repo} answers it.
func (s *Server) repoFullJSON(r *repository, t *token) object {
	o := s.repoJSON(r)
	maps.Copy(o, object{
		"network_count": 0, "subscribers_count": 0, "allow_rebase_merge": true, "allow_squash_merge": true, "allow_merge_commit": true,
		"allow_auto_merge": false, "allow_update_branch": false, "delete_branch_on_merge": false,
		"permissions": object{"pull": t.may("contents", "read"), "push": t.may("contents", "write"),
			"triage": t.may("issues", "write"), "maintain": false, "admin": t.may("administration", "write")},
	})
	if t.user != nil {
		o["permissions"] = rolePermissions(r.role(t.user.login))
	}
	return o
}

func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	return host
}

func (s *Server) getRepo(c *call) (answer, error) { return ok(s.repoFullJSON(c.repo, c.token)), nil }

func (s *Server) listInstallationRepos(c *call) (answer, error) {
	rs := slices.DeleteFunc(slices.Clone(c.token.inst.repos), func(r *repository) bool { return !c.token.has(r) })
	a, err := page(c, rs, "repositories", func(r *repository) object { return s.repoFullJSON(r, c.token) })
	if o, is := a.value.(object); is {
		o["repository_selection"] = c.token.inst.selection()
	}
	return a, err
}
