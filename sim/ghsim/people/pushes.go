package people

import (
	"errors"
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// PushFiles commits files on top of a branch as a person and pushes it,
// returning the new head. A branch that does not exist starts at the default
// branch. The message's author is the person.
func (p *People) PushFiles(repo, branch, login, message string, files map[string]string) (string, error) {
	return p.pushAs(repo, branch, login, func(r *model.Repository, a model.Actor) (string, error) {
		return p.world.CommitFiles(r, a, branch, message, files)
	})
}

// ForcePush moves a branch to a commit of the repository, wherever the branch was. An empty sha deletes the branch.
func (p *People) ForcePush(repo, branch, login, sha string) error {
	_, err := p.pushAs(repo, branch, login, func(r *model.Repository, _ model.Actor) (string, error) {
		if sha == "" {
			return "", nil
		}
		full, ok := p.world.CommitOf(r, sha)
		if !ok {
			return "", fmt.Errorf("no commit %s", sha)
		}
		return full, nil
	})
	return err
}

// pushAs moves a branch to the commit that to makes or finds, and returns it.
func (p *People) pushAs(
	repo, branch, login string, to func(*model.Repository, model.Actor) (string, error),
) (string, error) {
	return p.pushBy(repo, branch, to, func() (*model.Repository, model.Actor, error) {
		return p.person(repo, login, "write")
	})
}

// pushBy moves a branch as the account that by finds; by is called with the lock held.
func (p *People) pushBy(
	repo, branch string, to func(*model.Repository, model.Actor) (string, error),
	by func() (*model.Repository, model.Actor, error),
) (string, error) {
	p.world.Lock()
	r, err := p.repository(repo)
	p.world.Unlock()
	if err != nil {
		return "", err
	}
	receiving := r.Receiving
	select { // receive-pack of this repository waits meanwhile
	case receiving <- struct{}{}:
		defer func() { <-receiving }()
	case <-p.ended:
		return "", errors.New("pushing: the simulator is closed")
	}
	p.world.Lock()
	defer p.world.Unlock()
	r, a, err := by()
	if err != nil {
		return "", err
	}
	sha, err := to(r, a)
	if err != nil {
		return "", fmt.Errorf("pushing %s of %s: %w", branch, repo, err)
	}
	if r.HasRule(branch, model.RuleSignatures) { // GitHub refuses unsigned commits there
		r.Signed[sha] = true
	}
	if err := p.world.MoveRef(r, a, "refs/heads/"+branch, sha); err != nil {
		return "", fmt.Errorf("pushing %s of %s: %w", branch, repo, err)
	}
	return sha, nil
}
