package api

import (
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func (c *call) comment() (*model.Comment, error) {
	m := c.repo.Comment(c.id("comment"))
	if m == nil {
		return nil, refusal.NotFound()
	}
	return m, c.needIssue(m.Issue)
}

func listComments(c *call, i *model.Issue) (answer, error) {
	return pageComments(c, i.Comments)
}

// listRepoComments is GET /repos/{owner}/{repo}/issues/comments.
func listRepoComments(c *call) (answer, error) {
	var cs []*model.Comment
	for _, i := range c.repo.Issues {
		cs = append(cs, i.Comments...)
	}
	by := func(m *model.Comment) time.Time { return m.Made }
	if c.query.Get("sort") == "updated" {
		by = func(m *model.Comment) time.Time { return m.Updated }
	}
	slices.SortStableFunc(cs, func(a, b *model.Comment) int { return by(a).Compare(by(b)) })
	if c.query.Get("direction") == "desc" {
		slices.Reverse(cs)
	}
	return pageComments(c, cs)
}

func pageComments(c *call, cs []*model.Comment) (answer, error) {
	if since, err := time.Parse(time.RFC3339, c.query.Get("since")); err == nil {
		cs = slices.DeleteFunc(slices.Clone(cs), func(m *model.Comment) bool { return m.Updated.Before(since) })
	}
	return page(c, cs, "", func(m *model.Comment) object { return c.shape.CommentFull(c.repo, m) })
}

// commentText reads and checks the body of a new or changed comment.
func (c *call) commentText() (string, error) {
	var in struct {
		Body *string `json:"body"`
	}
	if err := c.decode(&in); err != nil {
		return "", err
	}
	if in.Body == nil || strings.TrimSpace(*in.Body) == "" {
		return "", refusal.Invalid("IssueComment", "body", "unprocessable", "Body cannot be blank")
	}
	return *in.Body, checkBody("IssueComment", in.Body)
}

func createComment(c *call, i *model.Issue) (answer, error) {
	if i.Locked { // https://github.com/renovatebot/renovate/issues/6215
		return answer{}, refusal.Forbidden("Unable to create comment because issue is locked.")
	}
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	return created(c.shape.CommentFull(c.repo, c.world.AddComment(c.repo, i, c.actor(), body))), nil
}

func getComment(c *call, m *model.Comment) (answer, error) {
	return ok(c.shape.CommentFull(c.repo, m)), nil
}

func patchComment(c *call, m *model.Comment) (answer, error) {
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	c.world.EditComment(c.repo, m, c.actor(), body)
	return ok(c.shape.CommentFull(c.repo, m)), nil
}
