package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// feedbackWindow is the time after a task's last change in which reactions to its
// comments are polled.
const feedbackWindow = 14 * 24 * time.Hour

// feedback looks for 👍 and 👎 on the comments that SIA wrote: GitHub sends no
// webhook for a reaction. They are passed to the intake, which checks the user's
// permission. An unchanged list costs a conditional request.
func (s *Sweeper) feedback(ctx context.Context) error {
	changed, err := s.store.Changed(ctx, s.now().Add(-feedbackWindow))
	if err != nil {
		return err
	}
	return s.runDue(ctx, &s.rated, changed, func(ctx context.Context, t sia.Task) error {
		if t.Gone {
			return nil
		}
		if err := s.reactions(ctx, t); err != nil {
			return fmt.Errorf("read the reactions to it: %w", err)
		}
		return nil
	})
}

// reactions reads the reactions to the status comment and to every intervention.
func (s *Sweeper) reactions(ctx context.Context, t sia.Task) error {
	status, _, err := s.store.Surface(ctx, t.ID, store.SurfaceStatus)
	if err != nil {
		return err
	}
	comments := []int64{status}
	for _, iv := range t.Interventions {
		comments = append(comments, sia.CommentNumber(iv.CommentURL))
	}
	for intervention, id := range comments {
		if id == 0 {
			continue
		}
		found, err := s.github.Repo(t.Installation, t.Repo).Reactions(ctx, id)
		if err != nil {
			return err
		}
		for _, r := range latestVotes(found) {
			rating := sia.Rating{By: sia.Actor{Login: r.Author, ID: r.AuthorID}, Intervention: intervention,
				Good: r.Content == "+1"}
			if slices.Contains(t.Ratings, rating) {
				continue
			}
			if err := s.passOn(ctx, t, r, sia.Origin{}, sia.Rated{Intervention: intervention, Good: rating.Good}); err != nil {
				return err
			}
		}
	}
	return nil
}

// latestVotes returns the newest 👍 or 👎 of each user.
func latestVotes(all []github.Reaction) []github.Reaction {
	var last []github.Reaction
	for _, r := range all {
		if r.Content != "+1" && r.Content != "-1" {
			continue
		}
		last = slices.DeleteFunc(last, func(o github.Reaction) bool { return o.AuthorID == r.AuthorID })
		last = append(last, r)
	}
	return last
}

// passOn passes the fact that a reaction to one of SIA's comments expresses to the intake.
func (s *Sweeper) passOn(ctx context.Context, t sia.Task, r github.Reaction, at sia.Origin, fact sia.Fact) error {
	return s.intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.BranchRef(t.Branch)}, Permission: true,
		Bot: strings.HasSuffix(r.Author, "[bot]"),
		Event: sia.Event{ID: fmt.Sprintf("reaction/%d", r.ID), At: s.now(),
			By: sia.Actor{Login: r.Author, ID: r.AuthorID}, Origin: at, Fact: fact},
	})
}
