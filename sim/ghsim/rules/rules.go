// Package rules determines what blocks a merge on a simulated GitHub: the branch's protection and rules, conflicts, and
// the merge state that combines them.
package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// History reads a repository's commits from git.
type History interface {
	IsAncestor(dir, a, b string) bool
	CommitsIn(dir string, revs ...string) ([]git.Commit, error)
	MergeTree(dir, base, head string) (tree string, ok bool)
}

// State is how an open pull request can be merged, as the REST API spells it. merge is its
// test merge, "" where there is none.
//
// The states are documented, their order is not. A branch that is behind and blocked for another reason is reported as
// blocked.
// https://docs.github.com/en/graphql/reference/pulls#enum-mergestatestatus
// https://github.com/github/branch-deploy/pull/97
func State(of History, r *model.Repository, i *model.Issue) string {
	p := i.Pull
	base := r.Head(p.Base)
	_, clean := of.MergeTree(r.Dir, base, p.HeadSHA)
	merge := r.TestMerges[base+p.HeadSHA]
	switch {
	case !clean:
		return "dirty"
	case p.Draft:
		return "draft"
	case Blocks(of, r, i) != "":
		return "blocked"
	case r.UpToDate(p.Base) && !of.IsAncestor(r.Dir, base, p.HeadSHA):
		return "behind"
	case !passing(r, p.HeadSHA, merge):
		return "unstable"
	case r.Hooks:
		return "has_hooks"
	}
	return "clean"
}

// Blocks is the first unmet requirement of a rule or the protection of its base for a pull request, in GitHub's words
// where they are known; empty: none.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
func Blocks(of History, r *model.Repository, i *model.Issue) string {
	p := i.Pull
	merge := r.TestMerges[r.Head(p.Base)+p.HeadSHA]
	for _, want := range r.RequiredChecks(p.Base) {
		if !satisfied(r, want, p.HeadSHA, merge) {
			return fmt.Sprintf("Required status check %q is expected.", want.Context)
		}
	}
	for _, want := range r.RequiredWorkflows(p.Base) {
		if !ran(r, want, p.HeadSHA) {
			return fmt.Sprintf("Required workflow %q is expected.", want.Path)
		}
	}
	if r.Classic[p.Base].Signatures && !signed(of, r, i) {
		return unsigned
	}
	if r.Resolves(p.Base) && slices.ContainsFunc(p.Threads, func(c *model.ReviewComment) bool {
		return c.ReplyTo == 0 && !c.Resolved
	}) {
		return "All comments must be resolved."
	}
	for _, rule := range r.Rules[p.Base] {
		if why := unmet(of, r, i, rule); why != "" {
			return why
		}
	}
	return ""
}

// unmet explains why a pull request violates a rule that no check fulfils.
func unmet(of History, r *model.Repository, i *model.Issue, rule model.Rule) string {
	switch rule.Type {
	case model.RuleSignatures:
		if !signed(of, r, i) {
			return unsigned
		}
	case model.RuleMessage:
		if !All(of, r, i.Pull.Base, i.Pull.HeadSHA, func(c git.Commit) bool { return MessageFits(rule, c.Message) }) {
			return "Commit message does not match the pattern that is required."
		}
	case model.RuleDeployments: // nothing is deployed here
		return "Required deployments have not succeeded."
	case model.RuleScanning: // nothing is scanned here
		return "Code scanning is waiting for results."
	case model.RuleQueue:
		return "Changes must be made through the merge queue."
	case model.RulePull:
		if wanted := approvals(rule); approved(i) < wanted {
			return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", wanted)
		}
	}
	return ""
}

// unsigned is GitHub's message for a pull request with an unsigned commit.
const unsigned = "Commits must have verified signatures."

// signed reports whether every commit of a pull request is signed.
func signed(of History, r *model.Repository, i *model.Issue) bool {
	return All(of, r, i.Pull.Base, i.Pull.HeadSHA, func(c git.Commit) bool { return r.Signed[c.SHA] })
}

// All reports whether every commit that a merge would add to a branch satisfies a condition.
func All(of History, r *model.Repository, base, head string, wanted func(git.Commit) bool) bool {
	commits, err := of.CommitsIn(r.Dir, head, "^"+r.Head(base))
	return err == nil && !slices.ContainsFunc(commits, func(c git.Commit) bool { return !wanted(c) })
}

// MessageFits reports whether a commit's message satisfies a rule.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func MessageFits(rule model.Rule, message string) bool {
	pattern, _ := rule.Parameters["pattern"].(string)
	negate, _ := rule.Parameters["negate"].(bool)
	fits := false
	switch rule.Parameters["operator"] {
	case "starts_with":
		fits = strings.HasPrefix(message, pattern)
	case "ends_with":
		fits = strings.HasSuffix(message, pattern)
	case "contains":
		fits = strings.Contains(message, pattern)
	case "regex":
		re, err := regexp.Compile(pattern)
		fits = err == nil && re.MatchString(message)
	}
	return fits != negate
}

// Decision is what the reviews of a pull request say, as GraphQL spells it; nil: nothing is required and nobody has
// requested changes.
// https://docs.github.com/en/graphql/reference/enums#pullrequestreviewdecision
func Decision(r *model.Repository, i *model.Issue) any {
	wanted := 0
	for _, x := range r.Rules[i.Pull.Base] {
		wanted = max(wanted, approvals(x))
	}
	last := lastReviews(i)
	switch {
	case slices.Contains(slices.Collect(maps.Values(last)), "changes_requested"):
		return "CHANGES_REQUESTED"
	case wanted == 0:
		return nil
	case approved(i) < wanted:
		return "REVIEW_REQUIRED"
	}
	return "APPROVED"
}

func approvals(rule model.Rule) int {
	switch n := rule.Parameters["required_approving_review_count"].(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}

// approved counts the people who approved in their last approving or rejecting review.
func approved(i *model.Issue) (n int) {
	for _, state := range lastReviews(i) {
		if state == "approved" {
			n++
		}
	}
	return n
}

// lastReviews is the state of each person's last approving or rejecting review.
func lastReviews(i *model.Issue) map[*model.User]string {
	last := map[*model.User]string{}
	for _, v := range i.Pull.Reviews {
		if v.State != "commented" {
			last[v.By] = v.State
		}
	}
	return last
}
