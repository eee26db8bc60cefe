package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/gate"
)

// requiredFor is how long it is remembered what a branch requires: long enough
// for the looks at one commit, short enough for a rule that somebody adds.
const requiredFor = time.Minute

// Requirements are what a branch requires of what is merged into it.
type Requirements struct {
	All   []gate.Required // sorted
	Known bool            // false: GitHub does not let the app see all of it
	// it has to be up to date with the branch; false where only administrators are told
	Strict bool
	// kinds of rules beside checks that stop a merge until something is done, as GitHub's API spells them, sorted
	Others []string
}

// stopping are the kinds of rules that can stop the merge of a pull request although its checks are green, beside
// reviews. What they want is not to be had from a check run.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
var stopping = map[string]bool{"required_signatures": true, "required_deployments": true, "code_scanning": true,
	"merge_queue": true, "required_linear_history": true, "commit_message_pattern": true,
	"commit_author_email_pattern": true, "committer_email_pattern": true, "branch_name_pattern": true,
	"file_path_restriction": true, "max_file_path_length": true, "file_extension_restriction": true,
	"max_file_size": true, "update": true, "code_quality": true}

// Required returns what must hold before something is merged into a branch, by the
// repository's rules and by branch protection. Where GitHub does not let the app see one
// of the two, the answer holds what the other one says. Answers are remembered for a
// minute.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
// https://docs.github.com/en/rest/branches/branches#get-a-branch
func (r *Repo) Required(ctx context.Context, branch string) (Requirements, error) {
	if got, ok := r.required.get(branch); ok {
		got.All = slices.Clone(got.All)
		return got, nil
	}
	return r.RequiredNow(ctx, branch)
}

// RequiredNow is Required as it is now, for the last word before something is said to be green.
func (r *Repo) RequiredNow(ctx context.Context, branch string) (Requirements, error) {
	rules, err := r.requiredByRules(ctx, branch)
	if err != nil {
		return Requirements{}, r.fail(err, "read the rules of branch %s of %s", branch, r.repo)
	}
	protection, err := r.requiredByProtection(ctx, branch)
	if err != nil {
		return Requirements{}, r.fail(err, "read the protection of branch %s of %s", branch, r.repo)
	}
	got := Requirements{All: slices.Concat(rules.All, protection.All), Known: rules.Known && protection.Known,
		Strict: rules.Strict || protection.Strict, Others: rules.Others}
	got.sort()
	r.required.put(branch, got)
	got.All = slices.Clone(got.All)
	return got, nil
}

// sort brings requirements into their order, each once.
func (q *Requirements) sort() {
	slices.SortFunc(q.All, func(a, b gate.Required) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workflow, b.Workflow),
			cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.App, b.App))
	})
	slices.Sort(q.Others)
	q.All, q.Others = slices.Compact(q.All), slices.Compact(q.Others)
}

// branchRule is one rule that holds for a branch.
type branchRule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters"`
}

// branchRules walks the rules that hold for a branch, to their last page.
func (r *Repo) branchRules(ctx context.Context, branch string) iter.Seq2[*branchRule, error] {
	return eachPage(func(o gh.ListOptions) ([]*branchRule, *gh.Response, error) {
		var rules []*branchRule
		resp, err := r.sendPage(ctx, fmt.Sprintf("rules/branches/%s?per_page=%d&page=%d", url.PathEscape(branch), o.PerPage,
			o.Page), &rules)
		return rules, resp, err
	})
}

// requiredByRules reads the rule sets. Unlike go-github it passes over kinds of rules that it does not know.
func (r *Repo) requiredByRules(ctx context.Context, branch string) (Requirements, error) {
	out := Requirements{Known: true}
	for rule, err := range r.branchRules(ctx, branch) {
		if hiddenFromApp(err) {
			return Requirements{}, nil
		}
		var wants ruleWants
		if err == nil {
			wants, err = rule.wants()
		}
		if err == nil {
			err = r.takeRule(ctx, &out, rule.Type, wants)
		}
		if err != nil {
			return Requirements{}, err
		}
	}
	return out, nil
}

// ruleWants is what a rule requires of checks.
type ruleWants struct {
	checks    []gate.Required
	strict    bool
	workflows []workflowOf
}

// workflowOf is a workflow's file and the number of the repository that it is in.
type workflowOf struct {
	path       string
	repository int64
}

