package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// formText is a text as a browser submits it and GitHub stores it: each line ends in CRLF, also those that an app had
// written with LF.
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#constructing-the-form-data-set
// https://github.com/actions/runner/issues/1462
func formText(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// OpenIssue opens an issue as a person who can read the repository, and returns
// its number. Labels are created when the repository lacks them.
func (p *People) OpenIssue(repo, login, title, body string, labels ...string) (int, error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, a, err := p.person(repo, login, "read")
	if err != nil {
		return 0, err
	}
	i := p.world.OpenIssue(r, a, title, formText(body))
	for _, name := range labels {
		p.world.AddLabel(r, i, a, p.world.EnsureLabel(r, name))
	}
	return i.Number, nil
}

// EditIssueBody replaces the text of an issue or pull request.
func (p *People) EditIssueBody(repo string, number int, login, body string) error {
	return p.onIssue(repo, number, login, "write", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		body = formText(body)
		p.world.EditIssue(r, i, a, nil, &body)
		return nil
	})
}

// TickBox ticks a task list box in an issue's text. which is the box's index, "0" for the first, or the beginning of
// its text: "B" is the box with the text "**B** …" or "B) …". Marks and spaces before the text are ignored.
func (p *People) TickBox(repo string, number int, login, which string) error {
	return p.onIssue(repo, number, login, "write", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		body, err := tick(i.Body, which)
		if err != nil {
			return fmt.Errorf("ticking a box of %s#%d: %w", repo, number, err)
		}
		body = formText(body)
		p.world.EditIssue(r, i, a, nil, &body)
		return nil
	})
}

// TickCommentBox ticks a task list box in a comment, as [People.TickBox] does in an issue's text.
func (p *People) TickCommentBox(repo string, comment int64, login, which string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		c := r.Comment(comment)
		if c == nil {
			return fmt.Errorf("%s has no comment %d", repo, comment)
		}
		body, err := tick(c.Body, which)
		if err != nil {
			return fmt.Errorf("ticking a box of a comment on %s#%d: %w", repo, c.Issue.Number, err)
		}
		p.world.EditComment(r, c, a, formText(body))
		return nil
	})
}

// CloseIssue closes an issue or a pull request.
func (p *People) CloseIssue(repo string, number int, login string) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		p.world.SetState(r, i, a, "closed", "completed")
		return nil
	})
}

// Lock locks the conversation of an issue or pull request, or unlocks it. Apps can't comment there.
func (p *People) Lock(repo string, number int, login string, locked bool) error {
	return p.onIssue(repo, number, login, "triage", func(_ *model.Repository, i *model.Issue, _ model.Actor) error {
		i.Locked = locked
		return nil
	})
}

// ClosePull closes a pull request without merging it.
func (p *People) ClosePull(repo string, number int, login string) error {
	return p.CloseIssue(repo, number, login)
}

// ReopenIssue opens a closed issue or pull request again.
func (p *People) ReopenIssue(repo string, number int, login string) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		p.world.SetState(r, i, a, "open", "reopened")
		return nil
	})
}

// DeleteIssue deletes an issue for good.
func (p *People) DeleteIssue(repo string, number int, login string) error {
	return p.onIssue(repo, number, login, "admin", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		p.world.DeleteIssue(r, i, a)
		return nil
	})
}

// Label adds a label to an issue or pull request.
func (p *People) Label(repo string, number int, login, name string) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		p.world.AddLabel(r, i, a, p.world.EnsureLabel(r, name))
		return nil
	})
}

// RenameLabel renames a label of a repository. Issues keep it.
func (p *People) RenameLabel(repo, login, name, to string) error {
	return p.as(repo, login, "write", func(r *model.Repository, a model.Actor) error {
		l := r.Label(name)
		if l == nil {
			return fmt.Errorf("%s has no label %s", repo, name)
		}
		changed := *l
		changed.Name = to
		p.world.EditLabel(r, a, l, changed)
		return nil
	})
}

// Unlabel removes a label.
func (p *People) Unlabel(repo string, number int, login, name string) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		if !p.world.RemoveLabel(r, i, a, name) {
			return fmt.Errorf("%s#%d has no label %s", repo, number, name)
		}
		return nil
	})
}

// Assign assigns somebody to an issue.
func (p *People) Assign(repo string, number int, login, assignee string) error {
	return p.onIssue(repo, number, login, "triage", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		u := p.world.User(assignee)
		if u == nil {
			return fmt.Errorf("no user %s", assignee)
		}
		p.world.Assign(r, i, a, u)
		return nil
	})
}

// Comment comments on an issue or pull request and returns the comment's id.
func (p *People) Comment(repo string, number int, login, body string) (id int64, err error) {
	err = p.onIssue(repo, number, login, "read", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		id = p.world.AddComment(r, i, a, formText(body)).ID
		return nil
	})
	return id, err
}

// EditComment replaces the text of a comment.
func (p *People) EditComment(repo string, id int64, login, body string) error {
	return p.as(repo, login, "read", func(r *model.Repository, a model.Actor) error {
		c := r.Comment(id)
		if c == nil {
			return fmt.Errorf("%s has no comment %d", repo, id)
		}
		p.world.EditComment(r, c, a, formText(body))
		return nil
	})
}

// React adds a reaction (+1, -1, laugh, confused, heart, hooray, rocket, eyes)
// to a comment, or with commentID 0 to the issue itself. As on GitHub there is
// no webhook.
func (p *People) React(repo string, number int, commentID int64, login, content string) error {
	if !slices.Contains(model.ReactionKinds(), content) {
		return fmt.Errorf("reaction %q: want one of %s", content, strings.Join(model.ReactionKinds(), ", "))
	}
	return p.onIssue(repo, number, login, "read", func(r *model.Repository, i *model.Issue, a model.Actor) error {
		list := &i.Reactions
		if commentID != 0 {
			c := r.Comment(commentID)
			if c == nil || c.Issue != i {
				return fmt.Errorf("%s#%d has no comment %d", repo, number, commentID)
			}
			list = &c.Reactions
		}
		p.world.React(r, i, commentID, list, a, content)
		return nil
	})
}
