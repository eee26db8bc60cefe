package gate

import (
	"cmp"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// missSkipped marks skipped jobs as missed if they were not skipped because of the change: they ran on an earlier
// commit of the task or on most merged pull requests, or their condition skips drafts or the author of the pull
// request. GitHub counts them as successful.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
//
// If nothing is green, nothing was validated, and a person is asked about that instead.
func (j *judgement) missSkipped() {
	if !slices.ContainsFunc(j.checks, func(c check) bool { return c.required && c.outcome == green }) {
		return
	}
	for i := range j.checks {
		c := &j.checks[i]
		if !c.required || c.outcome != skipped || c.held || j.waived(*c) {
			continue
		}
		why, missed := j.passedOver(*c)
		if !missed {
			continue
		}
		c.outcome, c.missed, c.why = running, true, "was skipped; "+why
		guarded := j.Draft && !j.Final // the pull request is marked ready before waiting
		if guarded || j.waitIsOver() {
			c.outcome = blocked
		}
	}
}

// passedOver returns why a skipped job should have run, as a sentence without its full stop, and whether it should.
func (f *facts) passedOver(c check) (why string, missed bool) {
	if c.workflow == nil || c.run.Conclusion != "skipped" || isPaperwork(c.name) {
		return "", false
	}
	if c.file.Unread {
		return c.ran, c.ran != ""
	}
	ready := slices.ContainsFunc(c.file.Triggers, func(t Trigger) bool { return t.Event == c.workflow.Event && t.Ready })
	asks := c.file.asks(c.name)
	switch {
	case !c.file.job(c.name).Code, asks.Calls != "":
		return "", false // it validates nothing, or its condition is unknown
	case asks.Part && (!asks.Draft || ready && !f.Draft):
		return "", false
	case asks.Draft && !ready && (asks.Guard || c.ran != ""):
		return "its condition passes over drafts, and its workflow does not run when one is marked ready " +
			"(ready_for_review): once the pull request is no draft, a commit that is pushed to its branch starts it", true
	case c.ran != "":
		return c.ran, true
	case asks.Draft && asks.Guard:
		return "its condition passes over drafts", true
	case asks.Guard:
		return "its condition asks who opened the pull request", true
	}
	return "", false
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

// obstacle returns the check as an obstacle that a person has to remove.
func (c check) obstacle() sia.Obstacle {
	return sia.Obstacle{Check: c.label, Reason: c.why, URL: c.url, Absent: c.missed, Missed: c.missed, Waivable: c.form}
}
