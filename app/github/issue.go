package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Issue is an issue or a pull request, seen as an issue.
type Issue struct {
	Number    int
	Repo      string // owner/name of its repository
	Title     string
	Body      string
	State     string // open or closed
	Labels    []string
	LabelIDs  []int64 // GitHub's ids, in the order of Labels
	Author    string
	AuthorID  int64
	URL       string
	IsPull    bool
	Comments  int // number of comments, SIA's own included
	UpdatedAt time.Time
	CreatedAt time.Time
	Blockers  int // number of open issues that block it
	SubIssues int // number of its sub-issues
	OpenSubs  int // number of open sub-issues
}

// HasLabel reports whether the issue has a label, by name or, if it was renamed, by id; 0: unknown. As on GitHub, the
// case of names does not matter.
func (i Issue) HasLabel(name string, id int64) bool {
	return slices.ContainsFunc(i.Labels, func(l string) bool { return strings.EqualFold(l, name) }) ||
		id != 0 && slices.Contains(i.LabelIDs, id)
}

// wireIssue is an issue with the fields that go-github lacks.
// https://docs.github.com/en/rest/issues/issues#get-an-issue
type wireIssue struct {
	gh.Issue
	Dependencies struct {
		BlockedBy int `json:"blocked_by"` // open ones; total_blocked_by includes closed ones
	} `json:"issue_dependencies_summary"`
	SubIssues struct {
		Total     int `json:"total"`
		Completed int `json:"completed"`
	} `json:"sub_issues_summary"`
}

// issue returns the issue with its dependencies.
func (w *wireIssue) issue() Issue {
	out := issueFrom(&w.Issue)
	out.Blockers, out.SubIssues = w.Dependencies.BlockedBy, w.SubIssues.Total
	out.OpenSubs = max(0, w.SubIssues.Total-w.SubIssues.Completed)
	return out
}

func issueFrom(i *gh.Issue) Issue {
	out := Issue{
		Number: i.GetNumber(), Repo: repoOf(i.GetRepositoryURL()),
		Title: i.GetTitle(), Body: i.GetBody(), State: i.GetState(),
		Author: i.GetUser().GetLogin(), AuthorID: i.GetUser().GetID(), URL: i.GetHTMLURL(),
		IsPull: i.IsPullRequest(), Comments: i.GetComments(), UpdatedAt: i.GetUpdatedAt().Time,
		CreatedAt: i.GetCreatedAt().Time,
	}
	for _, l := range i.Labels {
		out.Labels, out.LabelIDs = append(out.Labels, l.GetName()), append(out.LabelIDs, l.GetID())
	}
	return out
}

