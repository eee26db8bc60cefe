package github

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/gate"
)

// The last word asks how a pull request is, and what its base branch requires: the rules, and of classic
// protection whether it names checks at all, for which of their apps it wants them is told in REST alone.
// https://docs.github.com/en/graphql/reference/objects#ref
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
const (
	lastWordPull = ` pullRequest(number: $number) {
		state headRefOid baseRefName
		commits(last: 1) { nodes { commit { oid author { name user { login databaseId } } } } }
	}`
	lastWordRules = ` ref(qualifiedName: $ref) {
		refUpdateRule { requiredStatusCheckContexts }
		rules(first: 100) { pageInfo { hasNextPage } nodes { type parameters {
			... on RequiredStatusChecksParameters {
				strictRequiredStatusChecksPolicy requiredStatusChecks { context integrationId }
			}
			... on WorkflowsParameters { workflows { path repositoryId } }
		} } }
	}`
)

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

// LastWord is what may change while a commit is judged.
type LastWord struct {
	Pull     PullState
	Required Requirements // of the branch that the pull request is to be merged into
	History  History      // near that branch; not known where the rules say what counts
}

// LastWord reads it. It is one request where the rules are as [Repo.Required] told them less than a minute ago; where
// they are not, where classic protection names checks, and where GraphQL does not tell, it is read over REST.
func (r *Repo) LastWord(ctx context.Context, number int, branch string) (LastWord, error) {
	if w, ok := r.lastWordAtOnce(ctx, number, branch); ok {
		return w, nil
	}
	required, err := r.RequiredNow(ctx, branch)
	if err != nil {
		return LastWord{}, err
	}
	w := LastWord{Required: required}
	if !required.Known || len(required.All) == 0 {
		if w.History, err = r.historyNow(ctx, branch); err != nil {
			return w, err
		}
	}
	_, w.Pull, err = r.pullNow(ctx, number)
	return w, err
}

type lastWordAnswer struct {
	Repository struct {
		PullRequest *pullNode `json:"pullRequest"`
		Ref         *ruledRef `json:"ref"`
		nearBranch
	} `json:"repository"`
}

// lastWordAtOnce is LastWord in one request. ok is false where that does not tell all.
func (r *Repo) lastWordAtOnce(ctx context.Context, number int, branch string) (w LastWord, ok bool) {
	known, remembered := r.required.get(branch)
	if !remembered || !known.Known || !r.looksAtOnce() {
		return w, false
	}
	query := r.query()
	query.add("$number: Int!", lastWordPull, "number", number)
	query.add("$ref: String!", lastWordRules, "ref", "refs/heads/"+branch)
	query.addHistory(branch)
	var got lastWordAnswer
	if err := r.graphql(readOnly(ctx), query.String(), query.values, &got); err != nil {
		r.app.log.DebugContext(ctx, "the last word is read over REST", "error", err)
		return w, false
	}
	if got.Repository.PullRequest == nil || got.Repository.Ref == nil {
		return w, false
	}
	now, whole, err := r.requirements(ctx, *got.Repository.Ref)
	if err != nil || !whole || now.Strict != known.Strict || !slices.Equal(now.All, known.All) ||
		!slices.Equal(now.Others, known.Others) {
		return w, false
	}
	var look Look
	look.takeState(got.Repository.PullRequest)
	w = LastWord{Pull: look.Pull, Required: now}
	if w.History, err = r.historyOf(ctx, got.Repository.nearBranch); err != nil {
		return w, false
	}
	r.histories.put(branch, w.History)
	return w, true
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
			wants.checks = append(wants.checks, gate.Required{Name: c.Context, App: max(0, c.App)})
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
