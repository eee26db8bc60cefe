package payload

import "github.com/sia-bot/sia/sim/ghsim/model"

// blockers counts the issues that block an issue: the open ones, and all.
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (s *Shaper) blockers(i *model.Issue) Object {
	return Object{"blocked_by": countOpen(i.BlockedBy), "total_blocked_by": len(i.BlockedBy), "blocking": 0,
		"total_blocking": 0}
}

// subIssues counts an issue's sub-issues.
func (s *Shaper) subIssues(i *model.Issue) Object {
	total := len(i.SubIssues)
	done := total - countOpen(i.SubIssues)
	return Object{"total": total, "completed": done, "percent_completed": done * 100 / max(1, total)}
}

func countOpen(is []*model.Issue) (n int) {
	for _, i := range is {
		if i.State == "open" {
			n++
		}
	}
	return n
}
