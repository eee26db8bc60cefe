package github

import (
	"context"
	"net/http"
	"net/url"
)

// NewCommit is a commit to create. GitHub has its tree and parents.
type NewCommit struct {
	Tree    string
	Parents []string
	Message string
}

// MadeCommit is a commit that GitHub created.
type MadeCommit struct {
	SHA string
	verification
}

// verification is GitHub's verification of a commit's signature.
type verification struct {
	Verified bool   `json:"verified"`
	Reason   string `json:"reason"` // such as "unsigned"
}

// CreateCommit creates a commit by the app, at the present time. GitHub signs a commit without a given author,
// committer and signature. No branch changes. It is not idempotent: each call creates another commit.
// https://docs.github.com/en/rest/git/commits#create-a-commit
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots
func (r *Repo) CreateCommit(ctx context.Context, c NewCommit) (MadeCommit, error) {
	in := map[string]any{"message": c.Message, "tree": c.Tree, "parents": c.Parents}
	var got struct {
		SHA          string       `json:"sha"`
		Verification verification `json:"verification"`
	}
	err := r.rest.send(ctx, http.MethodPost, "git/commits", in, &got)
	if err := require(err, got.SHA); err != nil {
		return MadeCommit{}, r.app.failure(err, "make a signed commit in %s", r.repo)
	}
	return MadeCommit{SHA: got.SHA, verification: got.Verification}, nil
}

// Commit reads GitHub's verification of a commit's signature.
// https://docs.github.com/en/rest/commits/commits#get-a-commit
func (r *Repo) Commit(ctx context.Context, sha string) (MadeCommit, error) {
	var got struct {
		SHA    string `json:"sha"`
		Commit struct {
			Verification verification `json:"verification"`
		} `json:"commit"`
	}
	err := r.rest.send(ctx, http.MethodGet, "commits/"+url.PathEscape(sha), nil, &got)
	if err := require(err, got.SHA); err != nil {
		return MadeCommit{}, r.app.failure(err, "read commit %s of %s", shortSHA(sha), r.repo)
	}
	return MadeCommit{SHA: got.SHA, verification: got.Commit.Verification}, nil
}
