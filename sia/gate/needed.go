package gate

import (
	"cmp"
	"slices"
)

// linkNeeded sets the checks because of which each check may be skipped.
func (f *facts) linkNeeded() {
	jobs := make([][]Job, len(f.checks))
	for i, c := range f.checks {
		jobs[i] = c.file.named(c.name)
	}
	for i := range f.checks {
		c := &f.checks[i]
		names := map[string]bool{}
		for _, name := range c.file.needs(c.name) {
			names[name] = true
		}
		isNeeded := func(j Job) bool { return names[j.Name] }
		for k, s := range f.checks {
			isCalled := func(j Job) bool {
				return j.Calls != "" && slices.ContainsFunc(jobs[k], func(o Job) bool { return o.Name == j.Name })
			}
			switch {
			case k == i, s.workflowRun() == 0, s.workflowRun() != c.workflowRun():
			case s.app == workflowApp, slices.ContainsFunc(jobs[k], isNeeded):
				c.needs = append(c.needs, k)
			case c.file.Unread, slices.ContainsFunc(jobs[i], isCalled):
				c.mayNeed = append(c.mayNeed, k)
			}
		}
	}
}

// sumsUp reports whether a check is a job that only aggregates the results of the jobs that it needs.
func (c check) sumsUp() bool { return !c.file.job(c.name).Code && len(c.file.needs(c.name)) > 0 }

// passedOver returns why a skipped job should have run, as a sentence without its full stop; empty if it need not. ran
// is where else it ran.
func (f *facts) passedOver(c check, ran string) string {
	if c.workflow == nil || c.run.Conclusion != "skipped" || isPaperwork(c.name) {
		return ""
	}
	if c.file.Unread {
		return ran
	}
	ready := slices.ContainsFunc(c.file.Triggers, func(t Trigger) bool { return t.Event == c.workflow.Event && t.Ready })
	asks := c.file.asks(c.name)
	switch {
	case !c.file.job(c.name).Code, asks.Calls != "":
		return "" // it validates nothing, or its condition is unknown
	case asks.Part && (!asks.Draft || ready && !f.Draft):
		return ""
	case asks.Draft && !ready && (asks.Guard || ran != ""):
		return "its condition passes over drafts, and its workflow does not run when one is marked ready " +
			"(ready_for_review): once the pull request is no draft, a commit that is pushed to its branch starts it"
	case ran != "":
		return ran
	case asks.Draft && asks.Guard:
		return "its condition passes over drafts"
	case asks.Guard:
		return "its condition asks who opened the pull request"
	}
	return ""
}

// asks returns the properties of the conditions that may skip a check run's job: its own, and those of the jobs that it
// needs. Calls is set if it is a job of a reusable workflow that was not expanded.
func (f File) asks(name string) Job {
	var out Job
	for _, j := range f.named(name) {
		if j.Name != name {
			out.Calls = cmp.Or(out.Calls, j.Calls)
		}
		out.Guard, out.Draft, out.Part = out.Guard || j.Guard, out.Draft || j.Draft, out.Part || j.Part
	}
	for _, need := range f.needs(name) {
		out.Part = out.Part || slices.ContainsFunc(f.Jobs, func(j Job) bool { return j.Name == need && j.Part })
	}
	return out
}
