package api

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// commit is the commit in the path.
func (c *call) commit() (string, error) {
	sha, known := c.world.CommitOf(c.repo, c.params["ref"])
	if !known {
		return "", refusal.Unprocessable("No commit found for SHA: " + c.params["ref"])
	}
	return sha, nil
}

func getCommit(c *call, sha string) (answer, error) {
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

// compareCommits compares two commits. A page after the first has no files.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func compareCommits(c *call) (answer, error) {
	base, head, _ := strings.Cut(c.params["refs"], "...")
	from, known := c.world.CommitOf(c.repo, base)
	to, both := c.world.CommitOf(c.repo, head)
	between := c.git.Compare(c.repo.Dir, from, to)
	if !known || !both || between.MergeBase == "" {
		return answer{}, refusal.NotFound()
	}
	status := "diverged"
	switch {
	case between.Ahead == 0 && between.Behind == 0:
		status = "identical"
	case between.Behind == 0:
		status = "ahead"
	case between.Ahead == 0:
		status = "behind"
	}
	commit := func(sha string) object { return c.shape.Commit(c.repo, c.git.Facts(c.repo.Dir, sha)) }
	u := c.shape.HTML("/%s/compare/%s...%s", c.repo.FullName(), from, to)
	o := object{"url": c.shape.API("/repos/%s/compare/%s...%s", c.repo.FullName(), base, head), "html_url": u,
		"permalink_url": u, "diff_url": u + ".diff", "patch_url": u + ".patch", "base_commit": commit(from),
		"merge_base_commit": commit(between.MergeBase), "status": status, "ahead_by": between.Ahead,
		"behind_by": between.Behind, "total_commits": len(between.Commits), "commits": []object{}}
	if page := c.query.Get("page"); page == "" || page == "1" {
		o["files"] = c.shape.Files(c.repo, to, between.Files)
		o["commits"] = payload.List(between.Commits, func(f git.Commit) object { return c.shape.Commit(c.repo, f) })
	}
	return ok(o), nil
}

func listCommits(c *call) (answer, error) {
	ref := cmp.Or(c.query.Get("sha"), c.repo.DefaultBranch)
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
