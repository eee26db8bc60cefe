package gate

import "slices"

// noneStarted reports whether no workflow of the repository ran on the commit, and no merged pull request shows which
// ones should have. GitHub sometimes starts none for a push, or starts them late.
// https://github.com/lewiswigmore/open-wire/issues/40
// https://github.com/bldrs-ai/conway/pull/600
func (f *facts) noneStarted() bool {
	_, pulls := tally(f.History.Merged)
	isJob := func(r Run) bool { return r.WorkflowRun != 0 && f.head.workflowOf(r) == nil }
	return f.WorkflowsKnown && !f.WorkflowsHidden && pulls == 0 && !slices.ContainsFunc(f.Runs, isJob) &&
		!slices.ContainsFunc(f.Workflows, func(w Workflow) bool { return !w.isDynamic() })
}

// unstarted returns the workflows that should have started for the pull request if none did: those that may run its
// code and have no filter that may keep them from starting.
func (f *facts) unstarted() (out []Expected) {
	if !f.noneStarted() {
		return nil
	}
	for _, file := range f.Files {
		starts := func(t Trigger) bool {
			return t.Event == "pull_request" && !t.Narrow && (!t.Base.isSet() || t.Base.matches([]string{f.BaseBranch})) &&
				(!t.Paths.isSet() || t.Paths.matches(f.Changed))
		}
		runsCode := func(j Job) bool { return j.Code }
		if slices.ContainsFunc(file.Triggers, starts) && slices.ContainsFunc(file.Jobs, runsCode) {
			is := Expected{Why: "its file says that it runs for pull requests, and no workflow has started"}
			is.Name, is.App, is.Workflow, is.Event, is.Whole = file.Path, actionsApp, file.Path, "pull_request", true
			out = append(out, is)
		}
	}
	return out
}
