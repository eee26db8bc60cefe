package people

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// RunWorkflows runs the workflows of a branch's head as a person's push would, unless they ran for that commit; a new
// repository's have not.
func (p *People) RunWorkflows(repo, branch, login string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		return p.world.RunWorkflows(r, a, branch)
	})
}

// SetActions sets what keeps the workflows of a repository from running, as its settings, its bills and its runners do.
func (p *People) SetActions(repo string, to model.Actions) error {
	return p.inRepo(repo, func(r *model.Repository) error {
		p.world.SetActions(r, to)
		return nil
	})
}

// ApproveWorkflows approves the waiting workflow runs.
func (p *People) ApproveWorkflows(repo, login string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		p.world.ApproveWorkflows(r, a)
		return nil
	})
}

// CreateStatus sets a commit status (error, failure, pending or success) as an outside CI service with write access
// would.
func (p *People) CreateStatus(repo, sha, login, context, state, description string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		full, ok := p.world.CommitOf(r, sha)
		if !ok {
			return fmt.Errorf("%s has no commit %s", repo, sha)
		}
		p.world.AddStatus(r, a, &model.Status{SHA: full, Context: context, State: state, Description: description})
		return nil
	})
}

// TestMerge is the test merge commit of an open pull request.
func (p *People) TestMerge(repo string, number int) (sha string, err error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.repository(repo)
	if err != nil {
		return "", err
	}
	i := r.Issue(number)
	if i == nil || i.Pull == nil {
		return "", fmt.Errorf("%s has no pull request %d", repo, number)
	}
	sha, clean := p.world.TestMerge(r, r.Head(i.Pull.Base), i.Pull.HeadSHA)
	if !clean {
		return "", fmt.Errorf("%s conflicts with %s", i.Pull.Head, i.Pull.Base)
	}
	return sha, nil
}

// PressCheckButton presses a button of a check run ([actions] of the REST API).
func (p *People) PressCheckButton(repo string, checkRun int64, login, identifier string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		c := r.Check(checkRun)
		if c == nil {
			return fmt.Errorf("%s has no check run %d", repo, checkRun)
		}
		if !slices.ContainsFunc(c.Actions, func(o map[string]any) bool { return o["identifier"] == identifier }) {
			return fmt.Errorf("check run %d of %s has no button %q", checkRun, repo, identifier)
		}
		p.world.PressButton(r, a, c, identifier)
		return nil
	})
}

// RerequestSuite requests a rerun of an app's checks of a commit, as the "Re-run all checks" button does for each app.
func (p *People) RerequestSuite(repo, sha, app, login string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		for _, st := range r.Suites {
			if st.SHA == sha && st.App.Slug == app {
				return p.world.RerequestSuite(r, a, st)
			}
		}
		return fmt.Errorf("%s has no check suite of %s on %s", repo, app, sha)
	})
}

// SuiteState is the status and the conclusion of an app's check suite of a commit.
func (p *People) SuiteState(repo, sha, app string) (status, conclusion string, err error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.repository(repo)
	if err != nil {
		return "", "", err
	}
	for _, st := range r.Suites {
		if st.SHA == sha && st.App.Slug == app {
			return st.Status, st.Conclusion, nil
		}
	}
	return "", "", fmt.Errorf("%s has no check suite of %s on %s", repo, app, sha)
}

// RerequestCheckRun requests a rerun of a check run, as the "Re-run" button does.
func (p *People) RerequestCheckRun(repo string, checkRun int64, login string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		c := r.Check(checkRun)
		if c == nil {
			return fmt.Errorf("%s has no check run %d", repo, checkRun)
		}
		return p.world.RerequestCheck(r, a, c)
	})
}
