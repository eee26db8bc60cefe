package api

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// graphqlRequest is the body of a GraphQL request.
type graphqlRequest struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

var (
	draftMutation = regexp.MustCompile(`\b(markPullRequestReadyForReview|convertPullRequestToDraft)` +
		`\s*\(\s*input\s*:\s*(\{[^}]*\}|\$\w+)`)
	inlinePullID = regexp.MustCompile(`pullRequestId\s*:\s*(?:"([^"]+)"|\$(\w+))`)
)

// graphql answers two mutations that REST lacks, queries about closing an issue and about a commit's checks, and
// refuses everything else as GitHub refuses an unknown field. Answers contain only the selected fields and pages.
func graphql(c *call, in graphqlRequest) (answer, error) {
	c.points = 1
	doc, err := parser.ParseQuery(&ast.Source{Input: in.Query})
	if err != nil {
		return graphqlError("GRAPHQL_PARSE_ERROR", err.Error()), nil
	}
	if len(doc.Operations) != 1 {
		return graphqlError("GRAPHQL_PARSE_ERROR", "the simulator takes one operation"), nil
	}
	q := &query{graphqlRequest: in, doc: doc, op: doc.Operations[0]}
	c.points = q.points()
	if q.refusal != nil {
		return *q.refusal, nil
	}
	all, err := c.answerGraphQL(q)
	if err != nil {
		return all, err
	}
	return q.selected(all)
}

// query is a parsed GraphQL request.
type query struct {
	graphqlRequest
	doc     *ast.QueryDocument
	op      *ast.OperationDefinition
	refusal *answer // of its pages; nil: none
}

// argument is the value of a field's argument; nil without one.
func (q *query) argument(f *ast.Field, name string) any {
	a := f.Arguments.ForName(name)
	if a == nil {
		return nil
	}
	value, err := a.Value.Value(q.Variables)
	if err != nil {
		return nil
	}
	return value
}

func (q *query) refuse(kind, format string, args ...any) {
	a := graphqlError(kind, fmt.Sprintf(format, args...))
	q.refusal = &a
}

func (c *call) answerGraphQL(in *query) (answer, error) {
	c.reads = in.op.Operation == ast.Query
	first, _ := in.op.SelectionSet[0].(*ast.Field)
	switch {
	case first != nil && first.Name == "node":
		return c.nodesOf(in)
	case strings.Contains(in.Query, "closedByPullRequestsReferences"):
		return c.ofNamed(in.Variables, closing, "issues", "pull_requests", "contents")
	case strings.Contains(in.Query, "refUpdateRule"):
		return c.ofNamed(in.Variables, commitRules)
	case strings.Contains(in.Query, "checkSuites"):
		return c.ofNamed(in.Variables, headOf, headPermissions...)
	}
	m := draftMutation.FindStringSubmatch(in.Query)
	if m == nil {
		return graphqlError("UNDEFINED_FIELD", "the simulator knows the mutations markPullRequestReadyForReview and "+
			"convertPullRequestToDraft, and the queries for closedByPullRequestsReferences, refUpdateRule, checkSuites and "+
			"node"), nil
	}
	id := pullID(m[2], in.Variables)
	for _, r := range c.world.Repositories() {
		for _, i := range r.Issues {
			if i.Pull == nil || payload.NodeID("PR", i.ID) != id || !c.token.Has(r) {
				continue
			}
			if !c.token.May("pull_requests", "write") || !c.token.May("contents", "write") {
				return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
			}
			if i.State != "open" {
				return graphqlError("UNPROCESSABLE", "Pull request is closed"), nil
			}
			draft := m[1] == "convertPullRequestToDraft"
			if draft && r.NoDrafts {
				return graphqlError("UNPROCESSABLE", world.NoDrafts), nil
			}
			c.world.SetDraft(r, i, c.actor(), draft)
			pull := object{"id": id, "number": i.Number, "isDraft": i.Pull.Draft,
				"url": c.shape.HTML("/%s/pull/%d", r.FullName(), i.Number)}
			return ok(object{"data": object{m[1]: object{"clientMutationId": nil, "pullRequest": pull}}}), nil
		}
	}
	return noNode(id), nil
}

func noNode(id string) answer {
	return graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id))
}

// ofNamed answers about the repository in the variables owner and name, if the token may read the permissions.
func (c *call) ofNamed(
	vars map[string]any, tell func(*call, string, map[string]any) (answer, error), permissions ...string,
) (answer, error) {
	full := fmt.Sprintf("%v/%v", vars["owner"], vars["name"])
	c.repo = c.world.Repository(full)
	if c.repo == nil || c.repo.Private && !c.token.Has(c.repo) {
		return graphqlError("NOT_FOUND", "Could not resolve to a Repository with the name '"+full+"'."), nil
	}
	if !c.mayRead(permissions) {
		return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
	}
	return tell(c, full, vars)
}

func (c *call) mayRead(permissions []string) bool {
	return !slices.ContainsFunc(permissions, func(p string) bool { return !c.token.May(p, "read") })
}

// pullID finds the pull request's id in the mutation's input: literal, in a variable, or in a variable that is the
// input.
func pullID(input string, vars map[string]any) string {
	if name, is := strings.CutPrefix(input, "$"); is {
		if o, is := vars[name].(map[string]any); is {
			return fmt.Sprint(o["pullRequestId"])
		}
		return ""
	}
	m := inlinePullID.FindStringSubmatch(input)
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return m[1]
	}
	return fmt.Sprint(vars[m[2]])
}

func graphqlError(kind, message string) answer {
	return ok(object{"data": nil, "errors": []object{{"type": kind, "message": message, "path": []string{},
		"locations": []object{}}}})
}
