package api

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// addBlockedBy is POST /repos/{owner}/{repo}/issues/{number}/dependencies/blocked_by, for issues of the repository.
// https://docs.github.com/en/rest/issues/issue-dependencies#add-a-dependency-an-issue-is-blocked-by
func addBlockedBy(c *call) (answer, error) {
	var in struct {
		Issue int64 `json:"issue_id"`
	}
	return c.depend(&in, &in.Issue, func(i *model.Issue) *[]*model.Issue { return &i.BlockedBy })
}

// addSubIssue is POST /repos/{owner}/{repo}/issues/{number}/sub_issues, for issues of the repository.
// https://docs.github.com/en/rest/issues/sub-issues#add-sub-issue
func addSubIssue(c *call) (answer, error) {
	var in struct {
		Issue int64 `json:"sub_issue_id"`
	}
	return c.depend(&in, &in.Issue, func(i *model.Issue) *[]*model.Issue { return &i.SubIssues })
}

// depend puts the issue that the body names on a list of the one that the path names.
func (c *call) depend(in any, id *int64, list func(*model.Issue) *[]*model.Issue) (answer, error) {
	i, err := c.issue("write")
	if err != nil {
		return answer{}, err
	}
	if err := c.decode(in); err != nil {
		return answer{}, err
	}
	n := slices.IndexFunc(c.repo.Issues, func(o *model.Issue) bool { return o.ID == *id })
	if n < 0 {
		return answer{}, refusal.NotFound()
	}
	other := c.repo.Issues[n]
	all := list(i)
	if other == i || slices.Contains(*all, other) {
		return answer{}, refusal.Unprocessable("The issue is there already, or the same")
	}
	*all = append(*all, other)
	return created(c.shape.IssueFull(c.repo, other)), nil
}
