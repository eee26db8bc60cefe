package api

import "github.com/sia-bot/sia/sim/ghsim/model"

// listBlockedBy is GET /repos/{owner}/{repo}/issues/{number}/dependencies/blocked_by.
// https://docs.github.com/en/rest/issues/issue-dependencies#list-dependencies-an-issue-is-blocked-by
func listBlockedBy(c *call, i *model.Issue) (answer, error) {
	return page(c, i.BlockedBy, "", func(i *model.Issue) object {
		o := c.shape.IssueFull(c.repo, i)
		o["repository"] = c.shape.Repository(c.repo)
		return o
	})
}

// listSubIssues is GET /repos/{owner}/{repo}/issues/{number}/sub_issues.
// https://docs.github.com/en/rest/issues/sub-issues#list-sub-issues
func listSubIssues(c *call, i *model.Issue) (answer, error) {
	return page(c, i.SubIssues, "", func(i *model.Issue) object { return c.shape.IssueFull(c.repo, i) })
}
