package github

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Comment is a comment on an issue or on the conversation of a pull request.
type Comment struct {
	ID       int64
	NodeID   string
	URL      string
	Issue    int    // number of the issue or pull request
	Body     string // including the marker
	Author   string
	AuthorID int64
	Written  time.Time
	Edited   time.Time // the last time, or when it was written
}

func commentFrom(c *gh.IssueComment) Comment {
	return Comment{
		ID: c.GetID(), NodeID: c.GetNodeID(), URL: c.GetHTMLURL(), Body: c.GetBody(),
		Issue:  numberOf(c.GetIssueURL()),
		Author: c.GetUser().GetLogin(), AuthorID: c.GetUser().GetID(), Written: c.GetCreatedAt().Time,
		Edited: c.GetUpdatedAt().Time,
	}
}

// numberOf returns the number at the end of an issue's URL, or 0.
func numberOf(address string) int {
	n, _ := strconv.Atoi(address[strings.LastIndexByte(address, '/')+1:])
	return n
}

// Unwritten, instead of a known id, means that nothing was written with the marker or external id yet, which saves
// looking for it.
const Unwritten int64 = -1

// UpsertComment creates or updates the app's comment with a marker on an issue. known is the comment's id if the
// caller has it, which saves searching the others, or [Unwritten], or 0.
//
// The marker is the whole first line, an HTML comment; body follows it. A comment counts only if the app wrote it, so
// nobody can forge one.
// https://docs.github.com/en/rest/issues/comments
func (r *Repo) UpsertComment(
	ctx context.Context, issue int, marker, body string, known int64,
) (c Comment, err error) {
	if err := checkMarker(marker); err != nil {
		return Comment{}, err
	}
	var (
		now Comment
		ok  bool
	)
	if known != Unwritten {
		now, ok, err = r.knownComment(ctx, marker, known)
		if err == nil && !ok {
			now, ok, err = r.findComment(ctx, issue, marker)
		}
		if err != nil {
			return Comment{}, err
		}
	}
	want := withMarker(marker, body)
	if ok {
		if sameText(now.Body, want) {
			return now, nil
		}
		if now, ok, err = r.EditComment(ctx, now.ID, marker, body); err != nil || ok {
			return now, err
		} // else it was deleted since
	}
	got, _, err := r.gh.Issues.CreateComment(ctx, r.repo.Owner, r.repo.Name, issue, &gh.IssueComment{Body: &want})
	if err := require(err, got.GetID()); err != nil {
		return Comment{}, r.app.failure(err, "comment on %s#%d", r.repo, issue)
	}
	return commentFrom(got), nil
}

// EditComment updates a comment of the app without reading it first. ok is false if it was deleted.
func (r *Repo) EditComment(ctx context.Context, id int64, marker, body string) (c Comment, ok bool, err error) {
	if err := checkMarker(marker); err != nil {
		return Comment{}, false, err
	}
	want := withMarker(marker, body)
	got, _, err := r.gh.Issues.EditComment(ctx, r.repo.Owner, r.repo.Name, id, &gh.IssueComment{Body: &want})
	if statusOf(err) == http.StatusNotFound {
		return Comment{}, false, nil
	}
	if err := require(err, got.GetID()); err != nil {
		return Comment{}, false, r.app.failure(err, "edit comment %d of %s", id, r.repo)
	}
	return commentFrom(got), true, nil
}

// knownComment reads a comment by its id, if it is the app's and has the marker.
func (r *Repo) knownComment(ctx context.Context, marker string, id int64) (Comment, bool, error) {
	if id == 0 {
		return Comment{}, false, nil
	}
	self, err := r.app.Self(ctx)
	if err != nil {
		return Comment{}, false, err
	}
	got, _, err := r.gh.Issues.GetComment(ctx, r.repo.Owner, r.repo.Name, id)
	if statusOf(err) == http.StatusNotFound {
		return Comment{}, false, nil
	}
	if err := require(err, got.GetID()); err != nil {
		return Comment{}, false, r.app.failure(err, "read comment %d of %s", id, r.repo)
	}
	c := commentFrom(got)
	return c, c.Author == self.Login && hasMarker(c.Body, marker), nil
}

// findComment looks for the app's comment with a marker, the oldest if there are several.
func (r *Repo) findComment(ctx context.Context, issue int, marker string) (Comment, bool, error) {
	self, err := r.app.Self(ctx)
	if err != nil {
		return Comment{}, false, err
	}
	for c, err := range r.comments(ctx, issue, time.Time{}) {
		if err != nil {
			return Comment{}, false, r.app.failure(err, "read comments of %s#%d", r.repo, issue)
		}
		if c.GetUser().GetLogin() == self.Login && hasMarker(c.GetBody(), marker) {
			return commentFrom(c), true, nil
		}
	}
	return Comment{}, false, nil
}

// CommentsSince returns the comments on an issue that were written or edited at or after a time, by anyone, oldest
// first.
func (r *Repo) CommentsSince(ctx context.Context, issue int, since time.Time) ([]Comment, error) {
	var out []Comment
	for c, err := range r.comments(ctx, issue, since) {
		if err != nil {
			return nil, r.app.failure(err, "read comments of %s#%d", r.repo, issue)
		}
		out = append(out, commentFrom(c))
	}
	return out, nil
}

// editorQuery reads who edited a comment, which REST lacks.
// https://docs.github.com/en/graphql/reference/objects#issuecomment
const editorQuery = `query($id: ID!) { node(id: $id) { ... on IssueComment { body lastEditedAt editor { login } } } }`

// IsAuthors reports whether a comment's author was the last to edit its text, which is the present one. If GitHub
// refuses the query, it is not.
func (r *Repo) IsAuthors(ctx context.Context, c Comment) (bool, error) {
	var got struct {
		Node struct {
			Body         *string    `json:"body"`
			LastEditedAt *time.Time `json:"lastEditedAt"`
			Editor       struct {
				Login string `json:"login"`
			} `json:"editor"`
		} `json:"node"`
	}
	err := r.graphql.send(readOnly(ctx), editorQuery, map[string]any{"id": c.NodeID}, &got)
	if isRefusedQuery(err) { // it may have been deleted
		return false, nil
	}
	if err := require(err, got.Node.Body); err != nil {
		return false, r.app.failure(err, "read who edited comment %d of %s", c.ID, r.repo)
	}
	return *got.Node.Body == c.Body && (got.Node.LastEditedAt == nil || got.Node.Editor.Login == c.Author), nil
}

// CommentsEverywhere returns the comments on all issues and pull requests that were written or edited at or after a
// time, oldest first. For a recent time it takes one request for several threads.
// https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository
func (r *Repo) CommentsEverywhere(ctx context.Context, since time.Time) ([]Comment, error) {
	return r.CommentsSince(ctx, 0, since)
}

// comments iterates over an issue's comments, oldest first; since zero: all of them; issue 0: all issues.
func (r *Repo) comments(ctx context.Context, issue int, since time.Time) iter.Seq2[*gh.IssueComment, error] {
	return eachPage(func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		opts := &gh.IssueListCommentsOptions{ListOptions: o}
		if issue == 0 {
			opts.Sort, opts.Direction = gh.String("created"), gh.String("asc")
		}
		if !since.IsZero() {
			opts.Since = &since
		}
		return r.gh.Issues.ListComments(ctx, r.repo.Owner, r.repo.Name, issue, opts)
	})
}
