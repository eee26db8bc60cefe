package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// ReviewComment is a comment on a line of a pull request, or a reply to one.
type ReviewComment struct {
	ID      int64
	Review  int64 // id of its review
	ReplyTo int64 // the first comment of its thread; 0: this one
	Path    string
	// 1-based lines in the current pull request; 0: they have changed since, or the comment is on the file
	First, Last int
	// number of lines when it was written; 0: the comment is on the file
	Lines    int
	Old      bool   // the lines are on the base's side
	Hunk     string // of the diff, up to the last line of the comment
	Body     string
	Author   string
	AuthorID int64
	Written  time.Time
	Edited   time.Time // the last time, or when it was written
}

// PullReview is a submitted review.
type PullReview struct {
	ID       int64
	State    string // APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED
	Body     string
	Author   string
	AuthorID int64
	At       time.Time
}

// ReviewComments returns the comments on lines of a pull request that were written or edited at or after a time,
// oldest first; since zero: all of them.
// https://docs.github.com/en/rest/pulls/comments#list-review-comments-on-a-pull-request
func (r *Repo) ReviewComments(ctx context.Context, pull int, since time.Time) ([]ReviewComment, error) {
	var out []ReviewComment
	for c, err := range eachPage(func(o gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return r.gh.PullRequests.ListComments(ctx, r.repo.Owner, r.repo.Name, pull,
			&gh.PullRequestListCommentsOptions{ListOptions: o, Since: since})
	}) {
		if err != nil {
			return nil, r.app.failure(err, "read comments on lines of %s#%d", r.repo, pull)
		}
		out = append(out, reviewCommentFrom(c))
	}
	return out, nil
}

func reviewCommentFrom(c *gh.PullRequestComment) ReviewComment {
	out := ReviewComment{ID: c.GetID(), Review: c.GetPullRequestReviewID(), ReplyTo: c.GetInReplyTo(), Path: c.GetPath(),
		First: c.GetStartLine(), Last: c.GetLine(), Old: c.GetSide() == oldSide, Hunk: c.GetDiffHunk(), Body: c.GetBody(),
		Author: c.GetUser().GetLogin(), AuthorID: c.GetUser().GetID(), Written: c.GetCreatedAt().Time,
		Edited: c.GetUpdatedAt().Time}
	if out.First == 0 {
		out.First = out.Last
	}
	if c.GetOriginalLine() > 0 {
		if out.Lines = 1; c.GetOriginalStartLine() > 0 {
			out.Lines = c.GetOriginalLine() - c.GetOriginalStartLine() + 1
		}
	}
	return out
}

// Reviews returns the submitted reviews of a pull request, oldest first.
// https://docs.github.com/en/rest/pulls/reviews#list-reviews-for-a-pull-request
func (r *Repo) Reviews(ctx context.Context, pull int) ([]PullReview, error) {
	var out []PullReview
	for v, err := range eachPage(func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return r.gh.PullRequests.ListReviews(ctx, r.repo.Owner, r.repo.Name, pull, &o)
	}) {
		if err != nil {
			return nil, r.app.failure(err, "read reviews of %s#%d", r.repo, pull)
		}
		out = append(out, PullReview{ID: v.GetID(), State: v.GetState(), Body: v.GetBody(), Author: v.GetUser().GetLogin(),
			AuthorID: v.GetUser().GetID(), At: v.GetSubmittedAt().Time})
	}
	return out, nil
}

// Answer is a reply in a thread.
type Answer struct {
	Thread int64 // id of the thread's first comment
	Marker string
	Body   string
}

// AnswerThreads replies in threads of a pull request, once each: a thread that has a reply of the app's with the
// marker is skipped. known is [Unwritten] if none can have been written yet, which saves looking for them, or else 0.
// A thread without its first comment is skipped. If GitHub refuses a reply, the others are still written, and the
// first refusal is returned.
// https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
func (r *Repo) AnswerThreads(ctx context.Context, pull int, answers []Answer, known int64) error {
	var before []ReviewComment
	if known != Unwritten {
		var err error
		if before, err = r.ReviewComments(ctx, pull, time.Time{}); err != nil {
			return err
		}
	}
	self, err := r.app.Self(ctx)
	if err != nil {
		return err
	}
	var refused error
	for _, a := range answers {
		if err := checkMarker(a.Marker); err != nil {
			return err
		}
		exists := false
		for _, c := range before {
			exists = exists || c.Author == self.Login && hasMarker(c.Body, a.Marker)
		}
		if exists {
			continue
		}
		err := r.rest.send(ctx, http.MethodPost, fmt.Sprintf("pulls/%d/comments/%d/replies", pull, a.Thread),
			map[string]string{"body": withMarker(a.Marker, a.Body)}, nil)
		if statusOf(err) == http.StatusNotFound {
			continue // the comment was deleted
		}
		failed := r.app.failure(err, "answer in a thread of %s#%d", r.repo, pull)
		switch {
		case isRefusedContent(err):
			refused = cmp.Or(refused, failed)
		case err != nil:
			return failed
		}
	}
	return refused
}

// ThreadOf returns the first comment of the thread of a comment on a line; 0: the comment was deleted.
// https://docs.github.com/en/rest/pulls/comments#get-a-review-comment-for-a-pull-request
func (r *Repo) ThreadOf(ctx context.Context, comment int64) (int64, error) {
	c, _, err := r.gh.PullRequests.GetComment(ctx, r.repo.Owner, r.repo.Name, comment)
	if statusOf(err) == http.StatusNotFound {
		return 0, nil
	}
	if err != nil {
		return 0, r.app.failure(err, "read comment %d of %s", comment, r.repo)
	}
	if c.GetInReplyTo() != 0 {
		return c.GetInReplyTo(), nil
	}
	return c.GetID(), nil
}
