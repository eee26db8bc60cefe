package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// requiredTTL is how long to cache a branch's requirements: long enough for the looks at one commit, short enough for
// new rules to take effect.
const requiredTTL = time.Minute

// Requirements are the requirements for merging into a branch.
type Requirements struct {
	All   []gate.Required // sorted
	Known bool            // false: the app can't see all of them
	// the head must be up to date with the branch; classic protection reports it to administrators only
	Strict bool
	// types of other rules that can block a merge, or the parameter that can, as in GitHub's API, sorted
	Others []string
}

// blockingRules are the types of rules, apart from reviews, that can block the merge of a pull request with green
// checks. No check run shows their state.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
var blockingRules = map[string]bool{"required_signatures": true, "required_deployments": true, "code_scanning": true,
	"merge_queue": true, "required_linear_history": true, "commit_message_pattern": true,
	"commit_author_email_pattern": true, "committer_email_pattern": true, "branch_name_pattern": true,
	"file_path_restriction": true, "max_file_path_length": true, "file_extension_restriction": true,
	"max_file_size": true, "update": true, "code_quality": true,
	"license_compliance_scanning": true}

// Rules reads the rules of a repository's branches.
type Rules struct {
	*conn
	required *expiring.Map[string, Requirements]    // by branch
	commits  *expiring.Map[string, sia.CommitRules] // by branch
	names    *expiring.Map[int64, string]           // of other repositories, by id
}

// Required returns the requirements for merging into a branch, from the repository's rules and from branch
// protection. If the app can't see one of the two, the result has only the other. It is cached for a minute.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
// https://docs.github.com/en/rest/branches/branches#get-a-branch
func (s *Rules) Required(ctx context.Context, branch string) (Requirements, error) {
	if got, ok := s.required.Get(branch); ok {
		got.All = slices.Clone(got.All)
		return got, nil
	}
	return s.FetchRequired(ctx, branch)
}

// FetchRequired is Required without the cache, for the final check before a task passes.
func (s *Rules) FetchRequired(ctx context.Context, branch string) (Requirements, error) {
	rules, err := s.requiredByRules(ctx, branch)
	if err != nil {
		return Requirements{}, s.app.failure(err, "read the rules of branch %s of %s", branch, s.repo)
	}
	protection, err := s.requiredByProtection(ctx, branch)
	if err != nil {
		return Requirements{}, s.app.failure(err, "read the protection of branch %s of %s", branch, s.repo)
	}
	got := Requirements{All: slices.Concat(rules.All, protection.All), Known: rules.Known && protection.Known,
		Strict: rules.Strict || protection.Strict, Others: rules.Others}
	got.sort()
	s.required.Put(branch, got)
	got.All = slices.Clone(got.All)
	return got, nil
}

// sort sorts requirements and removes duplicates.
func (q *Requirements) sort() {
	slices.SortFunc(q.All, func(a, b gate.Required) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workflow, b.Workflow),
			cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.App, b.App))
	})
	slices.Sort(q.Others)
	q.All, q.Others = slices.Compact(q.All), slices.Compact(q.Others)
}

// branchRule is a rule that applies to a branch, in the spelling of the REST API, except for its type. Queries for
// GraphQL spell its parameters alike.
type branchRule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters"`
}

// kind returns the type of a rule in REST's spelling.
func (b branchRule) kind() string { return strings.ToLower(b.Type) }

