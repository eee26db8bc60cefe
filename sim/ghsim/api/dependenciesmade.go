package api

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// blocker is the body of addBlockedBy.
type blocker struct {
	Issue int64 `json:"issue_id"`
}

// addBlockedBy is POST /repos/{owner}/{repo}/issues/{number}/dependencies/blocked_by, for issues of the repository.
// https://docs.github.com/en/rest/issues/issue-dependencies#add-a-dependency-an-issue-is-blocked-by
func addBlockedBy(c *call, i *model.Issue, in blocker) (answer, error) {
	return c.depend(i, in.Issue, &i.BlockedBy)
}

// part is the body of addSubIssue.
type part struct {
	Issue int64 `json:"sub_issue_id"`
}

// addSubIssue is POST /repos/{owner}/{repo}/issues/{number}/sub_issues, for issues of the repository.
// https://docs.github.com/en/rest/issues/sub-issues#add-sub-issue
func addSubIssue(c *call, i *model.Issue, in part) (answer, error) {
	return c.depend(i, in.Issue, &i.SubIssues)
}

// depend adds the issue of an id to a list of another one.
func (c *call) depend(i *model.Issue, id int64, all *[]*model.Issue) (answer, error) {
	other, err := one(c.repo.Issues, func(o *model.Issue) bool { return o.ID == id })
	if err != nil {
		return answer{}, err
	}
	if other == i || slices.Contains(*all, other) {
		return answer{}, refusal.Unprocessable("The issue is there already, or the same")
	}
	*all = append(*all, other)
	return created(c.shape.IssueFull(c.repo, other)), nil
}
