package world

import (
	"strconv"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// AddComment comments on an issue or a pull request.
func (w *World) AddComment(r *model.Repository, i *model.Issue, a model.Actor, body string) *model.Comment {
	c := &model.Comment{ID: w.NextID(), Issue: i, By: a.User, App: a.App, Body: body, Made: w.Now(), Updated: w.Now()}
	i.Comments = append(i.Comments, c)
	i.Updated = w.Now()
	w.commentEvent(r, a, c, "created", nil)
	return c
}

// EditComment changes a comment.
func (w *World) EditComment(r *model.Repository, c *model.Comment, a model.Actor, body string) {
	if c.Body == body {
		return
	}
	from := c.Body
	c.Body, c.Updated, c.Issue.Updated = body, w.Now(), w.Now()
	c.Edits++
	c.EditedBy = a.User
	w.commentEvent(r, a, c, "edited", object{"changes": object{"body": object{"from": from}}})
}

func (w *World) commentEvent(r *model.Repository, a model.Actor, c *model.Comment, action string, extra object) {
	w.note(r, a, journal.Entry{Kind: "issue_comment." + action, Number: c.Issue.Number,
		Ref: strconv.FormatInt(c.ID, 10), Detail: c.Body})
	body := object{"issue": w.shape.Issue(r, c.Issue), "comment": w.shape.Comment(r, c)}
	for k, v := range extra {
		body[k] = v
	}
	w.emit(r, a, "issue_comment", action, body)
}

// React adds a reaction to an issue, when commentID is 0, or to a comment on it. An existing one of the same person is
// returned.
func (w *World) React(
	r *model.Repository, i *model.Issue, commentID int64, list *[]*model.Reaction, a model.Actor, content string,
) (re *model.Reaction, fresh bool) {
	for _, re := range *list {
		if re.By == a.User && re.Content == content {
			return re, false
		}
	}
	re = &model.Reaction{ID: w.NextID(), By: a.User, Content: content, Made: w.Now()}
	*list = append(*list, re)
	ref := ""
	if commentID != 0 {
		ref = strconv.FormatInt(commentID, 10)
	}
	w.note(r, a, journal.Entry{Kind: "reaction.created", Number: i.Number, Ref: ref,
		Detail: content})
	return re, true
}
