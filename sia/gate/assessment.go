package gate

import (
	"slices"

	"github.com/sia-bot/sia/sia"
)

// assessment contains the checks of a commit with the outcomes that count: as GitHub reported them, unless a check is
// excused, blocked, awaited or missed.
type assessment struct {
	facts  *facts
	checks []*assessed // in the order of the facts' checks
}

// assessed is a check while it is assessed: in this copy, its outcome and the reason may change, and it is no longer
// required if a person waived it.
type assessed struct {
	check
	requirement
	exhausted bool // it needs another re-run, but had the maximum number
	form      bool // it is blocked by the pull request's form, or because its service forbids it to run
	final     bool // it has no result, and nobody can run it again
	held      bool // it was skipped and does not count as green, because a job that it needs is not green
	missed    bool // it was skipped but should have run
	follows   bool // it only aggregates jobs that it needs, and is not green because of them
}

// assess decides the outcomes. The order of the steps matters: each sees what the earlier ones have changed.
func assess(f *facts, r *requirements) *assessment {
	a := &assessment{facts: f}
	for i, c := range f.checks {
		a.checks = append(a.checks, &assessed{check: c, requirement: r.checks[i]})
	}
	a.excuse()       // a red check becomes excused
	a.blockForm()    // a red or running one becomes blocked; an excused one does not
	a.blockOverdue() // a running one becomes blocked; those of the form are not counted as queued
	a.awaitLater()   // a cancelled, skipped or green one becomes running or blocked; overdue checks are not waited for
	a.limitReruns()  // one to be run again becomes red or blocked, unless a later run goes on
	a.follow()       // one that sums up others becomes as they are now
	a.holdSkipped()  // a skipped one is held, excused or blocked, as those that it needs are now
	a.missSkipped()  // a skipped one that is not held becomes running or blocked
	return a
}

// obstacle returns the check as an obstacle that a person has to remove, with more of the reason.
func (c *assessed) obstacle(more string) sia.Obstacle {
	return sia.Obstacle{Check: c.label, Reason: c.why + more, URL: c.url, Absent: c.missed, Missed: c.missed,
		Waivable: c.form || c.final}
}

// runningIn returns the names of the checks of a workflow run that have not ended and are not overdue.
func (a *assessment) runningIn(w Workflow) (names []string) {
	for _, c := range a.checks {
		if c.outcome == running && c.run.Status != "completed" && c.workflowRun() == w.ID {
			names = append(names, c.label)
		}
	}
	return names
}

// mayCreate returns the running checks of workflow runs that may still create a required check: GitHub creates a job's
// check run when the jobs that it needs have ended.
// https://github.com/instructlab/instructlab/pull/2324
func (a *assessment) mayCreate(r Required) (names []string) {
	for _, w := range a.facts.Workflows {
		file := a.facts.fileOf(w)
		if r.Workflow == "" && w.Status != "completed" && (file.Unread || len(file.named(r.Name)) > 0) {
			names = append(names, a.runningIn(w)...)
		}
	}
	return names
}

// redChecks returns the required checks that are red.
func (a *assessment) redChecks() []*assessed {
	var out []*assessed
	for _, c := range a.checks {
		if c.required && c.outcome == red && !c.follows {
			out = append(out, c)
		}
	}
	return out
}

// blamed returns the red runs of required checks that are not excused; those that were
// re-run without success come last. Finally cancelled runs are included, because their
// annotations may give the reason.
func (a *assessment) blamed() []Run {
	var first, last []Run
	for _, c := range a.checks {
		cancelled := c.outcome == blocked && c.run.Conclusion == "cancelled"
		switch {
		case !c.required || c.outcome != red && !cancelled || c.run.ID == 0 || c.follows:
		case c.exhausted || cancelled:
			last = append(last, c.run)
		default:
			first = append(first, c.run)
		}
	}
	return append(first, last...)
}

// runExcused reports whether the workflow run of a job is excused for a failure that none of its jobs shows.
func (a *assessment) runExcused(c *assessed) bool {
	return slices.ContainsFunc(a.checks, func(o *assessed) bool {
		return o.app == workflowApp && o.outcome == excused && o.workflowRun() == c.workflowRun()
	})
}

// runActive reports whether a check's workflow run has not completed and a check of it is running.
func (a *assessment) runActive(c *assessed) bool {
	return c.runUnfinished() && slices.ContainsFunc(a.checks, func(o *assessed) bool {
		return o.outcome == running && o.workflowRun() == c.workflowRun()
	})
}
