package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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
		asked := 0
		for _, r := range latestVotes(found) {
			rating := sia.Rating{By: sia.Actor{Login: r.Author, ID: r.AuthorID}, Intervention: intervention,
				Good: r.Content == "+1"}
			if slices.Contains(t.Ratings, rating) || s.taken.has(r.ID) {
				continue
			}
			if asked++; asked > maxReactions {
				break
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
	err := s.intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.BranchRef(t.Branch)}, Permission: true,
		Bot: strings.HasSuffix(r.Author, "[bot]"),
		Event: sia.Event{ID: fmt.Sprintf("reaction/%d", r.ID), At: s.now(),
			By: sia.Actor{Login: r.Author, ID: r.AuthorID}, Origin: at, Fact: fact},
	})
	if err == nil {
		s.taken.add(r.ID)
	}
	return err
}

// maxReactions limits the reactions to a comment that one round passes on, since each may cost a request for the user's
// permission. The next round passes on others.
const maxReactions = 20

// maxTaken limits the remembered reactions; a full set is cleared.
const maxTaken = 10_000

// takenReactions has the ids of the reactions that were passed on, permitted or not, so that each is passed on once. A
// user who gets the permission afterwards has to remove the reaction and add it again. It is safe for concurrent use.
type takenReactions struct {
	mu  sync.Mutex
	ids map[int64]bool
}

func (r *takenReactions) has(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}

func (r *takenReactions) add(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil || len(r.ids) == maxTaken {
		r.ids = map[int64]bool{}
	}
	r.ids[id] = true
}
