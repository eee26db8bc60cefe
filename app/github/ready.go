package github

import (
	"context"
	"errors"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// The GraphQL requests that REST has nothing for.
// https://docs.github.com/en/graphql/reference/mutations#markpullrequestreadyforreview
const (
	readyMutation = `mutation($id: ID!) {
		markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
	}`
	draftQuery = `query($id: ID!) { node(id: $id) { ... on PullRequest { isDraft } } }`
)

// MarkReady takes a pull request out of draft. One that is out of it stays so.
func (r *Repo) MarkReady(ctx context.Context, nodeID string) error {
	const op = "mark the pull request ready for review in %s"
	vars := map[string]string{"id": nodeID}
	var done struct {
		Mark struct {
			PullRequest struct {
				IsDraft *bool `json:"isDraft"`
			} `json:"pullRequest"`
		} `json:"markPullRequestReadyForReview"`
	}
	err := r.graphql(ctx, readyMutation, vars, &done)
	var refusal *graphqlError
	if !errors.As(err, &refusal) {
		return r.fail(err, op, r.repo)
	}
	// GitHub refuses to mark what is no draft, which is what is wanted.
	var now struct {
		Node struct {
			IsDraft *bool `json:"isDraft"`
		} `json:"node"`
	}
	if qerr := r.graphql(ctx, draftQuery, vars, &now); qerr == nil && now.Node.IsDraft != nil && !*now.Node.IsDraft {
		return nil
	}
	return &sia.Error{
		Op:      "mark the pull request ready for review in " + r.repo.String(),
		Message: refusal.forPeople(), Permanent: refusal.permanent(), Err: &redactedError{refusal},
	}
}

// graphqlError is the refusal that comes in the body of a GraphQL answer.
type graphqlError struct{ kinds, messages []string }

func (e *graphqlError) Error() string {
	return "GraphQL: " + scrubbedLine(strings.Join(e.messages, "; "))
}

func (e *graphqlError) permanent() bool {
	for _, k := range e.kinds {
		switch k {
		case "FORBIDDEN", "NOT_FOUND", "UNPROCESSABLE", "INSUFFICIENT_SCOPES":
			return true
		}
	}
	return false
}

func (e *graphqlError) forPeople() string {
	for _, k := range e.kinds {
		if k == "FORBIDDEN" || k == "INSUFFICIENT_SCOPES" {
			return "GitHub does not let the app do it; check that it has the permission \"pull_requests: write\", or press " +
				"“Ready for review” on the pull request"
		}
	}
	return "GitHub refused; press “Ready for review” on the pull request: " +
		scrubbedLine(strings.Join(e.messages, "; "))
}

// graphql carries out one GraphQL request and decodes its data into out.
func (r *Repo) graphql(ctx context.Context, query string, vars map[string]string, out any) error {
	req, err := r.gh.NewRequest("POST", r.app.graphql, map[string]any{"query": query, "variables": vars})
	if err != nil {
		return err
	}
	var answer struct {
		Data   any `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	answer.Data = out
	if _, err := r.gh.Do(ctx, req, &answer); err != nil {
		return err
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	e := &graphqlError{}
	for _, x := range answer.Errors {
		e.kinds = append(e.kinds, x.Type)
		e.messages = append(e.messages, x.Message)
	}
	return e
}
