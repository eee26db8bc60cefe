package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/sia"
)

// How long to use REST instead of GraphQL for looks, after GitHub refused the query and after it failed to answer it.
const (
	graphqlRefusedTTL = 10 * time.Minute
	graphqlFailedTTL  = time.Minute
)

// graphql sends requests of the GraphQL API on one repository.
type graphql struct {
	gh              *gh.Client
	url             string
	repo            sia.Repo
	refused, failed *expiring.Map[string, bool] // a query for a look
	warnHidden      func(context.Context)       // that apps are hidden; it warns once
}

func (a *App) newGraphQL(client *gh.Client, repo sia.Repo) *graphql {
	var once sync.Once
	warn := func(ctx context.Context) {
		once.Do(func() {
			a.log.WarnContext(ctx, "GitHub hides from SIA which app made some checks; REST is asked for it", "repo", repo)
		})
	}
	return &graphql{warnHidden: warn, gh: client, url: a.graphql, repo: repo,
		refused: expiring.New[string, bool](a.cfg.Now, graphqlRefusedTTL, 1),
		failed:  expiring.New[string, bool](a.cfg.Now, graphqlFailedTTL, 1)}
}

// available reports whether GraphQL has neither refused nor failed recently.
func (g *graphql) available() bool {
	_, refused := g.refused.Get("")
	_, failed := g.failed.Get("")
	return !refused && !failed
}

// avoid makes GraphQL unavailable for a while, after the error of a query.
func (g *graphql) avoid(err error) {
	if isRefusedQuery(err) {
		g.refused.Put("", true)
	} else {
		g.failed.Put("", true)
	}
}

// send sends a request and decodes its data into out. A response without errors has every selected field, null where
// GitHub's schema allows it. The app of a check suite is null also if the token may not see it, with an error for each.
// https://spec.graphql.org/October2021/#sec-Response-Format
// https://github.com/github/branch-deploy/issues/498
func (g *graphql) send(ctx context.Context, query string, vars map[string]any, out any) error {
	req, err := g.gh.NewRequest(http.MethodPost, g.url, map[string]any{"query": query, "variables": vars})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Path    []any  `json:"path"`
		} `json:"errors"`
	}
	if _, err := g.gh.Do(ctx, req, &answer); err != nil {
		return err
	}
	hidesMore := false // than the apps of check suites
	for _, x := range answer.Errors {
		hidesMore = hidesMore || x.Type != "FORBIDDEN" || len(x.Path) == 0 || x.Path[len(x.Path)-1] != "app"
	}
	if !hidesMore {
		if len(answer.Errors) > 0 {
			g.warnHidden(ctx)
		}
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

// graphqlQuery builds a query on one repository.
type graphqlQuery struct {
	variables, selections, fragments []string
	values                           map[string]any
}

func (q *graphqlQuery) add(variable, selection, name string, value any) {
	q.variables, q.selections = append(q.variables, variable), append(q.selections, selection)
	q.values[name] = value
}

func (q *graphqlQuery) String() string {
	return "query(" + strings.Join(q.variables, ", ") + ") { repository(owner: $owner, name: $name) { " +
		strings.Join(q.selections, " ") + " } } " + strings.Join(q.fragments, " ")
}

// query returns an empty query on the repository.
func (g *graphql) query() graphqlQuery {
	return graphqlQuery{variables: []string{"$owner: String!", "$name: String!"},
		values: map[string]any{"owner": g.repo.Owner, "name": g.repo.Name}}
}

// graphqlRepository sends a query on the repository and decodes the repository.
func graphqlRepository[T any](ctx context.Context, g *graphql, q graphqlQuery) (*T, error) {
	var data struct {
		Repository *T `json:"repository"`
	}
	err := g.send(readOnly(ctx), q.String(), q.values, &data)
	return data.Repository, require(err, data.Repository)
}

// graphqlError is a refusal in the body of a GraphQL response.
type graphqlError struct{ kinds, messages []string }

func (e *graphqlError) Error() string {
	return "GraphQL: " + scrubbedLine(strings.Join(e.messages, "; "))
}

// is reports whether GitHub gave one of some types of errors.
func (e *graphqlError) is(kinds ...string) bool {
	return slices.ContainsFunc(e.kinds, func(k string) bool { return slices.Contains(kinds, k) })
}

func (e *graphqlError) isPermanent() bool {
	return e.is("FORBIDDEN", "NOT_FOUND", "UNPROCESSABLE", "INSUFFICIENT_SCOPES")
}

// isServerError reports whether GitHub failed, and did not refuse.
func (e *graphqlError) isServerError() bool {
	return e.is("INTERNAL", "SERVICE_UNAVAILABLE") || slices.ContainsFunc(e.messages, func(m string) bool {
		return strings.Contains(strings.ToLower(m), "something went wrong")
	})
}

// isRefusedQuery reports whether GitHub refused a query, as an old server does, or because of a missing permission.
func isRefusedQuery(err error) bool {
	var refusal *graphqlError
	status := statusOf(err)
	return errors.As(err, &refusal) && !refusal.isServerError() || status >= 400 && status < 500
}
