package model

import (
	"maps"
	"slices"
)

// Rule is one rule of a ruleset in force on a branch. Its parameters are in the REST API's format.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
type Rule struct {
	Type       string         // required_status_checks, workflows, required_signatures, …
	Parameters map[string]any // nil: the rule has none
	Source     string         // owner/name, or the login of an organization; empty: the repository itself
	Ruleset    int64
}

// The kinds of rules that the simulator enforces.
const (
	RuleChecks      = "required_status_checks"
	RuleWorkflows   = "workflows"
	RuleSignatures  = "required_signatures"
	RuleDeployments = "required_deployments"
	RuleScanning    = "code_scanning"
	RuleQueue       = "merge_queue"
	RulePull        = "pull_request"
	RuleForce       = "non_fast_forward"
	RuleMessage     = "commit_message_pattern"
)

// Classic is what classic protection requires besides checks.
// https://docs.github.com/en/graphql/reference/objects#refupdaterule
type Classic struct {
	Signatures    bool
	LinearHistory bool
	Conversations bool // on pull requests are resolved
}

// Resolves reports whether merges into a branch wait until all conversations on the pull request are resolved.
func (r *Repository) Resolves(branch string) bool {
	return r.Classic[branch].Conversations || slices.ContainsFunc(r.Rules[branch], func(x Rule) bool {
		wanted, _ := x.Parameters["required_review_thread_resolution"].(bool)
		return wanted
	})
}

// RequiredCheck is a check or a status that a branch requires to be green.
type RequiredCheck struct {
	Context string
	App     int64 // only this app's counts; 0: any app's
}

// RequiredWorkflow is a workflow that must have succeeded for a branch.
type RequiredWorkflow struct {
	Path       string
	Repository int64  // of its file
	Ref        string // of that repository; empty: its default branch
}

// ChecksRule is the rule that requires checks, of any app, by their names.
func ChecksRule(contexts ...string) Rule {
	list := []any{}
	for _, c := range contexts {
		list = append(list, map[string]any{"context": c})
	}
	return Rule{Type: RuleChecks, Parameters: map[string]any{"do_not_enforce_on_create": false,
		"strict_required_status_checks_policy": false, RuleChecks: list}}
}

// HasRule reports whether a branch has a rule of a kind.
func (r *Repository) HasRule(branch, kind string) bool {
	return slices.ContainsFunc(r.Rules[branch], func(x Rule) bool { return x.Type == kind })
}

// UpToDate reports whether merges into a branch must be up to date with it.
func (r *Repository) UpToDate(branch string) bool {
	return r.Strict[branch] || slices.ContainsFunc(r.Rules[branch], func(x Rule) bool {
		strict, _ := x.Parameters["strict_required_status_checks_policy"].(bool)
		return strict
	})
}

// Printed is a rule's parameters, with those added by the repository's settings.
func (r *Repository) Printed(branch string, x Rule) map[string]any {
	out := maps.Clone(x.Parameters)
	if x.Type == RuleChecks && r.Strict[branch] {
		out["strict_required_status_checks_policy"] = true
	}
	return out
}

// RequiredChecks are the checks required for a branch, by protection and by rules.
func (r *Repository) RequiredChecks(branch string) []RequiredCheck {
	var all []RequiredCheck
	for _, c := range r.Protection[branch] {
		all = append(all, RequiredCheck{Context: c})
	}
	for _, x := range r.Rules[branch] {
		for _, o := range entries(x, RuleChecks) {
			context, _ := o["context"].(string)
			all = append(all, RequiredCheck{Context: context, App: number(o["integration_id"])})
		}
	}
	return all
}

// RequiredWorkflows are the workflows required for a branch.
func (r *Repository) RequiredWorkflows(branch string) []RequiredWorkflow {
	var all []RequiredWorkflow
	for _, x := range r.Rules[branch] {
		for _, o := range entries(x, RuleWorkflows) {
			path, _ := o["path"].(string)
			ref, _ := o["ref"].(string)
			all = append(all, RequiredWorkflow{Path: path, Repository: number(o["repository_id"]), Ref: ref})
		}
	}
	return all
}

// entries are the objects of a list parameter of a rule.
func entries(x Rule, name string) []map[string]any {
	if x.Type != name {
		return nil
	}
	list, _ := x.Parameters[name].([]any)
	var out []map[string]any
	for _, e := range list {
		if o, is := e.(map[string]any); is {
			out = append(out, o)
		}
	}
	return out
}

// number is a number from JSON or Go code.
func number(v any) int64 {
	switch n := v.(type) {
	case float64:
		return int64(n)
	case int64:
		return n
	case int:
		return int64(n)
	}
	return 0
}

// Guarded are the full names of the branches that only pull requests can change, sorted. A rule against force pushes
// alone does not guard a branch.
func (r *Repository) Guarded() []string {
	guarded := map[string]bool{}
	for b := range r.Protection {
		guarded["refs/heads/"+b] = true
	}
	for b, all := range r.Rules {
		if slices.ContainsFunc(all, func(x Rule) bool { return x.Type != RuleForce }) {
			guarded["refs/heads/"+b] = true
		}
	}
	return slices.Sorted(maps.Keys(guarded))
}

// OnlyForward lists the full names of the branches to which a rule forbids forced pushes.
func (r *Repository) OnlyForward() (refs []string) {
	for b, all := range r.Rules {
		if slices.ContainsFunc(all, func(x Rule) bool { return x.Type == RuleForce }) {
			refs = append(refs, "refs/heads/"+b)
		}
	}
	return refs
}

// Queued lists the full names of the branches of pull requests in a merge queue, which can't be pushed to.
// https://github.com/SharezoneApp/sharezone-app/pull/605
func (r *Repository) Queued() (refs []string) {
	for _, i := range r.Issues {
		if i.Pull != nil && i.Pull.Queue != "" {
			refs = append(refs, "refs/heads/"+i.Pull.Head)
		}
	}
	return refs
}
