package github

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// GraphQL requests that have no counterpart in REST.
// https://docs.github.com/en/graphql/reference/mutations#markpullrequestreadyforreview
// https://docs.github.com/en/graphql/reference/mutations#convertpullrequesttodraft
const (
	readyMutation = `mutation($id: ID!) {
		markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
	}`
	draftMutation = `mutation($id: ID!) {
		convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } }
	}`
	draftQuery = `query($id: ID!) { node(id: $id) { ... on PullRequest { isDraft } } }`
)

// MarkReady marks a pull request ready for review. It does nothing if it is not a draft.
func (r *Repo) MarkReady(ctx context.Context, nodeID string) error {
	return r.setDraft(ctx, nodeID, false, readyMutation, "mark the pull request ready for review in ")
}

// MarkDraft converts a pull request to a draft. It does nothing if it is one.
func (r *Repo) MarkDraft(ctx context.Context, nodeID string) error {
	return r.setDraft(ctx, nodeID, true, draftMutation, "make the pull request a draft again in ")
}

func (r *Repo) setDraft(ctx context.Context, nodeID string, want bool, mutation, op string) error {
	vars := map[string]any{"id": nodeID}
	var done struct {
		Ready *struct{} `json:"markPullRequestReadyForReview"`
		Draft *struct{} `json:"convertPullRequestToDraft"`
	}
	err := r.graphql.send(ctx, mutation, vars, &done)
	err = require(err, cmp.Or(done.Ready, done.Draft))
	var refusal *graphqlError
	if !errors.As(err, &refusal) {
		return r.app.failure(err, "%s", op+r.repo.String())
	}
	// GitHub refuses a change to the state that the pull request already has.
	var now struct {
		Node struct {
			IsDraft *bool `json:"isDraft"`
		} `json:"node"`
	}
	if qerr := r.graphql.send(ctx, draftQuery, vars, &now); qerr == nil && now.Node.IsDraft != nil &&
		*now.Node.IsDraft == want {
		return nil
	}
	return &sia.Error{
		Op: op + r.repo.String(), Message: refusal.message(want), Permanent: refusal.isPermanent(),
		Err: &redactedError{refusal},
	}
}

// message returns what a user can do about it; draft is the wanted state.
func (e *graphqlError) message(draft bool) string {
	press := "press “Ready for review” on the pull request"
	if draft {
		press = "press “Convert to draft” on the pull request"
	}
	if e.is("FORBIDDEN", "INSUFFICIENT_SCOPES") {
		return "GitHub does not let the app do it; check that it has the permissions \"pull_requests: write\" and " +
			"\"contents: write\", or " + press
	}
	return "GitHub refused; " + press + ": " + scrubbedLine(strings.Join(e.messages, "; "))
}
