package github

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// commitRulesTTL is how long to cache a branch's rules on commits.
const commitRulesTTL = time.Hour

// commitRulesSelection selects a branch's rules on commits: those of classic protection that non-administrators can
// see, with its other rules, and rule sets.
// https://docs.github.com/en/graphql/reference/objects#ref
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
const commitRulesSelection = ` webCommitSignoffRequired
	ref(qualifiedName: $ref) {
		refUpdateRule {
			requiresSignatures requiresLinearHistory requiresConversationResolution requiredStatusCheckContexts
		}
		rules(first: 100) { nodes { type parameters {
			... on CommitMessagePatternParameters { negate pattern }
			... on RequiredStatusChecksParameters { required_status_checks: requiredStatusChecks { context } }
		} } }
	}`

// commitRulesAnswer is the repository's part of the response.
type commitRulesAnswer struct {
	SignOff *bool `json:"webCommitSignoffRequired"`
	Ref     *struct {
		Protection *struct {
			Signatures    bool     `json:"requiresSignatures"`
			LinearHistory bool     `json:"requiresLinearHistory"`
			Conversations bool     `json:"requiresConversationResolution"`
			Checks        []string `json:"requiredStatusCheckContexts"`
		} `json:"refUpdateRule"`
		Rules graphqlConnection[branchRule] `json:"rules"`
	} `json:"ref"`
}

// dcoCheck is the name of the DCO app's check, which requires sign-offs.
// https://github.com/dcoapp/app
const dcoCheck = "DCO"

func (a commitRulesAnswer) rules() (out sia.CommitRules, err error) {
	if a.SignOff == nil {
		return out, errIncomplete
	}
	if out.SignOff = *a.SignOff; a.Ref == nil {
		return out, nil
	}
	if p := a.Ref.Protection; p != nil {
		out.Signed, out.LinearHistory, out.Conversations = p.Signatures, p.LinearHistory, p.Conversations
		for _, c := range p.Checks {
			out.SignOff = out.SignOff || c == dcoCheck
		}
	}
	for _, rule := range a.Ref.Rules.Nodes {
		if err := rule.addTo(&out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// addTo adds a rule's requirements on commits to out.
func (b branchRule) addTo(out *sia.CommitRules) error {
	var p struct {
		Negate  bool   `json:"negate"`
		Pattern string `json:"pattern"`
		Checks  []struct {
			Context string `json:"context"`
		} `json:"required_status_checks"`
	}
	if len(b.Parameters) > 0 {
		if err := json.Unmarshal(b.Parameters, &p); err != nil {
			return err
		}
	}
	kind := b.kind()
	out.Signed = out.Signed || kind == "required_signatures"
	out.SignOff = out.SignOff || kind == "commit_message_pattern" && !p.Negate &&
		strings.Contains(strings.ToLower(p.Pattern), "signed-off-by")
	for _, c := range p.Checks {
		out.SignOff = out.SignOff || c.Context == dcoCheck
	}
	return nil
}

// OnCommits returns the rules of a branch on commits that are merged into it. [Repo.Closing] reads them in the same
// request, and they are cached for an hour. Rules that GitHub hides are ignored.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (s *Rules) OnCommits(ctx context.Context, branch string) (sia.CommitRules, error) {
	if got, ok := s.commits.Get(branch); ok {
		return got, nil
	}
	q := s.graphql.query()
	q.add("$ref: String!", commitRulesSelection, "ref", "refs/heads/"+branch)
	got, err := graphqlRepository[commitRulesAnswer](ctx, s.graphql, q)
	var out sia.CommitRules
	if err == nil {
		out, err = got.rules()
	}
	if err != nil {
		// REST has its own limits and servers. It has the rule sets alone: there, non-administrators can't see whether
		// classic protection requires signatures.
		out = sia.CommitRules{}
		_, err = s.each(ctx, branch, func(rule branchRule) error { return rule.addTo(&out) })
	}
	if err != nil {
		return sia.CommitRules{}, s.app.failure(err, "read what %s of %s asks of commits", branch, s.repo)
	}
	s.commits.Put(branch, out)
	return out, nil
}
