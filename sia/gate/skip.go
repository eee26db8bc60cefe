package gate

import (
	"cmp"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// missSkipped lets jobs that were skipped stand as missed where what skips them is no judgement of the change: they ran
// on an earlier commit of the task or on most merged pull requests, or their condition passes over drafts or over who
// opened the pull request. GitHub takes them for a success.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
//
// Where nothing is green, nothing was validated, and that is asked about by itself.
func (j *judgement) missSkipped() {
	if !slices.ContainsFunc(j.checks, func(c check) bool { return c.required && c.outcome == green }) {
		return
	}
	for i := range j.checks {
		c := &j.checks[i]
		if !c.required || c.outcome != skipped || c.held || slices.Contains(j.Waived, c.label) {
			continue
		}
		why, missed := j.passedOver(*c)
		if !missed {
			continue
		}
		c.outcome, c.missed, c.why = running, true, "was skipped; "+why
		guarded := j.Draft && !j.Final // marking it ready is tried before anything is waited for
		if limit := j.Settings.Wait.D(); guarded || j.Now.Sub(j.Since) >= limit {
			c.outcome = blocked
		}
	}
}

// passedOver says why a job that was skipped should have run, as a sentence without its full stop.
func (j *judgement) passedOver(c check) (why string, missed bool) {
	if c.workflow == nil || c.run.Conclusion != "skipped" || isPaperwork(c.name) {
		return "", false
	}
	f, known := j.fileOf(c)
	if !known {
		return c.ran, c.ran != ""
	}
	ready := slices.ContainsFunc(f.Triggers, func(t Trigger) bool { return t.Event == c.workflow.Event && t.Ready })
	asks := f.asks(c.name)
	switch {
	case !f.job(c.name).Code, asks.Calls != "":
		return "", false // it validates nothing, or nobody can read what it asks
	case asks.Part && (!asks.Draft || ready && !j.Draft):
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

// asks is what the conditions ask that may have a check run's job skipped: its own, and those of what it needs. Calls
// is that it is a job of a reusable workflow that is not followed.
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

// obstacle is a check that a person has to see to.
func (c check) obstacle() sia.Obstacle {
	return sia.Obstacle{Check: c.label, Reason: c.why, URL: c.url, Absent: c.missed, Missed: c.missed, Waivable: c.form}
}
