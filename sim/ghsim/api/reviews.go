package api

import (
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func listReviews(c *call, i *model.Issue) (answer, error) {
	return page(c, i.Pull.Reviews, "", func(v *model.Review) object {
		o := c.shape.Review(c.repo, i, v)
		o["state"] = strings.ToUpper(v.State)
		return o
	})
}

func listReviewComments(c *call, i *model.Issue) (answer, error) {
	all := i.Pull.Threads
	if since, err := time.Parse(time.RFC3339, c.query.Get("since")); err == nil {
		all = slices.DeleteFunc(slices.Clone(all), func(m *model.ReviewComment) bool { return m.Updated.Before(since) })
	}
	return page(c, all, "", func(m *model.ReviewComment) object { return c.shape.ReviewComment(c.repo, m) })
}

func (c *call) reviewComment() (*model.ReviewComment, error) {
	for _, i := range c.repo.Issues {
		if i.Pull == nil {
			continue
		}
		for _, m := range i.Pull.Threads {
			if m.ID == c.id("review_comment") {
				return m, nil
			}
		}
	}
	return nil, refusal.NotFound()
}

func getReviewComment(c *call, m *model.ReviewComment) (answer, error) {
	return ok(c.shape.ReviewComment(c.repo, m)), nil
}

// newLineComment is the body of createReviewComment, without its text.
type newLineComment struct {
	InReplyTo int64  `json:"in_reply_to"`
	Path      string `json:"path"`
	Line      int    `json:"line"`
	CommitID  string `json:"commit_id"`
}

// createReviewComment is POST …/pulls/{number}/comments: a comment on a line, or with in_reply_to a reply, for which
// all other fields but the body are ignored.
func createReviewComment(c *call, i *model.Issue, in newLineComment) (answer, error) {
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	if in.InReplyTo != 0 {
		first := i.Thread(in.InReplyTo)
		if first == nil {
			return answer{}, refusal.Invalid("PullRequestReviewComment", "in_reply_to", "invalid", "")
		}
		return created(c.shape.ReviewComment(c.repo, c.world.ReplyToReview(c.repo, i, c.actor(), first, body))), nil
	}
	switch {
	case in.Path == "" || in.CommitID == "":
		return answer{}, refusal.Invalid("PullRequestReviewComment", "path", "missing_field", "")
	case in.Line <= 0:
		return answer{}, refusal.Invalid("PullRequestReviewComment", "line", "missing_field", "")
	}
	m := c.world.CommentLine(c.repo, i, c.actor(), in.Path, in.Line, body)
	return created(c.shape.ReviewComment(c.repo, m)), nil
}

// replyToThread is POST …/pulls/{number}/comments/{comment_id}/replies. Only the
// first comment of a thread can be replied to.
func replyToThread(c *call, i *model.Issue) (answer, error) {
	first := i.Thread(c.id("review_comment"))
	if first == nil || first.ID != c.id("review_comment") {
		return answer{}, refusal.NotFound()
	}
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	return created(c.shape.ReviewComment(c.repo, c.world.ReplyToReview(c.repo, i, c.actor(), first, body))), nil
}
