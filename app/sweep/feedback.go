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

// feedbackWindow is for how long after its last change people's reactions to a
// task's comments are looked for.
const feedbackWindow = 14 * 24 * time.Hour

// feedback looks for 👍 and 👎 on the comments that SIA wrote: GitHub sends no
// webhook for a reaction. What is found goes through the intake, which asks
// whether the person has a say. An unchanged list costs a conditional request.
func (s *Sweeper) feedback(ctx context.Context) error {
	changed, err := s.store.Changed(ctx, s.now().Add(-feedbackWindow))
	if err != nil {
		return err
	}
	return s.serve(ctx, &s.rated, changed, func(ctx context.Context, t sia.Task) error {
		if t.Gone {
			return nil
		}
		if err := s.reactions(ctx, t); err != nil {
			return fmt.Errorf("read the reactions to it: %w", err)
		}
		return nil
	})
}

// reactions reads those to the status comment and to every intervention.
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
		for _, r := range lastWords(found) {
			rating := sia.Rating{By: sia.Actor{Login: r.Author, ID: r.AuthorID}, Intervention: intervention,
				Good: r.Content == "+1"}
			if slices.Contains(t.Ratings, rating) {
				continue
			}
			if err := s.take(ctx, t, r, sia.Origin{}, sia.Rated{Intervention: intervention, Good: rating.Good}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastWords are the newest 👍 or 👎 of each person.
func lastWords(all []github.Reaction) []github.Reaction {
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

// take hands to the intake what a reaction to a comment of SIA's on a task says.
func (s *Sweeper) take(ctx context.Context, t sia.Task, r github.Reaction, at sia.Origin, fact sia.Fact) error {
	return s.intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.BranchRef(t.Branch)}, Permission: true,
		Bot: strings.HasSuffix(r.Author, "[bot]"),
		Event: sia.Event{ID: fmt.Sprintf("reaction/%d", r.ID), At: s.now(),
			By: sia.Actor{Login: r.Author, ID: r.AuthorID}, Origin: at, Fact: fact},
	})
}