// repoOf returns the owner/name at the end of a repository's URL; "": there is none.
func repoOf(address string) string {
	parts := strings.Split(address, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// Issue reads an issue or pull request by the repository's id, so [Issue.Repo] is the repository's current name.
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (r *Repo) Issue(ctx context.Context, number int) (Issue, error) {
	var got wireIssue
	err := r.rest.readByID(ctx, fmt.Sprintf("issues/%d", number), &got)
	if err := require(err, got.GetNumber()); err != nil {
		return Issue{}, r.app.failure(err, "read issue %s#%d", r.repo, number)
	}
	return got.issue(), nil
}

// IssueOrGone is Issue, but reports an issue that was deleted or transferred by gone. GitHub also answers 404 to an
// app without access to issues, so it lists the issues as well to tell the cases apart.
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (r *Repo) IssueOrGone(ctx context.Context, number int) (issue Issue, gone bool, err error) {
	issue, err = r.Issue(ctx, number)
	switch {
	case err == nil && issue.Number != number: // a redirect to the transferred issue
		return Issue{}, true, nil
	case err == nil && issue.Repo != "" && !strings.EqualFold(issue.Repo, r.repo.String()):
		now, err := r.ByID(ctx) // the repository was renamed, or the issue has the same number in another one
		return issue, err == nil && !strings.EqualFold(issue.Repo, now.String()), err
	case statusOf(err) == http.StatusGone && !refusalContains(err, "disabled"):
		return Issue{}, true, nil
	case statusOf(err) == http.StatusNotFound:
		if _, failed := r.ChangedIssues(ctx, r.app.cfg.Now()); failed == nil {
			return Issue{}, true, nil
		}
	}
	return issue, false, err
}

// ChangedIssues returns the issues and pull requests that changed since a time, by number: the latest hundred, in one
// request. Others must be read one by one. They are read by the repository's id, as in [Repo.Issue].
// https://docs.github.com/en/rest/issues/issues#list-repository-issues
func (r *Repo) ChangedIssues(ctx context.Context, since time.Time) (map[int]Issue, error) {
	var got []*wireIssue
	query := url.Values{"state": {"all"}, "sort": {"updated"}, "since": {since.UTC().Format(time.RFC3339)},
		"per_page": {strconv.Itoa(perPage)}}
	if err := r.rest.readByID(ctx, "issues?"+query.Encode(), &got); err != nil {
		return nil, r.app.failure(err, "read what changed in %s", r.repo)
	}
	out := map[int]Issue{}
	for _, i := range got {
		if n := i.GetNumber(); n != 0 {
			out[n] = i.issue()
		}
	}
	return out, nil
}

// NewIssue is an issue to open.
type NewIssue struct {
	Marker    string // first line of the body, which identifies the issue
	Title     string // at most 256 characters are kept
	Body      string // without the marker
	Labels    []string
	Assignees []string // omitted if GitHub refuses them
}

// CreateIssue opens an issue, or returns the one that the app opened with the same marker before, open or closed.
// https://docs.github.com/en/rest/issues/issues#create-an-issue
func (r *Repo) CreateIssue(ctx context.Context, n NewIssue) (Issue, error) {
	if err := checkMarker(n.Marker); err != nil {
		return Issue{}, err
	}
	if found, ok, err := r.findIssue(ctx, n.Marker); err != nil || ok {
		return found, err
	}
	body := withMarker(n.Marker, n.Body)
	req := &gh.IssueRequest{Title: gh.String(text.Clip(n.Title, maxTitle)), Body: &body}
	if len(n.Labels) > 0 {
		req.Labels = &n.Labels
	}
	if len(n.Assignees) > 0 {
		req.Assignees = &n.Assignees
	}
	got, _, err := r.gh.Issues.Create(ctx, r.repo.Owner, r.repo.Name, req)
	if statusOf(err) == http.StatusUnprocessableEntity && req.Assignees != nil && refusalContains(err, "assignee") {
		req.Assignees = nil
		got, _, err = r.gh.Issues.Create(ctx, r.repo.Owner, r.repo.Name, req)
	}
	if err := require(err, got.GetNumber()); err != nil {
		return Issue{}, r.app.failure(err, "open an issue in %s", r.repo)
	}
	return issueFrom(got), nil
}

// maxUnfilteredPages is the number of pages of everybody's issues to search: an issue opened by a failed attempt is
// among the newest.
const maxUnfilteredPages = 3

// findIssue looks for an issue that the app opened with a marker, newest first. On a GitHub with its own domain the
// filter by creator may not find an app's issues; then it searches the newest of all. It does not find issues beyond
// the page limit.
func (r *Repo) findIssue(ctx context.Context, marker string) (Issue, bool, error) {
	self, err := r.app.Self(ctx)
	if err != nil {
		return Issue{}, false, err
	}
	for _, creator := range []string{self.Login, ""} {
		seen, pages := 0, maxPages
		if creator == "" {
			pages = maxUnfilteredPages
		}
		for i, err := range eachPage(func(o gh.ListOptions) ([]*gh.Issue, *gh.Response, error) {
			got, resp, err := r.gh.Issues.ListByRepo(ctx, r.repo.Owner, r.repo.Name,
				&gh.IssueListByRepoOptions{State: "all", Creator: creator, ListOptions: o})
			if o.Page == pages {
				resp = nil // end the list
			}
			return got, resp, err
		}) {
			if err != nil {
				return Issue{}, false, r.app.failure(err, "look for SIA's issues in %s", r.repo)
			}
			if i.GetUser().GetLogin() == self.Login && hasMarker(i.GetBody(), marker) {
				return issueFrom(i), true, nil
			}
			seen++
		}
		if seen > 0 {
			break
		}
	}
	return Issue{}, false, nil
}

// CloseIssue closes an issue for a reason: completed or not_planned. It does nothing if now is closed.
func (r *Repo) CloseIssue(ctx context.Context, now Issue, reason string) error {
	if now.State == "closed" {
		return nil
	}
	_, _, err := r.gh.Issues.Edit(ctx, r.repo.Owner, r.repo.Name, now.Number,
		&gh.IssueRequest{State: gh.String("closed"), StateReason: &reason})
	return r.app.failure(err, "close issue %s#%d", r.repo, now.Number)
}

// checkMarker returns an error for a marker that could not be found again: it must be one HTML comment on one line.
func checkMarker(m string) error {
	if strings.HasPrefix(m, "<!--") && strings.HasSuffix(m, "-->") && !strings.ContainsAny(m, "\r\n") && len(m) < 1000 {
		return nil
	}
	return &sia.Error{Op: "write under a marker", Message: "the marker is not one HTML comment on one line",
		Permanent: true}
}

// hasMarker reports whether a body begins with a marker.
func hasMarker(body, marker string) bool {
	first, _, _ := strings.Cut(body, "\n")
	return strings.TrimSpace(first) == marker
}

// withMarker returns a body with its marker, shortened to GitHub's limit.
func withMarker(marker, body string) string { return truncateBody(marker + "\n" + body) }

// maxTitle is GitHub's limit on a title, in characters.
const maxTitle = 256

// maxBody is GitHub's limit on a comment, an issue or a pull request, in characters: the width of its database
// column, as its refusals report.
const maxBody = 65536

// truncateBody shortens a body to GitHub's limit.
func truncateBody(body string) string { return truncate(body, maxBody) }

// truncate shortens a body to limit bytes, with a note.
func truncate(body string, limit int) string {
	if len(body) <= limit {
		return body
	}
	const note = "\n\n_Shortened: GitHub takes no longer comments._\n"
	kept := cutBytes(body, max(0, limit-len(note)-len("\n```")))
	if strings.Count(kept, "\n```")%2 == 1 {
		kept += "\n```"
	}
	return kept + note
}

// cutBytes returns the first n bytes of s, without a partial character at the end.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// sameText compares texts regardless of GitHub's normalization.
func sameText(a, b string) bool {
	norm := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return norm(a) == norm(b)
}
