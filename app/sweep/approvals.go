package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// approvals looks for 👍 on the plans that wait for one: GitHub sends no webhook
// for a reaction. Each goes through the intake as /sia go does, which asks whether
// the person has a say; it names the plan that it stands beneath, so that it is no
// yes to a newer one. An unchanged list costs a conditional request.
func (s *Sweeper) approvals(ctx context.Context) error {
	tasks, err := s.store.Tasks(ctx, store.Filter{State: sia.Escalated, Limit: maxReactions})
	if err != nil {
		return err
	}
	tasks = slices.DeleteFunc(tasks, func(t sia.Task) bool {
		return t.Escalation.Kind != sia.AskPlan || sia.CommentNumber(t.Escalation.URL) == 0
	})
	if len(tasks) == 0 {
		return nil
	}
	self, err := s.github.Self(ctx)
	if err != nil {
		return err
	}
	var all []error
	for _, t := range tasks {
		if err := s.approval(ctx, t, self.Login); err != nil {
			all = append(all, fmt.Errorf("look for a 👍 on the plan of task %s: %w", t.ID, err))
		}
	}
	return errors.Join(all...)
}

// approval takes the 👍 beneath a task's plan, unless its author has changed their
// mind since. self is SIA's own login.
func (s *Sweeper) approval(ctx context.Context, t sia.Task, self string) error {
	comment := sia.CommentNumber(t.Escalation.URL)
	found, err := s.github.Repo(t.Installation, t.Repo).Reactions(ctx, comment)
	if err != nil {
		return err
	}
	for _, r := range lastWords(found) {
		if r.Content != "+1" || r.Author == self {
			continue
		}
		if err := s.intake.Take(ctx, sia.Intent{
			Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.BranchRef(t.Branch)}, Permission: true,
			Bot: strings.HasSuffix(r.Author, "[bot]"),
			Event: sia.Event{
				ID: fmt.Sprintf("reaction/%d", r.ID), At: s.now(), By: sia.Actor{Login: r.Author, ID: r.AuthorID},
				Origin: sia.Origin{OnIssue: t.Issue, Comment: comment}, Fact: sia.Approve{Question: t.Escalation.Number},
			},
		}); err != nil {
			return err
		}
	}
	return nil
}
