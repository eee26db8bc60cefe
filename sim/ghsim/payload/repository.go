package payload

import (
	"cmp"
	"maps"
	"net/url"
	"path"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// BranchShort is a branch as lists carry it.
func (s *Shaper) BranchShort(r *model.Repository, branch string) Object {
	sha := r.Head(branch)
	return Object{"name": branch, "commit": Object{"sha": sha, "url": s.API("/repos/%s/commits/%s", r.FullName(), sha)},
		"protected": r.Protected(branch)}
}

// Ref is a git ref.
func (s *Shaper) Ref(r *model.Repository, ref string) Object {
	sha := r.Refs[ref]
	return Object{"ref": ref, "node_id": NodeID("REF", r.ID) + url.PathEscape(ref),
		"url":    s.API("/repos/%s/git/%s", r.FullName(), ref),
		"object": Object{"type": "commit", "sha": sha, "url": s.API("/repos/%s/git/commits/%s", r.FullName(), sha)}}
}

// Entry is a file or directory as the contents API answers it.
func (s *Shaper) Entry(r *model.Repository, ref string, e git.Entry) Object {
	p := (&url.URL{Path: e.Path}).EscapedPath()
	self := s.API("/repos/%s/contents/%s?ref=%s", r.FullName(), p, url.QueryEscape(ref))
	kind, html, git, download := "file", "blob", "blobs", any(s.HTML("/%s/raw/%s/%s", r.FullName(), ref, p))
	if e.Kind == "tree" {
		kind, html, git, download = "dir", "tree", "trees", nil
	}
	page := s.HTML("/%s/%s/%s/%s", r.FullName(), html, ref, p)
	gitURL := s.API("/repos/%s/git/%s/%s", r.FullName(), git, e.SHA)
	return Object{
		"type": kind, "name": path.Base(e.Path), "path": e.Path, "sha": e.SHA, "size": e.Size, "url": self,
		"html_url": page,
		"git_url":  gitURL, "download_url": download, "_links": Object{"self": self, "git": gitURL, "html": page},
	}
}

// RepositoryLite is a repository as lists and other objects carry it.
func (s *Shaper) RepositoryLite(r *model.Repository) Object {
	u := s.API("/repos/%s", r.FullName())
	return Object{
		"id": r.ID, "node_id": NodeID("R", r.ID), "name": r.Name, "full_name": r.FullName(), "private": r.Private,
		"owner": s.User(r.Owner), "html_url": s.HTML("/%s", r.FullName()), "description": nil, "fork": false, "url": u,
		"archive_url": u + "/{archive_format}{/ref}", "assignees_url": u + "/assignees{/user}",
		"blobs_url":    u + "/git/blobs{/sha}",
		"branches_url": u + "/branches{/branch}", "collaborators_url": u + "/collaborators{/collaborator}",
		"comments_url": u + "/comments{/number}", "commits_url": u + "/commits{/sha}",
		"compare_url":  u + "/compare/{base}...{head}",
		"contents_url": u + "/contents/{+path}", "contributors_url": u + "/contributors",
		"deployments_url": u + "/deployments",
		"downloads_url":   u + "/downloads", "events_url": u + "/events", "forks_url": u + "/forks",
		"git_commits_url": u + "/git/commits{/sha}", "git_refs_url": u + "/git/refs{/sha}",
		"git_tags_url": u + "/git/tags{/sha}",
		"hooks_url":    u + "/hooks", "issue_comment_url": u + "/issues/comments{/number}",
		"issue_events_url": u + "/issues/events{/number}",
		"issues_url":       u + "/issues{/number}", "keys_url": u + "/keys{/key_id}", "labels_url": u + "/labels{/name}",
		"languages_url": u + "/languages", "merges_url": u + "/merges", "milestones_url": u + "/milestones{/number}",
		"notifications_url": u + "/notifications{?since,all,participating}", "pulls_url": u + "/pulls{/number}",
		"releases_url": u + "/releases{/id}", "stargazers_url": u + "/stargazers", "statuses_url": u + "/statuses/{sha}",
		"subscribers_url": u + "/subscribers", "subscription_url": u + "/subscription", "tags_url": u + "/tags",
		"teams_url": u + "/teams", "trees_url": u + "/git/trees{/sha}",
	}
}

// Repository is a repository as payloads carry it.
func (s *Shaper) Repository(r *model.Repository) Object {
	open := 0
	for _, i := range r.Issues {
		if i.State == "open" {
			open++
		}
	}
	visibility := "public"
	if r.Private {
		visibility = "private"
	}
	html := s.HTML("/%s", r.FullName())
	o := s.RepositoryLite(r)
	maps.Copy(o, Object{
		"created_at": Stamp(r.Made), "updated_at": Stamp(r.Pushed), "pushed_at": Stamp(r.Pushed),
		"git_url":   "git" + html[len("http"):] + ".git",
		"ssh_url":   "git@" + hostOf(s.hub.URL()) + ":" + r.FullName() + ".git",
		"clone_url": html + ".git", "svn_url": html, "homepage": nil, "size": 1, "stargazers_count": 0, "watchers_count": 0,
		"language": nil, "has_issues": true, "has_projects": false, "has_downloads": true, "has_wiki": false,
		"has_pages":       false,
		"has_discussions": false, "forks_count": 0, "mirror_url": nil, "archived": r.Archived, "disabled": false,
		"open_issues_count": open, "license": nil, "allow_forking": false, "is_template": false,
		"web_commit_signoff_required": r.SignOff,
		"topics":                      []string{}, "visibility": visibility, "forks": 0, "open_issues": open, "watchers": 0,
		"default_branch": r.DefaultBranch, "custom_properties": Object{},
	})
	return o
}

// RepositoryFull is a repository as GET /repos/{owner}/{repo} returns it, with the caller's permissions.
func (s *Shaper) RepositoryFull(r *model.Repository, permissions map[string]any) Object {
	o := s.Repository(r)
	maps.Copy(o, Object{
		"network_count": 0, "subscribers_count": 0, "allow_rebase_merge": true, "allow_squash_merge": true,
		"allow_merge_commit": true,
		"allow_auto_merge":   false, "allow_update_branch": false, "delete_branch_on_merge": false,
		"permissions": permissions, "has_issues": !r.NoIssues, "has_pull_requests": !r.NoPulls,
		"pull_request_creation_policy": cmp.Or(r.PullsBy, "all"),
	})
	return o
}
