package github

import (
	"context"
	"errors"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/view"
)

// NewReview is a review to submit. It comments, and neither approves nor requests changes.
type NewReview struct {
	Head  string // reviewed commit
	Body  string
	Lines []view.LineComment
	// the body with all the comments in it, if GitHub refuses the comments on lines
	Whole string
}

// The two sides of a diff in GitHub's API.
const (
	oldSide = "LEFT"
	newSide = "RIGHT"
)

// EnsureReview submits a review of the app with a marker to a pull request, if there is none yet, and returns the URL
// of that review. An existing one is not changed. known is [Unwritten] if none can have been written yet, which saves
// looking for it, or else 0.
//
// GitHub refuses the whole review if the diff does not show one of its lines, which depends on how GitHub computes
// the diff. Then it is submitted without comments on lines.
// https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
func (r *Repo) EnsureReview(
	ctx context.Context, pull int, marker string, n NewReview, known int64,
) (address string, err error) {
	if err := checkMarker(marker); err != nil {
		return "", err
	}
	if known != Unwritten {
		if found, err := r.findReview(ctx, pull, marker); err != nil || found != "" {
			return found, err
		}
	}
	got, err := r.submit(ctx, pull, withMarker(marker, n.Body), n)
	if len(n.Lines) > 0 && isRefusedContent(err) {
		n.Lines = nil
		got, err = r.submit(ctx, pull, withMarker(marker, n.Whole), n)
	}
	if err := require(err, got.GetID()); err != nil {
		return "", r.app.failure(err, "review pull request %s#%d", r.repo, pull)
	}
	return got.GetHTMLURL(), nil
}

// isRefusedContent reports whether GitHub refused the content of a request, and not because it does not have the
// commit yet.
func isRefusedContent(err error) bool {
	var er *gh.ErrorResponse
	return errors.As(err, &er) && statusOf(err) == http.StatusUnprocessableEntity && !isLag(er)
}

func (r *Repo) submit(ctx context.Context, pull int, body string, n NewReview) (*gh.PullRequestReview, error) {
	req := &gh.PullRequestReviewRequest{CommitID: &n.Head, Body: &body, Event: gh.String("COMMENT")}
	for _, l := range n.Lines {
		side, text := newSide, truncateBody(l.Body)
		if l.Old {
			side = oldSide
		}
		req.Comments = append(req.Comments,
			&gh.DraftReviewComment{Path: &l.Path, Line: &l.Line, Side: &side, Body: &text})
	}
	got, _, err := r.gh.PullRequests.CreateReview(ctx, r.repo.Owner, r.repo.Name, pull, req)
	return got, err
}

// findReview returns the URL of the app's review with a marker, the oldest if there are several; "": none.
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
			return "", r.app.failure(err, "read reviews of %s#%d", r.repo, pull)
		}
		if v.GetUser().GetLogin() == self.Login && hasMarker(v.GetBody(), marker) {
			return v.GetHTMLURL(), nil
		}
	}
	return "", nil
}
