package gate

import (
	"cmp"
	"slices"
)

// allRequired returns what rules and settings require, sorted, without SIA's own check.
func (f *facts) allRequired() []Required {
	out := slices.Clone(f.Required)
	for _, n := range f.Settings.Required {
		out = append(out, Required{Name: n})
	}
	slices.SortFunc(out, func(a, b Required) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workflow, b.Workflow),
			cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.App, b.App))
	})
	return slices.DeleteFunc(slices.Compact(out), f.isOwnCheck)
}

// isOwnCheck reports whether a requirement is SIA's own check run, and no other check has that name: the check run
// waits for the verdict, so the verdict can't wait for it.
func (f *facts) isOwnCheck(r Required) bool {
	own := func(run Run) bool { return run.Own && run.Name == r.Name && (r.App == 0 || r.App == run.AppID) }
	return r.Workflow == "" && slices.ContainsFunc(f.Runs, own) && !f.isThere(r)
}

// isThere reports whether a requirement has a check.
func (f *facts) isThere(r Required) bool {
	return slices.ContainsFunc(f.checks, func(c check) bool { return f.binds(r, c) })
}

// binds reports whether r requires a check. A name requires every check that has it. GitHub
// runs a workflow that a rule requires for pull requests and in merge queues, and no other run
// of it counts.
// https://docs.github.com/en/enterprise-cloud@latest/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
func (f *facts) binds(r Required, c check) bool {
	if r.Workflow == "" {
		return c.name == r.Name && c.app != workflowApp && (r.App == 0 || r.App == c.appID)
	}
	if c.workflow == nil || !slices.Contains(ruleEvents, c.workflow.Event) {
		return false
	}
	if f.isOwn(r.Repository) {
		return c.workflow.Path == r.Workflow && f.isOwn(c.workflow.Repository)
	}
	return c.workflow.Path == r.Workflow && c.workflow.isIn(r.Repository) && !f.isOwn(c.workflow.Repository)
}

// mergeGroup is the event of workflow runs in a merge queue.
const mergeGroup = "merge_group"

// ruleEvents are the events for which GitHub runs a workflow that a rule requires.
var ruleEvents = []string{"pull_request", "pull_request_target", mergeGroup}

// isNamed reports whether rules or settings name a check, so that merging depends on it.
func (f *facts) isNamed(c check) bool {
	return slices.ContainsFunc(f.named, func(r Required) bool { return r.Workflow == "" && f.binds(r, c) })
}

// requiredByRule reports whether a rule of the branch, and not only a setting, requires that a check is green: GitHub
// does not merge while it is red. A rule that requires a workflow requires its run as a whole.
func (f *facts) requiredByRule(c check) bool {
	return slices.ContainsFunc(f.Required, func(r Required) bool {
		return f.binds(r, c) && (r.Workflow == "" || c.workflow.Conclusion != "success")
	})
}

// keepsFromMerging reports whether a rule requires a check that is not green, and no person waived it. GitHub counts a
// skipped check as green.
func (f *facts) keepsFromMerging(c check) bool {
	return c.run.Conclusion != "skipped" && f.requiredByRule(c) && !f.waived(c)
}

// whyAbsent returns why no check has a required name, if known. GitHub names a skipped job without the values of its
// matrix, and creates none of the jobs that it calls. A required check that runs only in merge queues keeps pull
// requests out of them, because GitHub requires it before the queue as well.
// https://github.com/hoobio/command-palette-bitwarden/pull/87
// https://github.com/tock/tock/pull/4298
// https://github.com/terok-ai/terok/pull/879
func (f *facts) whyAbsent(r Required) string {
	if r.Workflow != "" {
		return ""
	}
	for _, c := range f.checks {
		whole := Job{Name: c.name, Calls: externalCall}
		if c.run.WorkflowRun != 0 && c.run.Conclusion == "skipped" && whole.matches(r.Name) {
			return "; " + c.name + " was skipped as a whole, and then GitHub reports it without what it has within"
		}
	}
	elsewhen := func(t Trigger) bool { return t.Event != mergeGroup }
	for _, file := range f.Files {
		if len(file.named(r.Name)) > 0 && len(file.Triggers) > 0 && !slices.ContainsFunc(file.Triggers, elsewhen) {
			return "; " + file.Path + " has it and runs in merge queues alone, yet GitHub wants it on the pull request, " +
				"too: run it there, and let its `if` skip it"
		}
	}
	return ""
}
