package payload

import (
	"net/url"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// CommitLite is a commit as suites, runs and pushes carry it.
func (s *Shaper) CommitLite(c git.Commit) Object {
	return Object{"id": c.SHA, "tree_id": c.Tree, "message": c.Message, "timestamp": Stamp(c.Committer.At),
		"author":    Object{"name": c.Author.Name, "email": c.Author.Email},
		"committer": Object{"name": c.Committer.Name, "email": c.Committer.Email}}
}

// AccountOf is the account that a commit's e-mail address belongs to, or nil.
func (s *Shaper) AccountOf(i git.Signature) *model.User {
	local, host, _ := strings.Cut(i.Email, "@")
	if host != "users.noreply.github.com" {
		return nil
	}
	_, login, ok := strings.Cut(local, "+")
	if !ok {
		login = local
	}
	return s.hub.User(login)
}

// Commit is a commit without its files.
func (s *Shaper) Commit(r *model.Repository, c git.Commit) Object {
	u := s.API("/repos/%s/commits/%s", r.FullName(), c.SHA)
	parents := List(c.Parents, func(p string) Object {
		return Object{"sha": p, "url": s.API("/repos/%s/commits/%s", r.FullName(), p),
			"html_url": s.HTML("/%s/commit/%s", r.FullName(), p)}
	})
	who := func(i git.Signature) Object { return Object{"name": i.Name, "email": i.Email, "date": Stamp(i.At)} }
	return Object{
		"sha": c.SHA, "node_id": CommitNodeID(r, c.SHA), "url": u,
		"html_url": s.HTML("/%s/commit/%s", r.FullName(), c.SHA), "comments_url": u + "/comments",
		"commit": Object{
			"author": who(c.Author), "committer": who(c.Committer), "message": c.Message,
			"tree": Object{"sha": c.Tree, "url": s.API("/repos/%s/git/trees/%s", r.FullName(), c.Tree)},
			"url":  s.API("/repos/%s/git/commits/%s", r.FullName(), c.SHA), "comment_count": 0,
			"verification": verification(r, c),
		},
		"author": s.userOrNull(s.AccountOf(c.Author)), "committer": s.userOrNull(s.AccountOf(c.Committer)),
		"parents": parents,
	}
}

// verification is the state of a commit's signature: it is signed if GitHub made it.
// https://docs.github.com/en/rest/commits/commits#get-a-commit
func verification(r *model.Repository, c git.Commit) Object {
	if !r.Signed[c.SHA] {
		return Object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	}
	return Object{"verified": true, "reason": "valid", "signature": "-----BEGIN PGP SIGNATURE-----\n",
		"payload": "tree " + c.Tree, "verified_at": Stamp(c.Committer.At)}
}

// GitCommit is a commit as the Git database API answers it.
// https://docs.github.com/en/rest/git/commits
func (s *Shaper) GitCommit(r *model.Repository, c git.Commit) Object {
	full := s.Commit(r, c)
	o := full["commit"].(Object)
	delete(o, "comment_count")
	o["sha"], o["node_id"], o["parents"] = c.SHA, full["node_id"], full["parents"]
	o["html_url"] = full["html_url"]
	return o
}

// File is one changed file.
func (s *Shaper) File(r *model.Repository, sha string, f git.FileChange) Object {
	p := (&url.URL{Path: f.Path}).EscapedPath()
	o := Object{
		"sha": f.Blob, "filename": f.Path, "status": f.Status, "additions": f.Additions, "deletions": f.Deleted,
		"changes": f.Additions + f.Deleted, "blob_url": s.HTML("/%s/blob/%s/%s", r.FullName(), sha, p),
		"raw_url":      s.HTML("/%s/raw/%s/%s", r.FullName(), sha, p),
		"contents_url": s.API("/repos/%s/contents/%s?ref=%s", r.FullName(), p, sha),
	}
	if f.Patch != "" {
		o["patch"] = f.Patch
	}
	if f.From != "" {
		o["previous_filename"] = f.From
	}
	return o
}

// Files are changed files.
func (s *Shaper) Files(r *model.Repository, sha string, files []git.FileChange) []Object {
	return List(files, func(f git.FileChange) Object { return s.File(r, sha, f) })
}

// maxPushCommits is how many commits a push event lists.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
const maxPushCommits = 2048

// Push is the payload of a push that moved a ref; an empty SHA is a missing ref.
func (s *Shaper) Push(r *model.Repository, a model.Actor, ref, old, new string, forced bool) Object {
	before, after := old, new
	if before == "" {
		before = git.NoSHA
	}
	if after == "" {
		after = git.NoSHA
	}
	commits := []Object{}
	var head any
	if new != "" {
		revs := []string{new, "^" + old}
		if old == "" {
			revs = []string{new}
			for other, sha := range r.Refs {
				if other != ref && sha != new {
					revs = append(revs, "^"+sha)
				}
			}
			slices.Sort(revs[1:])
		}
		cs, err := s.git.CommitsIn(r.Dir, revs...)
		if err != nil {
			s.log.Error("commits of a push", "repo", r.FullName(), "error", err)
		}
		for _, c := range cs[max(0, len(cs)-maxPushCommits):] {
			commits = append(commits, s.pushedCommit(r, c))
		}
		head = s.pushedCommit(r, s.git.Facts(r.Dir, new))
	}
	return Object{
		"ref": ref, "before": before, "after": after, "created": old == "", "deleted": new == "", "forced": forced,
		"base_ref": nil, "compare": s.HTML("/%s/compare/%.12s...%.12s", r.FullName(), before, after),
		"commits": commits, "head_commit": head,
		"pusher": Object{"name": a.User.Login, "email": a.User.Email()},
	}
}

func (s *Shaper) pushedCommit(r *model.Repository, c git.Commit) Object {
	added, removed, modified := []string{}, []string{}, []string{}
	files, _ := s.git.Changes(r.Dir, c)
	for _, f := range files {
		switch f.Status {
		case "added":
			added = append(added, f.Path)
		case "removed":
			removed = append(removed, f.Path)
		case "renamed":
			added, removed = append(added, f.Path), append(removed, f.From)
		default:
			modified = append(modified, f.Path)
		}
	}
	o := s.CommitLite(c)
	o["distinct"], o["url"] = true, s.HTML("/%s/commit/%s", r.FullName(), c.SHA)
	o["added"], o["removed"], o["modified"] = added, removed, modified
	return o
}
