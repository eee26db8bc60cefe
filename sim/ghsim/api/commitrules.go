package api

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// commitRules answers what a branch asks of commits: that the repository wants sign-offs, what the
// branch's protection wants as far as everybody may see it, and its rules. It goes by the variables
// owner, name and ref.
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
func commitRules(c *call, vars map[string]any) (answer, error) {
	full := fmt.Sprintf("%v/%v", vars["owner"], vars["name"])
	r := c.world.Repository(full)
	if r == nil || !c.token.Has(r) {
		return graphqlError("NOT_FOUND", "Could not resolve to a Repository with the name '"+full+"'."), nil
	}
	if r.RulesHidden != 0 {
		return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
	}
	return ok(object{"data": object{"repository": ruledRef(r, vars)}}), nil
}

// ruledRef is the part of the answer that tells the rules of the branch in the variable ref.
func ruledRef(r *model.Repository, vars map[string]any) object {
	branch, isBranch := strings.CutPrefix(fmt.Sprint(vars["ref"]), "refs/heads/")
	if !isBranch || r.Head(branch) == "" {
		return object{"webCommitSignoffRequired": r.SignOff, "ref": nil}
	}
	var protection any
	if contexts := r.Protection[branch]; len(contexts) > 0 || r.SignedOnly[branch] {
		if contexts == nil {
			contexts = []string{}
		}
		protection = object{"requiresSignatures": r.SignedOnly[branch], "requiredStatusCheckContexts": contexts}
	}
	nodes := []object{}
	for _, x := range r.Rules[branch] {
		p := object{}
		for name, v := range r.Printed(branch, x) {
			p[camel(name)] = v
		}
		nodes = append(nodes, object{"type": strings.ToUpper(x.Type), "parameters": p})
	}
	return object{"webCommitSignoffRequired": r.SignOff, "ref": object{"refUpdateRule": protection,
		"rules": object{"nodes": nodes}}}
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
