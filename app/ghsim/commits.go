package ghsim

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func pathEscape(s string) string { return url.PathEscape(s) }

// commitOf is the commit that a branch, tag or SHA of a repository names.
func (s *Server) commitOf(r *repository, ref string) (string, bool) {
	if sha := r.head(ref); sha != "" {
		return sha, true
	}
	if len(ref) == len(noSHA) && s.git.known(r.dir, ref) {
		return ref, true
	}
	return s.git.resolve(r.dir, ref)
}

// simpleCommitJSON is a commit as suites, runs and pushes carry it.
func (s *Server) simpleCommitJSON(c commitFacts) object {
	return object{"id": c.sha, "tree_id": c.tree, "message": c.message, "timestamp": stamp(c.committer.at),
		"author":    object{"name": c.author.name, "email": c.author.email},
		"committer": object{"name": c.committer.name, "email": c.committer.email}}
}

// accountOf is the account whose address a commit carries, or nil.
func (s *Server) accountOf(i ident) *user {
	local, host, _ := strings.Cut(i.email, "@")
	if host != "users.noreply.github.com" {
		return nil
	}
	_, login, ok := strings.Cut(local, "+")
	if !ok {
		login = local
	}
	return s.users[lower(login)]
}

// commitJSON is a commit without its files.
func (s *Server) commitJSON(r *repository, c commitFacts) object {
	u := s.api("/repos/%s/commits/%s", r.fullName(), c.sha)
	parents := []object{}
	for _, p := range c.parents {
		parents = append(parents, object{"sha": p, "url": s.api("/repos/%s/commits/%s", r.fullName(), p), "html_url": s.html("/%s/commit/%s", r.fullName(), p)})
	}
	who := func(i ident) object { return object{"name": i.name, "email": i.email, "date": stamp(i.at)} }
	return object{
		"sha": c.sha, "node_id": nodeID("C", int64(len(c.sha))) + c.sha[:min(8, len(c.sha))], "url": u,
		"html_url": s.html("/%s/commit/%s", r.fullName(), c.sha), "comments_url": u + "/comments",
		"commit": object{
			"author": who(c.author), "committer": who(c.committer), "message": c.message,
			"tree": object{"sha": c.tree, "url": s.api("/repos/%s/git/trees/%s", r.fullName(), c.tree)},
			"url":  s.api("/repos/%s/git/commits/%s", r.fullName(), c.sha), "comment_count": 0,
			"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
		"author": s.userOrNull(s.accountOf(c.author)), "committer": s.userOrNull(s.accountOf(c.committer)), "parents": parents,
	}
}

// fileJSON is one changed file.
func (s *Server) fileJSON(r *repository, sha string, f fileChange) object {
	p := (&url.URL{Path: f.path}).EscapedPath()
	o := object{
		"sha": f.blob, "filename": f.path, "status": f.status, "additions": f.additions, "deletions": f.deleted,
		"changes": f.additions + f.deleted, "blob_url": s.html("/%s/blob/%s/%s", r.fullName(), sha, p),
		"raw_url":      s.html("/%s/raw/%s/%s", r.fullName(), sha, p),
		"contents_url": s.api("/repos/%s/contents/%s?ref=%s", r.fullName(), p, sha),
	}
	if f.patch != "" {
		o["patch"] = f.patch
	}
	if f.from != "" {
		o["previous_filename"] = f.from
	}
	return o
}

func (s *Server) filesJSON(r *repository, sha string, files []fileChange) []object {
	out := []object{}
	for _, f := range files {
		out = append(out, s.fileJSON(r, sha, f))
	}
	return out
}

func (s *Server) getCommit(c *call) (answer, error) {
	sha, found := s.commitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, unprocessable("No commit found for SHA: " + c.params["ref"])
	}
	if strings.Contains(c.r.Header.Get("Accept"), "application/vnd.github.sha") || strings.Contains(c.r.Header.Get("Accept"), ".v3.sha") {
		return answer{code: http.StatusOK, value: plain(sha)}, nil
	}
	facts := s.git.facts(c.repo.dir, sha)
	from := emptyTree
	if len(facts.parents) > 0 {
		from = facts.parents[0]
	}
	files, err := s.git.diff(c.repo.dir, from, sha)
	if err != nil {
		return answer{}, err
	}
	o := s.commitJSON(c.repo, facts)
	adds, dels := comparison{files: files}.totals()
	o["stats"] = object{"additions": adds, "deletions": dels, "total": adds + dels}
	o["files"] = s.filesJSON(c.repo, sha, files)
	return ok(o), nil
}

func (s *Server) listCommits(c *call) (answer, error) {
	ref := c.query.Get("sha")
	if ref == "" {
		ref = c.repo.defaultBranch
	}
	sha, found := s.commitOf(c.repo, ref)
	if !found {
		return answer{}, notFound()
	}
	cs, err := s.git.commitsIn(c.repo.dir, sha)
	if err != nil {
		return answer{}, err
	}
	slices.Reverse(cs)
	return page(c, cs, "", func(f commitFacts) object { return s.commitJSON(c.repo, f) })
}

// compare is GET /repos/{owner}/{repo}/compare/{base}...{head}.
func (s *Server) compare(c *call) (answer, error) {
	name := func(n string) string {
		if owner, branch, is := strings.Cut(n, ":"); is && strings.EqualFold(owner, c.repo.owner.login) {
			return branch
		}
		return n
	}
	base, okBase := s.commitOf(c.repo, name(c.params["base"]))
	head, okHead := s.commitOf(c.repo, name(c.params["head"]))
	if !okBase || !okHead {
		return answer{}, notFound()
	}
	cmp := s.git.compare(c.repo.dir, base, head)
	if cmp.mergeBase == "" {
		return answer{}, notFound()
	}
	state := "diverged"
	switch {
	case cmp.ahead == 0 && cmp.behind == 0:
		state = "identical"
	case cmp.behind == 0:
		state = "ahead"
	case cmp.ahead == 0:
		state = "behind"
	}
	html := s.html("/%s/compare/%s...%s", c.repo.fullName(), c.params["base"], c.params["head"])
	a, err := page(c, cmp.commits, "commits", func(f commitFacts) object { return s.commitJSON(c.repo, f) })
	o := a.value.(object)
	delete(o, "total_count")
	o["url"] = s.api("/repos/%s/compare/%s...%s", c.repo.fullName(), c.params["base"], c.params["head"])
	o["html_url"], o["diff_url"], o["patch_url"] = html, html+".diff", html+".patch"
	o["permalink_url"] = s.html("/%s/compare/%.7s...%.7s", c.repo.fullName(), base, head)
	o["base_commit"] = s.commitJSON(c.repo, s.git.facts(c.repo.dir, base))
	o["merge_base_commit"] = s.commitJSON(c.repo, s.git.facts(c.repo.dir, cmp.mergeBase))
	o["status"], o["ahead_by"], o["behind_by"], o["total_commits"] = state, cmp.ahead, cmp.behind, len(cmp.commits)
	o["files"] = s.filesJSON(c.repo, head, cmp.files)
	return a, err
}
