package github

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// lastWordSelection asks how a pull request is, and what its base branch requires: the rules, and of classic
// protection whether it names checks at all, for which of their apps it wants them is told in REST alone.
// https://docs.github.com/en/graphql/reference/objects#ref
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
const lastWordSelection = ` pullRequest(number: $number) {
		state headRefOid baseRefName
		commits(last: 1) { nodes { commit { oid author { name user { login databaseId } } } } }
	}
	ref(qualifiedName: $ref) {
		refUpdateRule { requiredStatusCheckContexts }
		rules(first: 100) { pageInfo { hasNextPage } nodes { type parameters {
			... on RequiredStatusChecksParameters {
				strictRequiredStatusChecksPolicy requiredStatusChecks { context integrationId }
			}
			... on WorkflowsParameters { workflows { path repositoryId } }
		} } }
	}`

// ruledRef is a branch as that query tells it.
type ruledRef struct {
	Protection *struct {
		Checks []string `json:"requiredStatusCheckContexts"`
	} `json:"refUpdateRule"`
	Rules graphqlConnection[struct {
		Type       string          `json:"type"`
		Parameters json.RawMessage `json:"parameters"`
	}] `json:"rules"`
}

// LastWord reads what may change while a commit is judged: the pull request, and what the branch that it is to be
// merged into requires. It is one request where the rules are as [Repo.Required] told them less than a minute ago;
// where they are not, where classic protection names checks, and where GraphQL does not tell, both are read over REST.
func (r *Repo) LastWord(ctx context.Context, number int, branch string) (PullState, Requirements, error) {
	if pull, required, ok := r.lastWordAtOnce(ctx, number, branch); ok {
		return pull, required, nil
	}
	required, err := r.RequiredNow(ctx, branch)
	if err != nil {
		return PullState{}, Requirements{}, err
	}
	pull, err := r.PullNow(ctx, number)
	return pull, required, err
}

// lastWordAtOnce is LastWord in one request. ok is false where that does not tell all.
func (r *Repo) lastWordAtOnce(ctx context.Context, number int, branch string) (p PullState, q Requirements, ok bool) {
	known, remembered := r.required.get(branch)
	_, refused := r.noLook.get("")
	_, failed := r.noLookNow.get("")
	if !remembered || !known.Known || refused || failed {
		return p, q, false
	}
	query := graphqlQuery{variables: []string{"$owner: String!", "$name: String!", "$number: Int!"},
		values: map[string]any{"owner": r.repo.Owner, "name": r.repo.Name, "number": number}}
	query.add("$ref: String!", lastWordSelection, "ref", "refs/heads/"+branch)
	var got struct {
		Repository struct {
			PullRequest *pullNode `json:"pullRequest"`
			Ref         *ruledRef `json:"ref"`
		} `json:"repository"`
	}
	if err := r.graphql(reading(ctx), query.String(), query.values, &got); err != nil {
		r.app.log.DebugContext(ctx, "the last word is read over REST", "error", err)
		return p, q, false
	}
	if got.Repository.PullRequest == nil || got.Repository.Ref == nil {
		return p, q, false
	}
	now, whole, err := r.requirements(ctx, *got.Repository.Ref)
	if err != nil || !whole || now.Strict != known.Strict || !slices.Equal(now.All, known.All) ||
		!slices.Equal(now.Others, known.Others) {
		return p, q, false
	}
	var look Look
	look.takeState(got.Repository.PullRequest)
	return look.Pull, now, true
}

// requirements are those of a branch. whole is false where the answer does not hold all of them.
func (r *Repo) requirements(ctx context.Context, ref ruledRef) (out Requirements, whole bool, err error) {
	if ref.Rules.PageInfo.HasNextPage || ref.Protection != nil && len(ref.Protection.Checks) > 0 {
		return out, false, nil
	}
	out.Known = true
	for _, rule := range ref.Rules.Nodes {
		var p struct {
			Checks []struct {
				Context string `json:"context"`
				App     int64  `json:"integrationId"`
			} `json:"requiredStatusChecks"`
			Strict    bool `json:"strictRequiredStatusChecksPolicy"`
			Workflows []struct {
				Path       string `json:"path"`
				Repository int64  `json:"repositoryId"`
			} `json:"workflows"`
		}
		if len(rule.Parameters) > 0 {
			if err := json.Unmarshal(rule.Parameters, &p); err != nil {
				return out, false, err
			}
		}
		wants := ruleWants{strict: p.Strict}
		for _, c := range p.Checks {
			wants.checks = append(wants.checks, Requirement{Name: c.Context, AppID: max(0, c.App)})
		}
		for _, w := range p.Workflows {
			wants.workflows = append(wants.workflows, workflowOf{w.Path, w.Repository})
		}
		if err := r.takeRule(ctx, &out, strings.ToLower(rule.Type), wants); err != nil {
			return out, false, err
		}
	}
	out.sort()
	return out, true, nil
}