// wants reads what a rule requires of checks.
func (b branchRule) wants() (out ruleWants, err error) {
	var p struct {
		Checks []struct {
			Context string `json:"context"`
			App     int64  `json:"integration_id"`
		} `json:"required_status_checks"`
		Strict    bool `json:"strict_required_status_checks_policy"`
		Workflows []struct {
			Path       string `json:"path"`
			Repository int64  `json:"repository_id"`
		} `json:"workflows"`
	}
	if b.Type != "required_status_checks" && b.Type != "workflows" {
		return out, nil
	}
	if err := json.Unmarshal(b.Parameters, &p); err != nil {
		return out, err
	}
	out.strict = p.Strict
	for _, c := range p.Checks {
		out.checks = append(out.checks, gate.Required{Name: c.Context, App: max(0, c.App)})
	}
	for _, w := range p.Workflows {
		out.workflows = append(out.workflows, workflowOf{w.Path, w.Repository})
	}
	return out, nil
}

// takeRule adds what one rule requires.
func (r *Repo) takeRule(ctx context.Context, out *Requirements, kind string, wants ruleWants) error {
	if stopping[kind] {
		out.Others = append(out.Others, kind)
	}
	out.Strict = out.Strict || wants.strict
	out.All = append(out.All, wants.checks...)
	for _, w := range wants.workflows {
		name, err := r.repositoryName(ctx, w.repository)
		if err != nil {
			return err
		}
		out.All = append(out.All, gate.Required{Workflow: w.path, Repository: name})
	}
	return nil
}

// repositoryName is the owner/name of a repository that a rule names by its number; empty for this one.
// https://docs.github.com/en/rest/repos/repos#get-a-repository
func (r *Repo) repositoryName(ctx context.Context, id int64) (string, error) {
	if id == 0 || id == r.repo.ID {
		return "", nil
	}
	if name, ok := r.names.get(id); ok {
		return name, nil
	}
	got, _, err := r.gh.Repositories.GetByID(ctx, id)
	name := got.GetFullName()
	switch {
	case hiddenFromApp(err):
		name = fmt.Sprintf("#%d", id)
	case err != nil:
		return "", err
	}
	r.names.put(id, name)
	return name, nil
}

// statusChecks is the required_status_checks of a protected branch. Contexts holds
// the names of Checks, which say more where they are there.
type statusChecks struct {
	Contexts []string `json:"contexts"`
	Strict   bool     `json:"strict"` // told to administrators only
	Checks   []struct {
		Context string `json:"context"`
		App     int64  `json:"app_id"` // null or -1: any app's
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

// requiredByProtection reads the branch, which says what its protection requires
// to everybody who can read it, and asks the protection itself, which takes
// administration rights, only when that says nothing.
func (r *Repo) requiredByProtection(ctx context.Context, branch string) (Requirements, error) {
	at := "branches/" + url.PathEscape(branch)
	var b struct {
		Protected  bool `json:"protected"`
		Protection *struct {
			Enabled bool          `json:"enabled"`
			Checks  *statusChecks `json:"required_status_checks"`
		} `json:"protection"`
	}
	err := r.send(ctx, http.MethodGet, at, nil, &b)
	switch {
	case refusalContains(err, "branch not found"): // not hidden: GitHub does not know it yet, or it is gone
		return Requirements{}, err
	case hiddenFromApp(err):
	case err != nil:
		return Requirements{}, err
	case !b.Protected || (b.Protection != nil && !b.Protection.Enabled):
		return Requirements{Known: true}, nil
	case b.Protection != nil && b.Protection.Checks != nil:
		return b.Protection.Checks.requirements(), nil
	}
	var checks statusChecks
	err = r.send(ctx, http.MethodGet, at+"/protection/required_status_checks", nil, &checks)
	switch {
	case refusalContains(err, "not enabled") || refusalContains(err, "not protected"):
		return Requirements{Known: true}, nil
	case hiddenFromApp(err):
		return Requirements{}, nil
	case err != nil:
		return Requirements{}, err
	}
	return checks.requirements(), nil
}

// hiddenFromApp reports whether GitHub hides something from the app: it lacks the
// permission, or the repository's plan the feature. What else may be refused, such as an
// address that an organisation does not allow, is an error.
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
