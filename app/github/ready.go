package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
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
	err := r.graphql(ctx, mutation, vars, &done)
	err = require(err, cmp.Or(done.Ready, done.Draft))
	var refusal *graphqlError
	if !errors.As(err, &refusal) {
		return r.fail(err, "%s", op+r.repo.String())
	}
	// GitHub refuses a change to the state that the pull request already has.
	var now struct {
		Node struct {
			IsDraft *bool `json:"isDraft"`
		} `json:"node"`
	}
	if qerr := r.graphql(ctx, draftQuery, vars, &now); qerr == nil && now.Node.IsDraft != nil &&
		*now.Node.IsDraft == want {
		return nil
	}
	return &sia.Error{
		Op: op + r.repo.String(), Message: refusal.message(want), Permanent: refusal.isPermanent(),
		Err: &redactedError{refusal},
	}
}

// graphqlError is a refusal in the body of a GraphQL response.
type graphqlError struct{ kinds, messages []string }

func (e *graphqlError) Error() string {
	return "GraphQL: " + scrubbedLine(strings.Join(e.messages, "; "))
}

func (e *graphqlError) isPermanent() bool {
	for _, k := range e.kinds {
		switch k {
		case "FORBIDDEN", "NOT_FOUND", "UNPROCESSABLE", "INSUFFICIENT_SCOPES":
			return true
		}
	}
	return false
}

// isServerError reports whether GitHub failed, and did not refuse.
func (e *graphqlError) isServerError() bool {
	return slices.ContainsFunc(e.kinds, func(k string) bool {
		return k == "INTERNAL" || k == "SERVICE_UNAVAILABLE"
	}) || slices.ContainsFunc(e.messages, func(m string) bool {
		return strings.Contains(strings.ToLower(m), "something went wrong")
	})
}

// message returns what a user can do about it; draft is the wanted state.
func (e *graphqlError) message(draft bool) string {
	press := "press “Ready for review” on the pull request"
	if draft {
		press = "press “Convert to draft” on the pull request"
	}
	for _, k := range e.kinds {
		if k == "FORBIDDEN" || k == "INSUFFICIENT_SCOPES" {
			return "GitHub does not let the app do it; check that it has the permissions \"pull_requests: write\" and " +
				"\"contents: write\", or " + press
		}
	}
	return "GitHub refused; " + press + ": " + scrubbedLine(strings.Join(e.messages, "; "))
}

// graphqlRepository sends a GraphQL query on the repository and decodes the repository.
func graphqlRepository[T any](ctx context.Context, r *Repo, q graphqlQuery) (*T, error) {
	var data struct {
		Repository *T `json:"repository"`
	}
	err := r.graphql(readOnly(ctx), q.String(), q.values, &data)
	return data.Repository, require(err, data.Repository)
}

// graphql sends a GraphQL request and decodes its data into out. A response without errors has every selected field,
// null where GitHub's schema allows it.
// https://spec.graphql.org/October2021/#sec-Response-Format
func (r *Repo) graphql(ctx context.Context, query string, vars map[string]any, out any) error {
	req, err := r.gh.NewRequest("POST", r.app.graphql, map[string]any{"query": query, "variables": vars})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if _, err := r.gh.Do(ctx, req, &answer); err != nil {
		return err
	}
	if len(answer.Errors) == 0 {
		if len(answer.Data) == 0 || bytes.Equal(answer.Data, []byte("null")) {
			return errIncomplete
		}
		return json.Unmarshal(answer.Data, out)
	}
	e := &graphqlError{}
	for _, x := range answer.Errors {
		e.kinds = append(e.kinds, x.Type)
		e.messages = append(e.messages, x.Message)
	}
	return e
}
