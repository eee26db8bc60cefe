package api

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// commitRules answers a branch's requirements on commits: whether the repository requires sign-offs, the public part of
// the branch's protection, and its rules; with number the state of a pull request, with branch and base_name what
// reported near that branch. It also uses the variables owner, name and ref.
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
func commitRules(c *call, full string, vars map[string]any) (answer, error) {
	r := c.repo
	if r.RulesHidden != 0 {
		return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
	}
	repository := ruledRef(r, vars)
	c.nearBranch(repository, vars)
	if number, _ := vars["number"].(float64); number > 0 {
		if !c.token.May("pull_requests", "read") {
			return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
		}
		pull := r.Issue(int(number))
		if pull == nil || pull.Pull == nil || c.unknown(fmt.Sprintf("%s#%d", full, int(number))) {
			return c.noPull(repository, int(number)), nil
		}
		repository["pullRequest"] = object{"state": pullState(pull), "headRefOid": pull.Pull.HeadSHA,
			"baseRefName": pull.Pull.Base, "commits": c.lastCommit(pull)}
	}
	return ok(object{"data": object{"repository": repository}}), nil
}

// ruledRef is the part of the answer with the rules of the branch in the variable ref.
func ruledRef(r *model.Repository, vars map[string]any) object {
	branch, isBranch := strings.CutPrefix(fmt.Sprint(vars["ref"]), "refs/heads/")
	if !isBranch || r.Head(branch) == "" {
		return object{"webCommitSignoffRequired": r.SignOff, "ref": nil}
	}
	var protection any
	also := r.Classic[branch]
	if contexts := r.Protection[branch]; len(contexts) > 0 || also != (model.Classic{}) {
		if contexts == nil {
			contexts = []string{}
		}
		protection = object{"requiresSignatures": also.Signatures, "requiresLinearHistory": also.LinearHistory,
			"requiresConversationResolution": also.Conversations, "requiredStatusCheckContexts": contexts}
	}
	nodes := []object{}
	for _, x := range r.Rules[branch] {
		parameters := camelKeys(r.Printed(branch, x))
		if p, is := parameters.(object); is {
			checks, _ := p["requiredStatusChecks"].([]any)
			for _, c := range checks { // where REST omits the app, this is null
				if check, is := c.(object); is && check["integrationId"] == nil {
					check["integrationId"] = nil
				}
			}
		}
		nodes = append(nodes, object{"type": strings.ToUpper(x.Type), "parameters": parameters})
	}
	return object{"webCommitSignoffRequired": r.SignOff, "ref": object{"refUpdateRule": protection,
		"rules": object{"nodes": nodes}}}
}

// camelKeys spells the names in a rule's parameters as GraphQL does.
func camelKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := object{}
		for name, x := range v {
			out[camel(name)] = camelKeys(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = camelKeys(x)
		}
		return out
	}
	return v
}

// camel spells a name of the REST API as GraphQL does.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if i > 0 && w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
