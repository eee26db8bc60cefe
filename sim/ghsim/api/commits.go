package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func getCommit(c *call) (answer, error) {
	sha, found := c.world.CommitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, refusal.Unprocessable("No commit found for SHA: " + c.params["ref"])
	}
	if strings.Contains(c.r.Header.Get("Accept"), "application/vnd.github.sha") ||
		strings.Contains(c.r.Header.Get("Accept"), ".v3.sha") {
		return answer{code: http.StatusOK, value: plain(sha)}, nil
	}
	facts := c.git.Facts(c.repo.Dir, sha)
	files, err := c.git.Changes(c.repo.Dir, facts)
	if err != nil {
		return answer{}, err
	}
	o := c.shape.Commit(c.repo, facts)
	adds, dels := git.Comparison{Files: files}.Totals()
	o["stats"] = object{"additions": adds, "deletions": dels, "total": adds + dels}
	o["files"] = c.shape.Files(c.repo, sha, files)
	return ok(o), nil
}

func listCommits(c *call) (answer, error) {
	ref := c.query.Get("sha")
	if ref == "" {
		ref = c.repo.DefaultBranch
	}
	sha, found := c.world.CommitOf(c.repo, ref)
	if !found {
		return answer{}, refusal.NotFound()
	}
	cs, err := c.git.CommitsIn(c.repo.Dir, sha)
	if err != nil {
		return answer{}, err
	}
	slices.Reverse(cs)
	return page(c, cs, "", func(f git.Commit) object { return c.shape.Commit(c.repo, f) })
}

// compare is GET /repos/{owner}/{repo}/compare/{base}...{head}.
func compare(c *call) (answer, error) {
	name := func(n string) string {
		if owner, branch, is := strings.Cut(n, ":"); is && strings.EqualFold(owner, c.repo.Owner.Login) {
			return branch
		}
		return n
	}
	base, okBase := c.world.CommitOf(c.repo, name(c.params["base"]))
	head, okHead := c.world.CommitOf(c.repo, name(c.params["head"]))
	if !okBase || !okHead {
		return answer{}, refusal.NotFound()
	}
	cmp := c.git.Compare(c.repo.Dir, base, head)
	if cmp.MergeBase == "" {
		return answer{}, refusal.NotFound()
	}
	state := "diverged"
	switch {
	case cmp.Ahead == 0 && cmp.Behind == 0:
		state = "identical"
	case cmp.Behind == 0:
		state = "ahead"
	case cmp.Ahead == 0:
		state = "behind"
	}
	html := c.shape.HTML("/%s/compare/%s...%s", c.repo.FullName(), c.params["base"], c.params["head"])
	a, err := page(c, cmp.Commits, "commits", func(f git.Commit) object { return c.shape.Commit(c.repo, f) })
	o := a.value.(object)
	delete(o, "total_count")
	o["url"] = c.shape.API("/repos/%s/compare/%s...%s", c.repo.FullName(), c.params["base"], c.params["head"])
	o["html_url"], o["diff_url"], o["patch_url"] = html, html+".diff", html+".patch"
	o["permalink_url"] = c.shape.HTML("/%s/compare/%.7s...%.7s", c.repo.FullName(), base, head)
	o["base_commit"] = c.shape.Commit(c.repo, c.git.Facts(c.repo.Dir, base))
	o["merge_base_commit"] = c.shape.Commit(c.repo, c.git.Facts(c.repo.Dir, cmp.MergeBase))
	o["status"], o["ahead_by"], o["behind_by"], o["total_commits"] = state, cmp.Ahead, cmp.Behind, len(cmp.Commits)
	o["files"] = c.shape.Files(c.repo, head, cmp.Files)
	return a, err
}
