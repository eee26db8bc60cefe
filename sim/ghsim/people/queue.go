package people

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// Enqueue adds a pull request to the merge queue of its base, and returns the branch on which its checks run.
func (p *People) Enqueue(repo string, number int, login string) (branch string, err error) {
	err = p.onPull(repo, number, login, func(r *model.Repository, i *model.Issue, a model.Actor) error {
		branch, err = p.world.Enqueue(r, i, a)
		return err
	})
	return branch, err
}

// Dequeue removes a pull request from the merge queue, merged or not.
func (p *People) Dequeue(repo string, number int, login string, merged bool) error {
	return p.onPull(repo, number, login, func(r *model.Repository, i *model.Issue, a model.Actor) error {
		return p.world.Dequeue(r, i, a, merged)
	})
}

// onPull changes a pull request as a person with write access.
func (p *People) onPull(
	repo string, number int, login string, do func(*model.Repository, *model.Issue, model.Actor) error,
) error {
	return p.onPullAs(repo, number, login, "write", do)
}

// onPullAs changes a pull request as a person with at least a role.
func (p *People) onPullAs(
	repo string, number int, login, role string, do func(*model.Repository, *model.Issue, model.Actor) error,
) error {
	return p.onIssue(repo, number, login, role, func(r *model.Repository, i *model.Issue, a model.Actor) error {
		if i.Pull == nil {
			return fmt.Errorf("%s#%d is not a pull request", repo, number)
		}
		return do(r, i, a)
	})
}

// TransferIssue moves an issue to another repository, to which the person has write access too, and returns its number
// there.
func (p *People) TransferIssue(repo string, number int, login, to string) (there int, err error) {
	err = p.onIssue(repo, number, login, "write", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		target, _, err := p.person(to, login, "write")
		if err != nil {
			return err
		}
		if i.Pull != nil || target == r {
			return fmt.Errorf("%s#%d can't be transferred to %s", repo, number, to)
		}
		there = p.world.TransferIssue(r, i, a, target).Number
		return nil
	})
	return there, err
}
