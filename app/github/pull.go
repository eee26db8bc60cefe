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
}

func (r *Repo) pullFrom(p *gh.PullRequest) Pull {
	head := p.GetHead()
	return Pull{
		Number: p.GetNumber(), NodeID: p.GetNodeID(), URL: p.GetHTMLURL(), Body: p.GetBody(),
		Draft: p.GetDraft(), State: p.GetState(), Merged: p.GetMerged() || p.MergedAt != nil,
		HeadSHA: head.GetSHA(), BaseRef: p.GetBase().GetRef(),
		BaseSHA:   p.GetBase().GetSHA(),
		Fork:      head != nil && p.GetBase() != nil && head.GetRepo().GetID() != p.GetBase().GetRepo().GetID(),
		UpdatedAt: p.GetUpdatedAt().Time,
	}
}

// NewPull is a pull request to be opened.
type NewPull struct {
	Head  string // branch of this repository
	Base  string
	Title string // at most 256 characters are kept
	Body  string
	Draft bool // falls back to an ordinary one where drafts are not to be had
	Fresh bool // nobody can have opened it yet: it is not looked for first
}

// EnsurePull opens a pull request, or returns the open one of the same head and
// base as it is. A base branch that is gone was renamed or replaced: then it is for the default branch.
// https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func (r *Repo) EnsurePull(ctx context.Context, n NewPull) (Pull, error) {
	if !n.Fresh {
		if p, ok, err := r.findPull(ctx, n.Head, n.Base); err != nil || ok {
			return p, err
		}
	}
	req := &gh.NewPullRequest{
		Title: gh.String(text.Clip(n.Title, maxTitle)), Head: &n.Head, Base: &n.Base,
		Body: gh.String(withOwnPart("", n.Body)), Draft: &n.Draft,
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
		if now, err := r.baseNow(ctx, n.Base); err != nil {
			return Pull{}, err
		} else if now != n.Base {
			n.Base, n.Fresh = now, false
			return r.EnsurePull(ctx, n)
		}
	}
	if err := require(err, got.GetNumber()); err != nil {
		return Pull{}, r.fail(err, "open a pull request from %s in %s", n.Head, r.repo)
	}
	return r.pullFrom(got), nil
}

// baseNow is a base branch, or the default branch where that is gone.
func (r *Repo) baseNow(ctx context.Context, base string) (string, error) {
	if _, there, err := r.Head(ctx, base); err != nil || there {
		return base, err
	}
	now, err := r.Repository(ctx)
	return now.DefaultBranch, err
}

// findPull looks for the open pull request of a head and base branch.
func (r *Repo) findPull(ctx context.Context, head, base string) (Pull, bool, error) {
	return r.pullOf(ctx, gh.PullRequestListOptions{State: "open", Head: head, Base: base})
}

// EverPull finds a pull request that there is or was of a branch of this repository, open or not: one that
// somebody closed counts, too.
func (r *Repo) EverPull(ctx context.Context, head string) (Pull, bool, error) {
	return r.pullOf(ctx, gh.PullRequestListOptions{State: "all", Head: head})
}

// pullOf is the newest pull request of a branch of this repository. GitHub asks for the branch's owner, and does not
// know the name that an owner had before, although it sends on whoever asks for the repository by it.
// https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
func (r *Repo) pullOf(ctx context.Context, opts gh.PullRequestListOptions) (Pull, bool, error) {
	head := opts.Head
	opts.PerPage = perPage
	for owner, asked := r.repo.Owner, ""; owner != asked; {
		opts.Head, asked = owner+":"+head, owner
		got, resp, err := r.gh.PullRequests.List(ctx, r.repo.Owner, r.repo.Name, &opts)
		if err != nil {
			return Pull{}, false, r.fail(err, "look for the pull request of %s in %s", head, r.repo)
		}
		for _, p := range got {
			if p.GetHead().GetRef() == head && (opts.Base == "" || p.GetBase().GetRef() == opts.Base) {
				return r.pullFrom(p), true, nil
			}
		}
		if strings.Contains(resp.Request.URL.Path, "/repositories/") { // by the number, to which former names lead
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
		return Pull{}, r.fail(err, "read pull request %s#%d", r.repo, number)
	}
	return r.pullFrom(got), nil
}

// EditPull gives the app's part of a pull request's body another text. What people wrote around it stays, so the body
// is read first, unless it was read within some seconds.
// https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request
func (r *Repo) EditPull(ctx context.Context, number int, text string) error {
	now, known := r.bodies.get(number)
	if !known {
		p, err := r.Pull(ctx, number)
		if err != nil {
			return err
		}
		now = p.Body
	}
	body := withOwnPart(now, text)
	if sameText(now, body) || len(body) > maxBody { // people left no room for a word
		return nil
	}
	got, _, err := r.gh.PullRequests.Edit(ctx, r.repo.Owner, r.repo.Name, number, &gh.PullRequest{Body: &body})
	return r.fail(require(err, got.GetNumber()), "update pull request %s#%d", r.repo, number)
}
