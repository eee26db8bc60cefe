package api

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// reactions finds the object of the request's reactions.
func (c *call) reactions() (*model.Issue, int64, *[]*model.Reaction, error) {
	switch {
	case c.params["review_comment"] != "":
		m, err := c.reviewComment()
		if err != nil {
			return nil, 0, nil, err
		}
		return m.Issue, m.ID, &m.Reactions, nil
	case c.params["comment"] != "":
		m, err := c.comment()
		if err != nil {
			return nil, 0, nil, err
		}
		return m.Issue, m.ID, &m.Reactions, nil
	}
	i, err := c.issue()
	if err != nil {
		return nil, 0, nil, err
	}
	return i, 0, &i.Reactions, nil
}

func listReactions(c *call) (answer, error) {
	_, _, list, err := c.reactions()
	if err != nil {
		return answer{}, err
	}
	rs := slices.DeleteFunc(slices.Clone(*list), func(r *model.Reaction) bool {
		want := c.query.Get("content")
		return want != "" && r.Content != want
	})
	return page(c, rs, "", c.shape.Reaction)
}

func createReaction(c *call) (answer, error) {
	i, id, list, err := c.reactions()
	if err != nil {
		return answer{}, err
	}
	var in struct {
		Content string `json:"content"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if !slices.Contains(model.ReactionKinds(), in.Content) {
		return answer{}, refusal.Invalid("Reaction", "content", "invalid", "")
	}
	re, fresh := c.world.React(c.repo, i, id, list, c.actor(), in.Content)
	if !fresh {
		return ok(c.shape.Reaction(re)), nil
	}
	return created(c.shape.Reaction(re)), nil
}
