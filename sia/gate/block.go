package gate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// blockForm blocks checks of the form, and those that a service forbids to run, instead of counting them as red or
// waiting for them: a person has to act, or waives them. A running job of Actions, or a model's review, ends without a
// person.
func (a *assessment) blockForm() {
	for _, c := range a.checks {
		said := cmp.Or(c.said, c.run.Telling)
		of := a.facts.isForm(c.check)
		switch {
		case c.outcome == red && (of || c.isForbidden()):
			c.why += ", and asks a person"
		case c.outcome == running && c.run.WorkflowRun == 0 && of:
			c.why = "waits for a person"
		case c.outcome == blocked && of:
			said = ""
		default:
			continue
		}
		c.outcome, c.form = blocked, true
		if said != "" {
			c.why += ": “" + text.Clip(text.OneLine(said), maxSaid) + "”"
		}
		if a.facts.requiredByRule(c.check) {
			c.why += "; a rule requires it, and GitHub will not merge this before"
		}
		if a.facts.waived(c.check) {
			c.required, c.why = false, "a person said to go on without it"
		}
	}
}

// maxRunTime is the maximum duration of a check that has begun: GitHub ends a job on a hosted runner
// after that
// (https://docs.github.com/en/actions/reference/actions-limits).
const maxRunTime = 6 * time.Hour

// maxQueueTime is the maximum time that a check may be queued while others are queued too, or be held back by
// `concurrency`: runners then probably exist.
const maxQueueTime = time.Hour

// blockOverdue blocks checks that were queued longer than the wait in the settings, or have run longer than the
// maximum, and jobs that GitHub has not ended for that wait after their workflow run.
func (a *assessment) blockOverdue() {
	queued := 0
	for _, c := range a.checks {
		if c.outcome == running && c.run.Status == "queued" {
			queued++
		}
	}
	for _, c := range a.checks {
		limit := a.facts.Settings.Wait.D()
		held := c.run.Status == "pending" || c.app == workflowApp && c.workflow.Status == "pending"
		if held || c.run.Status == "queued" && queued > 1 {
			limit = max(limit, maxQueueTime)
		}
		begun := c.app == statusApp || c.run.Status == "in_progress"
		if begun {
			limit = max(limit, maxRunTime)
		}
		since := latest(a.facts.Since, c.last)
		left := c.isLeftOpen()
		if left {
			limit, since = a.facts.Settings.Wait.D(), latest(since, c.workflow.UpdatedAt)
		}
		if c.outcome != running || a.facts.Now.Sub(since) < limit {
			continue
		}
		switch {
		case left:
			c.why = fmt.Sprintf("has not finished, although its workflow run did %s ago; running it again may help",
				limit)
		case begun:
			c.why = fmt.Sprintf("has not finished, and began more than %.3g hours ago", limit.Hours())
		case c.run.Status == "waiting" || c.workflow != nil && c.run.ID == 0 && c.workflow.Status == "waiting":
			c.why = fmt.Sprintf("waited %s for somebody's approval", limit)
		case c.workflow != nil && c.run.ID == 0 && c.workflow.Status == "in_progress":
			c.why = fmt.Sprintf("has not finished, and began no job for %s", limit)
		case held:
			c.why = fmt.Sprintf("is pending for %s; perhaps another run of its `concurrency` group goes first", limit)
		case c.run.Status == "queued" && queued > 1:
			c.why = fmt.Sprintf("was queued for %s, as others are; perhaps runners are scarce", limit)
		default:
			c.why = fmt.Sprintf("was not started within %s; perhaps there is no runner for it", limit)
		}
		c.outcome = blocked
	}
}

// isLeftOpen reports whether a job has not ended although its workflow run has: GitHub sometimes never ends it.
// https://github.com/PocketShell-io/pocketshell/issues/2086
// https://github.com/Twodragon0/claudesec/pull/427
func (c check) isLeftOpen() bool {
	return c.workflow != nil && c.run.ID != 0 && c.run.Status != "completed" && c.workflow.Status == "completed"
}

// awaitLater gives a cancelled or skipped check the state of a later, unfinished run of its workflow on the commit:
// GitHub creates a job's check run when the jobs that it needs have ended, and re-running a job of a cancelled run
// would cancel the later run. A green check waits for the job of its name that another run will create, because that
// counts as well.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
func (a *assessment) awaitLater() {
	active := map[int64]bool{} // workflow runs that go on
	for _, w := range a.facts.Workflows {
		active[w.ID] = w.Status != "completed" && len(a.runningIn(w)) > 0
	}
	for _, c := range a.checks {
		cancelled := c.run.Conclusion == "cancelled" && c.run.Class != timeout
		if c.workflow == nil || c.run.ID == 0 || !cancelled && c.outcome != skipped && c.outcome != green {
			continue
		}
		for _, w := range a.facts.Workflows {
			if w.Status == "completed" || w.ID == c.workflow.ID || !cancelled && a.facts.has(w, c.name) {
				continue
			}
			goesOn, same := active[w.ID], w.alike(*c.workflow)
			switch {
			case c.run.Conclusion == "success":
				if goesOn && (same || len(a.facts.fileOf(w).named(c.name)) > 0) {
					c.outcome, c.why = running, "is to run once more, in another run of "+w.title()
				}
			case same && a.facts.isLater(w, c.check):
				c.outcome, c.why = blocked, "was "+c.run.Conclusion+", and a later run of its workflow goes on"
				if goesOn {
					c.outcome = running
				}
			}
		}
	}
}

// limitReruns sets the outcome of checks that need a re-run but can't get one. A check that SIA can't re-run is
// blocked. One that had the maximum number of re-runs is red; but a flaky one is blocked, because it passed on the
// commit, so that the attempt is not the cause, and GitHub still shows it red. One that was cancelled or never ended
// is blocked, too.
func (a *assessment) limitReruns() {
	for _, c := range a.checks {
		gaveUp := c.run.Conclusion == "cancelled" || c.run.Conclusion == "stale"
		no, final := a.facts.notRerun(c.check)
		switch {
		case c.outcome == blocked && c.wasGivenUp() && final && !a.facts.Afterwards:
			a.leaveTo(c, no, final)
		case c.outcome != toRerun || a.facts.Afterwards && gaveUp:
		case a.facts.Afterwards: // nothing is run again
			c.outcome = red
		case !c.required:
		case no != "":
			c.outcome = blocked
			a.leaveTo(c, no, final)
		case a.facts.Reruns >= sia.MaxReruns:
			c.outcome, c.exhausted = red, true
			if c.flaky || c.app == workflowApp || gaveUp {
				c.outcome = blocked
			}
			c.why += fmt.Sprintf("; it was run again %d times already", a.facts.Reruns)
		}
	}
}

// wasGivenUp reports whether a check is a workflow run that ended without a result.
func (c *assessed) wasGivenUp() bool {
	return c.app == workflowApp && (c.workflow.Conclusion == "cancelled" || c.workflow.Conclusion == "stale")
}

// leaveTo leaves a check that SIA can't run again to a person, who may waive it if nobody can run it.
func (a *assessment) leaveTo(c *assessed, why string, final bool) {
	c.why += ", and " + why
	if c.final = final; final && a.facts.waived(c.check) {
		c.required, c.why = false, "a person said to go on without it"
	}
}
