package sweep

import (
	"context"
	"fmt"

	"github.com/sia-bot/sia/sia"
)

// approvals looks for 👍 on the plans that wait for approval: GitHub sends no webhook
// for a reaction. Each is passed to the intake like /sia go, which checks the user's
// permission; it names the plan that it is on, so that it does not approve a newer
// one. An unchanged list costs a conditional request.
func (s *Sweeper) approvals(ctx context.Context) error {
	return s.forDue(ctx, &s.approved, func(ctx context.Context, t sia.Task) error {
		if e := t.Escalation; t.State != sia.Escalated || e.Kind != sia.AskPlan || sia.CommentNumber(e.URL) == 0 {
			return nil
		}
		if err := s.approval(ctx, t); err != nil {
			return fmt.Errorf("look for a 👍 on its plan: %w", err)
		}
		return nil
	}, sia.Warm)
}

// approval passes on the 👍 on a task's plan, except those of users with a newer
// 👎.
func (s *Sweeper) approval(ctx context.Context, t sia.Task) error {
	self, err := s.github.Self(ctx)
	if err != nil {
		return err
	}
	comment := sia.CommentNumber(t.Escalation.URL)
	found, err := s.github.Repo(t.Installation, t.Repo).Reactions(ctx, comment)
	if err != nil {
		return err
	}
	asked := 0
	for _, r := range latestVotes(found) {
		if r.Content != "+1" || r.Author == self.Login || s.taken.has(r.ID) {
			continue
		}
		if asked++; asked > maxReactions {
			break
		}
		if err := s.passOn(ctx, t, r, sia.Origin{OnIssue: t.Issue, Comment: comment},
			sia.Approve{Question: t.Escalation.Number}); err != nil {
			return err
		}
	}
	return nil
}
