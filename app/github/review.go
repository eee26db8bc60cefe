package github

import (
	"context"
	"errors"
	"net/http"

	gh "github.com/google/go-github/v66/github"
)

// NewReview is a review to be submitted. It neither approves nor asks for changes: it comments.
type NewReview struct {
	Head  string // the commit that it is about
	Body  string
	Lines []LineComment
	// the body instead where GitHub does not take the comments on lines: it says all that they say
	Whole string
}

// LineComment is a comment on a line that the diff of a pull request shows.
type LineComment struct {
	Path string
	Line int  // 1-based
	Old  bool // it is a line of the base, which was deleted
	Body string
}

// The two sides of a diff, as the API names them.
const (
	oldSide = "LEFT"
	newSide = "RIGHT"
)

// EnsureReview makes a pull request carry one review of the app under a marker, and returns its address: the one that
// stands there already, whatever it says, or else the new one. known is [Unwritten] where
// nobody can have written it yet, which saves looking for it, or else 0.
//
// GitHub refuses a review as a whole when the diff does not show one of its lines, which
// may depend on how it came by the diff; then it is submitted once more without them.
// https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
func (r *Repo) EnsureReview(
	ctx context.Context, pull int, marker string, n NewReview, known int64,
) (address string, err error) {
	if err := checkMarker(marker); err != nil {
		return "", err
	}
	if known != Unwritten {
		if there, err := r.findReview(ctx, pull, marker); err != nil || there != "" {
			return there, err
		}
	}
	got, err := r.submit(ctx, pull, withMarker(marker, n.Body), n)
	if len(n.Lines) > 0 && isRefusedContent(err) {
		n.Lines = nil
		got, err = r.submit(ctx, pull, withMarker(marker, n.Whole), n)
	}
	if err := require(err, got.GetID()); err != nil {
		return "", r.fail(err, "review pull request %s#%d", r.repo, pull)
	}
	return got.GetHTMLURL(), nil
}

// isRefusedContent reports whether GitHub refused what a request holds, and not because it
// does not know the commit yet.
func isRefusedContent(err error) bool {
	var er *gh.ErrorResponse
	return errors.As(err, &er) && statusOf(err) == http.StatusUnprocessableEntity && !isLag(er)
}

func (r *Repo) submit(ctx context.Context, pull int, body string, n NewReview) (*gh.PullRequestReview, error) {
	req := &gh.PullRequestReviewRequest{CommitID: &n.Head, Body: &body, Event: gh.String("COMMENT")}
	for _, l := range n.Lines {
		side, text := newSide, fitBody(l.Body)
		if l.Old {
			side = oldSide
		}
		req.Comments = append(req.Comments,
			&gh.DraftReviewComment{Path: &l.Path, Line: &l.Line, Side: &side, Body: &text})
	}
	got, _, err := r.gh.PullRequests.CreateReview(ctx, r.repo.Owner, r.repo.Name, pull, req)
	return got, err
}

// findReview is the address of the app's review under a marker, the oldest if there are several; "" for none.
func (r *Repo) findReview(ctx context.Context, pull int, marker string) (string, error) {
	self, err := r.app.Self(ctx)
	if err != nil {
		return "", err
	}
	reviews := eachPage(func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return r.gh.PullRequests.ListReviews(ctx, r.repo.Owner, r.repo.Name, pull, &o)
	})
	for v, err := range reviews {
		if err != nil {
			return "", r.fail(err, "read reviews of %s#%d", r.repo, pull)
		}
		if v.GetUser().GetLogin() == self.Login && hasMarker(v.GetBody(), marker) {
			return v.GetHTMLURL(), nil
		}
	}
	return "", nil
}
