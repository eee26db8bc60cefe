package gate

import "slices"

// noneStarted reports whether no workflow of the repository ran on the commit, and no merged pull request shows which
// ones should have. GitHub sometimes starts none for a push, or starts them late.
// https://github.com/lewiswigmore/open-wire/issues/40
// https://github.com/bldrs-ai/conway/pull/600
func (f *facts) noneStarted() bool {
	if !f.WorkflowsKnown || f.WorkflowsHidden || !f.History.Known || f.actionsOff() {
		return false
	}
	_, pulls := tally(f.History.Merged)
	isJob := func(r Run) bool { return r.WorkflowRun != 0 && f.head.workflowOf(r) == nil }
	return pulls == 0 && !slices.ContainsFunc(f.Runs, isJob) &&
		!slices.ContainsFunc(f.Workflows, func(w Workflow) bool { return !w.isDynamic() })
}

// actionsOff reports whether GitHub Actions is off or its workflows are disabled, as far as the base branch shows:
// other checks reported on two of its last commits, but no workflow of the repository, though by its file one runs for
// each push to it.
func (f *facts) actionsOff() bool {
	on, commits := tally(f.History.Base)
	for r := range on {
		if r.App == actionsApp && !(Workflow{Path: r.Workflow, Event: r.Event}).isDynamic() {
			return false
		}
	}
	runs := func(t Trigger) bool {
		here := !t.Branches || t.Base.isSet() && t.Base.matches([]string{f.BaseBranch})
		return t.Event == "push" && here && !t.Paths.isSet()
	}
	isRun := func(file File) bool { return slices.ContainsFunc(file.Triggers, runs) }
	// GitHub takes the workflows of a push from the pushed commit, so files that the branch changes say nothing.
	return commits > 1 && slices.ContainsFunc(f.BaseFiles, isRun)
}

// unstarted returns the workflows that should have started for the pull request if none did: those that may run its
// code and have no filter that may keep them from starting.
func (f *facts) unstarted() (out []Expected) {
	if !f.noneStarted() {
		return nil
	}
	runsCode := func(j Job) bool { return j.Code }
	for _, file := range f.Files {
		if !slices.ContainsFunc(file.Jobs, runsCode) {
			continue
		}
		for _, t := range file.Triggers { // "pull_request" comes before "push"
			if why := f.starts(t); why != "" {
				is := Expected{Why: "its file says that it runs for " + why + ", and no workflow has started"}
				is.Name, is.App, is.Workflow, is.Event, is.Whole = file.Path, actionsApp, file.Path, t.Event, true
				out = append(out, is)
				break
			}
		}
	}
	return out
}

// starts returns the events, for people, by which a trigger must have started for the commit; empty if it need not
// have: the path filter of a push sees only the new commits.
func (f *facts) starts(t Trigger) string {
	switch {
	case t.Event == "pull_request" && !t.Narrow && (!t.Base.isSet() || t.Base.matches([]string{f.BaseBranch})) &&
		(!t.Paths.isSet() || t.Paths.matches(f.Changed)):
		return "pull requests"
	case t.Event == "push" && !t.Branches && !t.Paths.isSet():
		return "pushes to all branches"
	}
	return ""
}
