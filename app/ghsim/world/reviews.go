package world

import (
	"fmt"

	"github.com/sia-bot/sia/app/ghsim/journal"
	"github.com/sia-bot/sia/app/ghsim/model"
)

// SubmitReview reviews a pull request: approved, changes_requested or commented.
func (w *World) SubmitReview(r *model.Repository, i *model.Issue, a model.Actor, state, body string) {
	v := &model.Review{ID: w.NextID(), By: a.User, State: state, Body: body, SHA: i.Pull.HeadSHA, At: w.Now()}
	i.Pull.Reviews = append(i.Pull.Reviews, v)
	i.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "pull_request_review.submitted", Number: i.Number,
		Ref: state, SHA: v.SHA, Detail: body})
	w.emit(r, a, "pull_request_review", "submitted",
		object{"review": w.shape.Review(r, i, v), "pull_request": w.shape.PullLite(r, i)})
}

// CommentLine comments on a line of a pull request's head.
func (w *World) CommentLine(
	r *model.Repository, i *model.Issue, a model.Actor, path string, line int, body string,
) *model.ReviewComment {
	return w.addReviewComment(r, i, a, &model.ReviewComment{Body: body, Path: path, Line: line})
}

// ReplyToReview answers in the thread that a comment on a line began.
func (w *World) ReplyToReview(
	r *model.Repository, i *model.Issue, a model.Actor, first *model.ReviewComment, body string,
) *model.ReviewComment {
	return w.addReviewComment(r, i, a,
		&model.ReviewComment{Body: body, Path: first.Path, Line: first.Line, ReplyTo: first.ID})
}

func (w *World) addReviewComment(
	r *model.Repository, i *model.Issue, a model.Actor, c *model.ReviewComment,
) *model.ReviewComment {
	c.Review = w.NextID()
	c.ID, c.Issue, c.By, c.SHA, c.Made, c.Updated = w.NextID(), i, a.User, i.Pull.HeadSHA, w.Now(), w.Now()
	i.Pull.Threads = append(i.Pull.Threads, c)
	i.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "pull_request_review_comment.created", Number: i.Number,
		Ref: fmt.Sprintf("%s:%d", c.Path, c.Line), SHA: c.SHA, Detail: c.Body})
	w.emit(r, a, "pull_request_review_comment", "created",
		object{"comment": w.shape.ReviewComment(r, c), "pull_request": w.shape.PullLite(r, i)})
	return c
}
