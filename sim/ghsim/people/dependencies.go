package people

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// BlockIssue marks an issue as blocked by another of the repository.
func (p *People) BlockIssue(repo string, number int, login string, by int) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, _ model.Actor) error {
		other := r.Issue(by)
		if other == nil {
			return fmt.Errorf("%s has no issue %d", repo, by)
		}
		i.BlockedBy = append(i.BlockedBy, other)
		return nil
	})
}

// AddSubIssue adds an issue of the repository to another as a sub-issue.
func (p *People) AddSubIssue(repo string, number int, login string, sub int) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, _ model.Actor) error {
		other := r.Issue(sub)
		if other == nil {
			return fmt.Errorf("%s has no issue %d", repo, sub)
		}
		i.SubIssues = append(i.SubIssues, other)
		return nil
	})
}
