package world

import (
	"cmp"
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// ReviewSpec is a review to submit.
type ReviewSpec struct {
	State, Body string // state: approved, changes_requested or commented
	SHA         string // the reviewed commit; empty: the head
	Lines       []ReviewLine
}

// ReviewLine is a review's comment on a line of the diff.
type ReviewLine struct {
	Path, Body  string
	First, Line int  // First: the first of several lines, else 0
	Old         bool // on the base's side
}

// SubmitReview reviews a pull request.
func (w *World) SubmitReview(r *model.Repository, i *model.Issue, a model.Actor, n ReviewSpec) *model.Review {
	state, body := n.State, n.Body
	v := &model.Review{ID: w.NextID(), By: a.User, State: state, Body: body,
		SHA: cmp.Or(n.SHA, i.Pull.HeadSHA), At: w.Now()}
	i.Pull.Reviews = append(i.Pull.Reviews, v)
	i.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "pull_request_review.submitted", Number: i.Number,
		Ref: state, SHA: v.SHA, Detail: body})
	w.emit(r, a, "pull_request_review", "submitted",
		object{"review": w.shape.Review(r, i, v), "pull_request": w.shape.PullLite(r, i)})
	for _, l := range n.Lines {
		w.addReviewComment(r, i, a, &model.ReviewComment{Review: v.ID, SHA: v.SHA, Body: l.Body, Path: l.Path,
			First: l.First, Line: l.Line, Old: l.Old})
	}
	return v
}

// EditReview changes the text of a review.
func (w *World) EditReview(r *model.Repository, i *model.Issue, a model.Actor, v *model.Review, body string) {
	if v.Body == body {
		return
	}
	from := v.Body
	v.Body, i.Updated = body, w.Now()
	w.note(r, a, journal.Entry{Kind: "pull_request_review.edited", Number: i.Number, SHA: v.SHA, Detail: body})
	w.emit(r, a, "pull_request_review", "edited", object{"review": w.shape.Review(r, i, v),
		"pull_request": w.shape.PullLite(r, i), "changes": object{"body": object{"from": from}}})
}

// DismissReview dismisses a review.
func (w *World) DismissReview(r *model.Repository, i *model.Issue, a model.Actor, v *model.Review) {
	v.State = "dismissed"
	i.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "pull_request_review.dismissed", Number: i.Number, SHA: v.SHA})
	w.emit(r, a, "pull_request_review", "dismissed",
		object{"review": w.shape.Review(r, i, v), "pull_request": w.shape.PullLite(r, i)})
}

// ResolveThread resolves the thread of a comment on a line, or reopens it. REST does not show it; the webhook does.
func (w *World) ResolveThread(
	r *model.Repository, i *model.Issue, a model.Actor, first *model.ReviewComment, again bool,
) {
	action := "resolved"
	if again {
		action = "unresolved"
	}
	var comments []object
	for _, c := range i.Pull.Threads {
		if c == first || c.ReplyTo == first.ID {
			comments = append(comments, w.deliveredComment(r, c))
		}
	}
	i.Updated, first.Resolved = w.Now(), !again
	w.note(r, a, journal.Entry{Kind: "pull_request_review_thread." + action, Number: i.Number,
		Ref: fmt.Sprintf("%s:%d", first.Path, first.Line)})
	w.emit(r, a, "pull_request_review_thread", action, object{"pull_request": w.shape.PullLite(r, i),
		"thread": object{"node_id": payload.NodeID("PRRT", first.ID), "comments": comments}})
}

// deliveredComment is a comment on a line in webhooks: fields of an outdated one are null, which REST omits.
func (w *World) deliveredComment(r *model.Repository, c *model.ReviewComment) object {
	o := w.shape.ReviewComment(r, c)
	for _, key := range []string{"line", "position"} {
		if _, ok := o[key]; !ok {
			o[key] = nil
		}
	}
	return o
}

// CommentLine comments on a line of a pull request's head.
func (w *World) CommentLine(
	r *model.Repository, i *model.Issue, a model.Actor, path string, line int, body string,
) *model.ReviewComment {
	return w.addReviewComment(r, i, a, &model.ReviewComment{Body: body, Path: path, Line: line})
}

// ReplyToReview replies in the thread of a comment on a line.
func (w *World) ReplyToReview(
	r *model.Repository, i *model.Issue, a model.Actor, first *model.ReviewComment, body string,
) *model.ReviewComment {
	return w.addReviewComment(r, i, a,
		&model.ReviewComment{Body: body, Path: first.Path, Line: first.Line, ReplyTo: first.ID})
}

func (w *World) addReviewComment(
	r *model.Repository, i *model.Issue, a model.Actor, c *model.ReviewComment,
) *model.ReviewComment {
	if c.Review == 0 { // GitHub makes a review for each comment
		c.SHA = i.Pull.HeadSHA
		c.Review = w.SubmitReview(r, i, a, ReviewSpec{State: "commented"}).ID
	}
	c.ID, c.Issue, c.By, c.Made, c.Updated = w.NextID(), i, a.User, w.Now(), w.Now()
	i.Pull.Threads = append(i.Pull.Threads, c)
	i.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "pull_request_review_comment.created", Number: i.Number,
		Ref: fmt.Sprintf("%s:%d", c.Path, c.Line), SHA: c.SHA, Detail: c.Body})
	w.emit(r, a, "pull_request_review_comment", "created",
		object{"comment": w.deliveredComment(r, c), "pull_request": w.shape.PullLite(r, i)})
	return c
}