// each calls add for all rules that apply to a branch. known is false if GitHub hides them. A plan may have none.
func (s *Rules) each(ctx context.Context, branch string, add func(branchRule) error) (known bool, err error) {
	for rule, err := range eachPage(func(o gh.ListOptions) ([]*branchRule, *gh.Response, error) {
		var rules []*branchRule
		resp, err := s.rest.page(ctx, fmt.Sprintf("rules/branches/%s?per_page=%d&page=%d", url.PathEscape(branch),
			o.PerPage, o.Page), &rules)
		return rules, resp, err
	}) {
		if isLackingInPlan(err) {
			return true, nil
		}
		if hiddenFromApp(err) {
			return false, nil
		}
		if err == nil {
			err = add(*rule)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// requiredByRules reads the rule sets. Unlike go-github, it skips unknown types of rules.
func (s *Rules) requiredByRules(ctx context.Context, branch string) (Requirements, error) {
	out := Requirements{Known: true}
	known, err := s.each(ctx, branch, func(rule branchRule) error { return s.addRule(ctx, &out, rule) })
	if err != nil || !known {
		return Requirements{}, err
	}
	return out, nil
}

// addRule adds the requirements of one rule to out.
func (s *Rules) addRule(ctx context.Context, out *Requirements, rule branchRule) error {
	kind := rule.kind()
	if blockingRules[kind] {
		out.Others = append(out.Others, kind)
	}
	if !slices.Contains([]string{"required_status_checks", "workflows", "pull_request"}, kind) {
		return nil
	}
	var p struct {
		Checks []struct {
			Context string `json:"context"`
			App     int64  `json:"integration_id"`
		} `json:"required_status_checks"`
		Strict    bool `json:"strict_required_status_checks_policy"`
		Resolved  bool `json:"required_review_thread_resolution"`
		Workflows []struct {
			Path       string `json:"path"`
			Repository int64  `json:"repository_id"`
		} `json:"workflows"`
	}
	if err := json.Unmarshal(rule.Parameters, &p); err != nil {
		return err
	}
	out.Strict = out.Strict || p.Strict
	if p.Resolved {
		out.Others = append(out.Others, "required_review_thread_resolution")
	}
	for _, c := range p.Checks {
		out.All = append(out.All, gate.Required{Name: c.Context, App: max(0, c.App)})
	}
	for _, w := range p.Workflows {
		name, err := s.repositoryName(ctx, w.Repository)
		if err != nil {
			return err
		}
		out.All = append(out.All, gate.Required{Workflow: w.Path, Repository: name})
	}
	return nil
}

// repositoryName returns the owner/name of a repository in a rule, or "" for this one.
// https://docs.github.com/en/rest/repos/repos#get-a-repository
func (s *Rules) repositoryName(ctx context.Context, id int64) (string, error) {
	if id == 0 || id == s.repo.ID {
		return "", nil
	}
	if name, ok := s.names.Get(id); ok {
		return name, nil
	}
	got, _, err := s.gh.Repositories.GetByID(ctx, id)
	name := got.GetFullName()
	switch {
	case hiddenFromApp(err):
		name = fmt.Sprintf("#%d", id)
	case err != nil:
		return "", err
	}
	s.names.Put(id, name)
	return name, nil
}

// statusChecks is the required_status_checks of a protected branch. Contexts are the names of Checks, which have more
// detail if present.
type statusChecks struct {
	Contexts []string `json:"contexts"`
	Strict   bool     `json:"strict"` // for administrators only
	Checks   []struct {
		Context string `json:"context"`
		App     int64  `json:"app_id"` // null or -1: any app
	} `json:"checks"`
}

func (s statusChecks) requirements() Requirements {
	var all []gate.Required
	for _, c := range s.Checks {
		all = append(all, gate.Required{Name: c.Context, App: max(0, c.App)})
	}
	for _, name := range s.Contexts {
		if !slices.ContainsFunc(all, func(r gate.Required) bool { return r.Name == name }) {
			all = append(all, gate.Required{Name: name})
		}
	}
	return Requirements{All: all, Known: true, Strict: s.Strict}
}

// requiredByProtection reads the branch, which shows the requirements of its protection to everybody with read
// access. Only if they are missing there, it reads the protection itself, which needs administration permission.
func (s *Rules) requiredByProtection(ctx context.Context, branch string) (Requirements, error) {
	at := "branches/" + url.PathEscape(branch)
	var b struct {
		Protected  bool `json:"protected"`
		Protection *struct {
			Enabled bool          `json:"enabled"`
			Checks  *statusChecks `json:"required_status_checks"`
		} `json:"protection"`
	}
	err := s.rest.send(ctx, http.MethodGet, at, nil, &b)
	switch {
	case refusalContains(err, "branch not found"): // not hidden: it is not replicated yet, or was deleted
		return Requirements{}, err
	case isLackingInPlan(err):
		return Requirements{Known: true}, nil
	case hiddenFromApp(err):
	case err != nil:
		return Requirements{}, err
	case !b.Protected || (b.Protection != nil && !b.Protection.Enabled):
		return Requirements{Known: true}, nil
	case b.Protection != nil && b.Protection.Checks != nil && b.Protection.Checks.Contexts != nil:
		return b.Protection.Checks.requirements(), nil
	}
	var checks statusChecks
	err = s.rest.send(ctx, http.MethodGet, at+"/protection/required_status_checks", nil, &checks)
	switch {
	case refusalContains(err, "not enabled") || refusalContains(err, "not protected") || isLackingInPlan(err):
		return Requirements{Known: true}, nil
	case hiddenFromApp(err):
		return Requirements{}, nil
	case err != nil:
		return Requirements{}, err
	}
	return checks.requirements(), nil
}

// isLackingInPlan reports whether GitHub refuses something because the plan of a private repository's owner lacks it:
// there are no rules and no protection then.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/about-rulesets
func isLackingInPlan(err error) bool {
	return statusOf(err) == http.StatusForbidden && refusalContains(err, "upgrade to github")
}

// hiddenFromApp reports whether GitHub hides something from the app, because the app lacks the permission, or the
// repository's plan lacks the feature. Other refusals, such as by an organisation's IP allow list, are errors.
func hiddenFromApp(err error) bool {
	switch statusOf(err) {
	case http.StatusNotFound:
		return true
	case http.StatusForbidden:
		return refusalContains(err, "not accessible by integration") || refusalContains(err, "upgrade to github") ||
			refusalContains(err, "admin rights")
	}
	return false
}
