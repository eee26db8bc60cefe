package people

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/rules"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// Review submits a review: approved, changes_requested or commented, with comments on lines.
func (p *People) Review(repo string, number int, login, state, body string, lines ...world.ReviewLine) error {
	return p.onPullAs(repo, number, login, "read", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		p.world.SubmitReview(r, i, a, world.ReviewSpec{State: state, Body: formText(body), Lines: lines})
		return nil
	})
}

// EditReview replaces the text of a person's last review of a pull request.
func (p *People) EditReview(repo string, number int, login, body string) error {
	return p.onPullAs(repo, number, login, "read", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		for _, v := range slices.Backward(i.Pull.Reviews) {
			if v.By == a.User {
				p.world.EditReview(r, i, a, v, formText(body))
				return nil
			}
		}
		return fmt.Errorf("%s#%d has no review of %s's", repo, number, login)
	})
}

// ResolveThread resolves a comment's thread, or reopens it.
func (p *People) ResolveThread(repo string, number int, login string, comment int64, again bool) error {
	return p.onIssue(repo, number, login, "write", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		first := i.Thread(comment)
		if first == nil {
			return fmt.Errorf("%s#%d has no comment %d on a line", repo, number, comment)
		}
		p.world.ResolveThread(r, i, a, first, again)
		return nil
	})
}

// DismissReviews dismisses the reviews of a pull request that request changes.
func (p *People) DismissReviews(repo string, number int, login string) error {
	return p.onPullAs(repo, number, login, "write", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		for _, v := range i.Pull.Reviews {
			if v.State == "changes_requested" {
				p.world.DismissReview(r, i, a, v)
			}
		}
		return nil
	})
}

// OpenPull opens a pull request from a branch of the same repository.
func (p *People) OpenPull(repo, login, head, base, title, body string, draft bool) (int, error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, a, err := p.person(repo, login, "write")
	if err != nil {
		return 0, err
	}
	i, err := p.world.OpenPull(r, a,
		world.PullSpec{Title: title, Body: formText(body), Head: head, Base: base, Draft: draft})
	if err != nil {
		return 0, err
	}
	return i.Number, nil
}

// SetDraft makes a pull request a draft, or marks it ready for review.
func (p *People) SetDraft(repo string, number int, login string, draft bool) error {
	return p.onPull(repo, number, login, func(r *model.Repository, i *model.Issue, a model.Actor) error {
		p.world.SetDraft(r, i, a, draft)
		return nil
	})
}

// MergePull merges a pull request with a merge commit and returns its SHA.
func (p *People) MergePull(repo string, number int, login string) (sha string, err error) {
	err = p.onPull(repo, number, login, func(r *model.Repository, i *model.Issue, a model.Actor) error {
		if why := rules.Blocks(p.git, r, i); why != "" && i.State == "open" {
			return fmt.Errorf("merging %s#%d: %s", repo, number, why)
		}
		sha, err = p.world.MergePull(r, i, a)
		return err
	})
	return sha, err
}

// LagPulls stops a repository's pull requests from following their branches, or lets them catch up.
func (p *People) LagPulls(repo string, on bool) error {
	return p.onRepo(repo, func(r *model.Repository) { p.world.LagPulls(r, on) })
}

// StaleMerges makes pull requests look as if they conflicted with their base.
func (p *People) StaleMerges(repo string, on bool) error {
	return p.onRepo(repo, func(r *model.Repository) { r.MergeStale = on })
}

// LagMerges makes deliveries about merges show the pull requests as they were before.
func (p *People) LagMerges(repo string, on bool) error {
	return p.onRepo(repo, func(r *model.Repository) { r.MergesLag = on })
}

// Retarget changes the base branch of a pull request.
func (p *People) Retarget(repo string, number int, login, base string) error {
	return p.onPull(repo, number, login, func(r *model.Repository, i *model.Issue, a model.Actor) error {
		if r.Head(base) == "" {
			return fmt.Errorf("%s has no branch %s", repo, base)
		}
		p.world.Retarget(r, i, a, base)
		return nil
	})
}

// ReviewComment comments on a line of a pull request's head and returns the comment's id.
func (p *People) ReviewComment(
	repo string, number int, login, path string, line int, body string,
) (id int64, err error) {
	err = p.onPullAs(repo, number, login, "read", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		id = p.world.CommentLine(r, i, a, path, line, formText(body)).ID
		return nil
	})
	return id, err
}

// ReplyToReview replies to a comment on a line, and returns the reply's id.
func (p *People) ReplyToReview(
	repo string, number int, login string, comment int64, body string,
) (id int64, err error) {
	err = p.onIssue(repo, number, login, "read", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		first := i.Thread(comment)
		if first == nil {
			return fmt.Errorf("%s#%d has no comment %d on a line", repo, number, comment)
		}
		id = p.world.ReplyToReview(r, i, a, first, formText(body)).ID
		return nil
	})
	return id, err
}
