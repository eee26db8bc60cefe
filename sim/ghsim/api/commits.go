package api

import (
	"cmp"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// commit is the commit that the path names.
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
