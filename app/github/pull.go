package github

import (
	"context"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/text"
)

// Pull is a pull request.
type Pull struct {
	Number  int
	NodeID  string // for [Repo.MarkReady]
	URL     string
	Body    string
	Draft   bool
	State   string // open or closed
	Merged  bool
	HeadSHA string
	BaseRef string
	BaseSHA string
	Fork    bool // the head is in another repository

	UpdatedAt time.Time
	ClosedAt  time.Time // zero: it is open
}

func pullFrom(p *gh.PullRequest) Pull {
	head := p.GetHead()
	return Pull{
		Number: p.GetNumber(), NodeID: p.GetNodeID(), URL: p.GetHTMLURL(), Body: p.GetBody(),
		Draft: p.GetDraft(), State: p.GetState(), Merged: p.GetMerged() || p.MergedAt != nil,
		HeadSHA: head.GetSHA(), BaseRef: p.GetBase().GetRef(),
		BaseSHA:   p.GetBase().GetSHA(),
		Fork:      head != nil && p.GetBase() != nil && head.GetRepo().GetID() != p.GetBase().GetRepo().GetID(),
		UpdatedAt: p.GetUpdatedAt().Time, ClosedAt: p.GetClosedAt().Time,
	}
}

// NewPull is a pull request to open.
type NewPull struct {
	Head  string // branch of this repository
	Base  string
	Title string // at most 256 characters are kept
	Body  string
	Draft bool // ignored if GitHub refuses drafts here
	Fresh bool // it can't exist yet, so don't look for it first
}

// EnsurePull opens a pull request, or returns the open one with the same head and base unchanged. If the base branch
// no longer exists, it uses the default branch.
// https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func (r *Repo) EnsurePull(ctx context.Context, n NewPull) (Pull, error) {
	if !n.Fresh {
		if p, ok, err := r.findPull(ctx, n.Head, n.Base); err != nil || ok {
			return p, err
		}
	}
	req := &gh.NewPullRequest{
		Title: gh.String(text.Clip(n.Title, maxTitle)), Head: &n.Head, Base: &n.Base,
		Body: gh.String(replaceOwnPart("", n.Body)), Draft: &n.Draft,
	}
	got, _, err := r.gh.PullRequests.Create(ctx, r.repo.Owner, r.repo.Name, req)
	if n.Draft && statusOf(err) == http.StatusUnprocessableEntity && refusalContains(err, "draft") {
		req.Draft = gh.Bool(false)
		got, _, err = r.gh.PullRequests.Create(ctx, r.repo.Owner, r.repo.Name, req)
	}
	if statusOf(err) == http.StatusUnprocessableEntity && refusalContains(err, "already exists") {
		if p, ok, err := r.findPull(ctx, n.Head, n.Base); err != nil || ok {
			return p, err
		}
	}
	if statusOf(err) == http.StatusUnprocessableEntity && refusalContains(err, "base") {
		if now, err := r.currentBase(ctx, n.Base); err != nil {
			return Pull{}, err
		} else if now != n.Base {
			n.Base, n.Fresh = now, false
			return r.EnsurePull(ctx, n)
		}
	}
	if err := require(err, got.GetNumber()); err != nil {
		return Pull{}, r.app.failure(err, "open a pull request from %s in %s", n.Head, r.repo)
	}
	return pullFrom(got), nil
}

// currentBase returns base, or the default branch if base no longer exists.
func (r *Repo) currentBase(ctx context.Context, base string) (string, error) {
	if _, found, err := r.Head(ctx, base); err != nil || found {
		return base, err
	}
	now, err := r.Repository(ctx)
	return now.DefaultBranch, err
}

// findPull looks for the open pull request of a head and base branch.
func (r *Repo) findPull(ctx context.Context, head, base string) (Pull, bool, error) {
	return r.newestPull(ctx, gh.PullRequestListOptions{State: "open", Head: head, Base: base})
}

// AnyPull returns a pull request of a branch of this repository, open or closed.
func (r *Repo) AnyPull(ctx context.Context, head string) (Pull, bool, error) {
	return r.newestPull(ctx, gh.PullRequestListOptions{State: "all", Head: head})
}

// newestPull returns the newest pull request of a branch of this repository. GitHub filters by the branch's owner,
// and does not recognize an owner's former name there, although it redirects requests for the repository.
// https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
func (r *Repo) newestPull(ctx context.Context, opts gh.PullRequestListOptions) (Pull, bool, error) {
	head := opts.Head
	opts.PerPage = perPage
	for owner, asked := r.repo.Owner, ""; owner != asked; {
		opts.Head, asked = owner+":"+head, owner
		got, resp, err := r.gh.PullRequests.List(ctx, r.repo.Owner, r.repo.Name, &opts)
		if err != nil {
			return Pull{}, false, r.app.failure(err, "look for the pull request of %s in %s", head, r.repo)
		}
		for _, p := range got {
			if p.GetHead().GetRef() == head && (opts.Base == "" || p.GetBase().GetRef() == opts.Base) {
				return pullFrom(p), true, nil
			}
		}
		if strings.Contains(resp.Request.URL.Path, "/repositories/") { // redirected to the id, so the owner was renamed
			now, err := r.Repository(ctx)
			if err != nil {
				return Pull{}, false, err
			}
			owner = now.Owner
		}
	}
	return Pull{}, false, nil
}

// Pull reads a pull request.
// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
func (r *Repo) Pull(ctx context.Context, number int) (Pull, error) {
	got, _, err := r.gh.PullRequests.Get(ctx, r.repo.Owner, r.repo.Name, number)
	if err := require(err, got.GetNumber()); err != nil {
		return Pull{}, r.app.failure(err, "read pull request %s#%d", r.repo, number)
	}
	return pullFrom(got), nil
}

// EditPull replaces the app's part of a pull request's body. It keeps what people wrote around it, so it reads the
// body first, unless that was read within the last seconds.
// https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request
func (r *Repo) EditPull(ctx context.Context, number int, text string) error {
	now, known := r.Checks.bodies.Get(number)
	if !known {
		p, err := r.Pull(ctx, number)
		if err != nil {
			return err
		}
		now = p.Body
	}
	body := replaceOwnPart(now, text)
	if sameText(now, body) || len(body) > maxBody { // no room is left
		return nil
	}
	got, _, err := r.gh.PullRequests.Edit(ctx, r.repo.Owner, r.repo.Name, number, &gh.PullRequest{Body: &body})
	return r.app.failure(require(err, got.GetNumber()), "update pull request %s#%d", r.repo, number)
}
