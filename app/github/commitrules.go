package github

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// commitRulesTTL is how long to cache a branch's rules on commits.
const commitRulesTTL = time.Hour

// commitRulesSelection selects a branch's rules on commits: those of classic protection that non-administrators can
// see, and rule sets.
// https://docs.github.com/en/graphql/reference/objects#ref
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
const commitRulesSelection = ` webCommitSignoffRequired
	ref(qualifiedName: $ref) {
		refUpdateRule { requiresSignatures requiredStatusCheckContexts }
		rules(first: 100) { nodes { type parameters {
			... on CommitMessagePatternParameters { negate pattern }
			... on RequiredStatusChecksParameters { requiredStatusChecks { context } }
		} } }
	}`

// commitRulesAnswer is the repository's part of the response.
type commitRulesAnswer struct {
	SignOff *bool `json:"webCommitSignoffRequired"`
	Ref     *struct {
		Protection *struct {
			Signatures bool     `json:"requiresSignatures"`
			Checks     []string `json:"requiredStatusCheckContexts"`
		} `json:"refUpdateRule"`
		Rules struct {
			Nodes []struct {
				Type       string `json:"type"`
				Parameters struct {
					messagePattern
					Checks requiredContexts `json:"requiredStatusChecks"`
				} `json:"parameters"`
			} `json:"nodes"`
		} `json:"rules"`
	} `json:"ref"`
}

// messagePattern is a rule on commit messages.
type messagePattern struct {
	Negate  bool   `json:"negate"`
	Pattern string `json:"pattern"`
}

// requiredContexts are the required checks of a rule.
type requiredContexts []struct {
	Context string `json:"context"`
}

// signOff reports whether the rule requires a sign-off.
func (p messagePattern) signOff() bool {
	return !p.Negate && strings.Contains(strings.ToLower(p.Pattern), "signed-off-by")
}

// dcoCheck is the name of the DCO app's check, which requires sign-offs.
// https://github.com/dcoapp/app
const dcoCheck = "DCO"

func (a commitRulesAnswer) rules() sia.CommitRules {
	out := sia.CommitRules{SignOff: a.SignOff != nil && *a.SignOff}
	if a.Ref == nil {
		return out
	}
	if p := a.Ref.Protection; p != nil {
		out.Signed = p.Signatures
		for _, c := range p.Checks {
			out.SignOff = out.SignOff || c == dcoCheck
		}
	}
	for _, rule := range a.Ref.Rules.Nodes {
		addCommitRule(&out, strings.ToLower(rule.Type), rule.Parameters.messagePattern, rule.Parameters.Checks)
	}
	return out
}

// addCommitRule adds the requirements of one rule on commits to out.
func addCommitRule(out *sia.CommitRules, kind string, p messagePattern, checks requiredContexts) {
	out.Signed = out.Signed || kind == "required_signatures"
	out.SignOff = out.SignOff || kind == "commit_message_pattern" && p.signOff()
	for _, c := range checks {
		out.SignOff = out.SignOff || c.Context == dcoCheck
	}
}

// CommitRules returns the rules of a branch on commits that are merged into it. [Repo.Closing] reads them in the same
// request, and they are cached for an hour. Rules that GitHub hides are ignored.
func (r *Repo) CommitRules(ctx context.Context, branch string) (sia.CommitRules, error) {
	if got, ok := r.commits.get(branch); ok {
		return got, nil
	}
	q := r.query()
	q.add("$ref: String!", commitRulesSelection, "ref", "refs/heads/"+branch)
	got, err := graphqlRepository[commitRulesAnswer](ctx, r, q)
	var out sia.CommitRules
	if err == nil && got.SignOff != nil {
		out = got.rules()
	} else if out, err = r.commitRulesOverREST(ctx, branch); err != nil { // REST has its own limits and servers
		return sia.CommitRules{}, r.fail(err, "read what %s of %s asks of commits", branch, r.repo)
	}
	r.commits.put(branch, out)
	return out, nil
}

// isRefusedQuery reports whether GitHub refused a query, as an old server does, or because of a missing permission.
func isRefusedQuery(err error) bool {
	var refusal *graphqlError
	status := statusOf(err)
	return errors.As(err, &refusal) && !refusal.isServerError() || status >= 400 && status < 500
}

// commitRulesOverREST reads the rule sets alone: over REST, non-administrators can't see whether classic protection
// requires signatures.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (r *Repo) commitRulesOverREST(ctx context.Context, branch string) (out sia.CommitRules, err error) {
	for rule, err := range r.branchRules(ctx, branch) {
		if hiddenFromApp(err) {
			return out, nil
		}
		var p struct {
			messagePattern
			Checks requiredContexts `json:"required_status_checks"`
		}
		if err == nil && len(rule.Parameters) > 0 {
			err = json.Unmarshal(rule.Parameters, &p)
		}
		if err != nil {
			return out, err
		}
		addCommitRule(&out, rule.Type, p.messagePattern, p.Checks)
	}
	return out, nil
}
