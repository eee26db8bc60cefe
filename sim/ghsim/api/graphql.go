package api

import (
	"fmt"
	"regexp"
	"strings"

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
// refuses everything else as GitHub refuses an unknown field. Answers contain only the selected fields.
func graphql(c *call, in graphqlRequest) (answer, error) {
	c.points = points(in)
	all, err := c.answerGraphQL(in)
	if err != nil {
		return all, err
	}
	return selected(in.Query, all)
}

func (c *call) answerGraphQL(in graphqlRequest) (answer, error) {
	if !strings.HasPrefix(strings.TrimSpace(in.Query), "mutation") {
		c.reads = true
	}
	switch {
	case strings.Contains(in.Query, "closedByPullRequestsReferences"):
		return c.ofNamed(in.Variables, closing, "issues", "pull_requests", "contents")
	case strings.Contains(in.Query, "refUpdateRule"):
		return c.ofNamed(in.Variables, commitRules)
	case strings.Contains(in.Query, "checkSuites"):
		return c.ofNamed(in.Variables, headOf, "checks", "statuses", "contents", "pull_requests", "actions")
	}
	m := draftMutation.FindStringSubmatch(in.Query)
	if m == nil {
		return graphqlError("UNDEFINED_FIELD", "the simulator knows the mutations markPullRequestReadyForReview and "+
			"convertPullRequestToDraft, and the queries for closedByPullRequestsReferences, refUpdateRule and checkSuites"), nil
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
	return graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)), nil
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
	for _, p := range permissions {
		if !c.token.May(p, "read") {
			return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
		}
	}
	return tell(c, full, vars)
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
