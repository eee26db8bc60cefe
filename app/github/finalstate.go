package github

import (
	"context"
	"slices"
)

// The query for the state of a pull request and the requirements of its base branch: the rule sets, and whether
// classic protection names checks at all. Only REST has the apps of those checks.
// https://docs.github.com/en/graphql/reference/objects#ref
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
const (
	finalStatePull = ` pullRequest(number: $number) {
		state headRefOid baseRefName
		commits(last: 1) { nodes { commit { oid author { name user { login databaseId } } } } }
	}`
	finalStateRules = ` ref(qualifiedName: $ref) {
		refUpdateRule { requiredStatusCheckContexts }
		rules(first: 100) { pageInfo { hasNextPage } nodes { type parameters {
			... on RequiredStatusChecksParameters {
				strict_required_status_checks_policy: strictRequiredStatusChecksPolicy
				required_status_checks: requiredStatusChecks { context integration_id: integrationId }
			}
			... on PullRequestParameters { required_review_thread_resolution: requiredReviewThreadResolution }
			... on WorkflowsParameters { workflows { path repository_id: repositoryId } }
		} } }
	}`
)

// ruledRef is a branch in the response.
type ruledRef struct {
	Protection *struct {
		Checks []string `json:"requiredStatusCheckContexts"`
	} `json:"refUpdateRule"`
	Rules graphqlConnection[branchRule] `json:"rules"`
}

// FinalState is the state that may change while a commit is judged.
type FinalState struct {
	Pull     PullState
	Required Requirements // of the pull request's base branch
	History  History      // near that branch; unknown if the requirements name checks
}

// FinalState reads the current state for the final check. It takes one request if the requirements are the ones that
// [Rules.Required] cached less than a minute ago. If they are not, if classic protection names checks, or if GraphQL
// fails, it reads the state over REST.
func (s *Checks) FinalState(ctx context.Context, number int, branch string) (FinalState, error) {
	if w, ok := s.finalStateGraphQL(ctx, number, branch); ok {
		return w, nil
	}
	required, err := s.rules.FetchRequired(ctx, branch)
	if err != nil {
		return FinalState{}, err
	}
	w := FinalState{Required: required}
	if !required.Known || len(required.All) == 0 {
		if w.History, err = s.fetchHistory(ctx, branch); err != nil {
			return w, err
		}
	}
	_, w.Pull, err = s.fetchPull(ctx, number)
	return w, err
}

type finalStateAnswer struct {
	PullRequest *pullNode `json:"pullRequest"`
	Ref         *ruledRef `json:"ref"`
	nearBranch
}

// finalStateGraphQL is FinalState in one request. ok is false if the response is incomplete.
func (s *Checks) finalStateGraphQL(ctx context.Context, number int, branch string) (w FinalState, ok bool) {
	known, cached := s.rules.required.Get(branch)
	if !cached || !known.Known || !s.graphql.available() {
		return w, false
	}
	query := s.graphql.query()
	query.add("$number: Int!", finalStatePull, "number", number)
	query.add("$ref: String!", finalStateRules, "ref", "refs/heads/"+branch)
	query.addHistory(branch)
	got, err := graphqlWhole[finalStateAnswer](ctx, s.graphql, query)
	if err != nil {
		s.app.log.DebugContext(ctx, "the last word is read over REST", "error", err)
		return w, false
	}
	if got.PullRequest == nil || got.Ref == nil {
		return w, false
	}
	now, complete, err := s.rules.requirements(ctx, *got.Ref)
	if err != nil || !complete || now.Strict != known.Strict || !slices.Equal(now.All, known.All) ||
		!slices.Equal(now.Others, known.Others) {
		return w, false
	}
	var look Look
	look.setPullState(got.PullRequest)
	w = FinalState{Pull: look.Pull, Required: now}
	w.History, err = s.historyOf(branch, got.nearBranch)
	return w, err == nil
}

// requirements returns a branch's requirements. complete is false if the response does not have all of them.
func (s *Rules) requirements(ctx context.Context, ref ruledRef) (out Requirements, complete bool, err error) {
	if !ref.Rules.isWhole() || ref.Protection != nil && len(ref.Protection.Checks) > 0 {
		return out, false, nil
	}
	out.Known = true
	for _, rule := range ref.Rules.Nodes {
		if err := s.addRule(ctx, &out, rule); err != nil {
			return out, false, err
		}
	}
	out.sort()
	return out, true, nil
}
