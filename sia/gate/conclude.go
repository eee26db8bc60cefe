package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// conclude derives the verdict from the required checks. If it is red or green, it is not explained before it is final.
func (j *judgement) conclude() {
	j.count()
	switch wait := j.unsettled(); {
	case len(j.pending) > 0:
		j.result.Verdict = sia.VerdictPending
		j.sentences(j.pending)
	case wait > 0:
		j.result.Verdict = sia.VerdictPending
		j.explain("Every required check has finished; waiting %s in case more are created.", wait.Round(time.Second))
	case len(j.red) > 0 && j.MergeUnknown && j.mayBeOverruled():
		j.result.Verdict = sia.VerdictPending
		j.sentences(append(j.red, awaitsMerge))
	case len(j.red) > 0:
		j.result.Verdict = sia.VerdictRed
	case len(j.again) > 0:
		j.result.Verdict, j.result.Rerun = sia.VerdictRerun, j.rerun
		j.sentences(j.again)
		j.explain("To be run again: re-run %d of at most %d for this commit.", j.Reruns+1, sia.MaxReruns)
	case len(j.awaited) > 0:
		j.result.Verdict = sia.VerdictPending
		j.sentences(j.awaited)
	case j.formAlone() && len(j.rests)+len(j.beside) == 0 && !j.waitIsOver():
		j.result.Verdict = sia.VerdictPending
		j.explain("Nothing has run the code yet; waiting until %s have passed.", j.Settings.Wait.D())
	case len(j.blocked) > 0:
		j.result.Verdict, j.result.Blocked = sia.VerdictBlocked, j.blocked
		j.explainBlocked()
		j.result.Guarded = j.Draft && !slices.ContainsFunc(j.blocked, func(b sia.Obstacle) bool { return !b.Absent })
	case len(j.green) == 0:
		j.nothingRan()
	case len(j.rests)+len(j.beside) == 0:
		j.noCode()
	default:
		j.result.Verdict = sia.VerdictGreen
	}
}

// awaitsMerge is the reason to wait for the test merge.
const awaitsMerge = "GitHub has not worked out yet how the pull request merges, and a check may report on the merge"

// mayBeOverruled reports whether a check that reports on the test merge may replace a red check. Jobs of GitHub Actions
// don't replace one another.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (j *judgement) mayBeOverruled() bool {
	return slices.ContainsFunc(j.checks, func(c check) bool {
		return c.outcome == red && c.required && c.app != workflowApp && c.run.WorkflowRun == 0
	})
}

// nothingRan sets the verdict if no required check has a result: all were skipped or
// excused.
func (j *judgement) nothingRan() {
	j.result.Verdict = sia.VerdictNone
	if len(j.idle) == 0 {
		j.explain("All %d required checks are excused, so none of them says whether this change is right.", j.excuses)
		return
	}
	j.explain("Nothing ran that says whether this change is right: %s.", strings.Join(j.idle, ", "))
	if j.Draft {
		j.result.Guarded = true
		j.explain("The pull request is a draft, which checks are often told to pass over.")
	}
}

// noCode sets the verdict if the green checks only judge the form of the pull request, or the
// base's code: a check that runs the code may still appear.
func (j *judgement) noCode() {
	running := slices.ContainsFunc(j.checks, func(c check) bool { return c.outcome == running })
	if running || len(j.idle) == 0 && !j.waitIsOver() {
		j.result.Verdict = sia.VerdictPending
		j.explain("Nothing has run the code yet; waiting until %s have passed, or what runs has ended.", j.Settings.Wait.D())
		return
	}
	j.result.Verdict, j.result.Guarded = sia.VerdictNone, j.Draft
	j.explain("Nothing ran the code, as far as SIA can tell: all that is green is %s.", names(j.green))
	var unsure []string
	for _, c := range j.checks {
		if c.outcome == green && j.isUnknown(c) {
			unsure = append(unsure, c.label)
		}
	}
	if len(unsure) > 0 {
		j.explain("Whether %s builds or tests the code, SIA can't tell: a person may say so.", names(unsure))
	}
	if len(j.idle) > 0 {
		j.explain("%s.", strings.Join(j.idle, ", "))
	}
	if j.Draft {
		j.explain("The pull request is a draft, which checks are often told to pass over.")
	}
}

// count sorts the required checks by outcome into the judgement's lists.
func (j *judgement) count() {
	for _, c := range j.checks {
		if c.app == workflowApp && c.outcome == running {
			j.pending = append(j.pending, c.label+" "+c.why) // it may still create a job with a required name
			continue
		}
		if c.outcome == green && c.byRun && j.runExcused(c) {
			continue // the rule requires the whole run, which is not green
		}
		if c.outcome == green && j.runsCode(c) {
			where := &j.beside
			if c.required {
				where = &j.rests
			}
			*where = append(*where, fmt.Sprintf("`%s` (%s)", c.label, c.source()))
		}
		if !c.required || c.follows {
			continue
		}
		switch c.outcome {
		case green:
			j.green = append(j.green, c.label)
			if c.flaky {
				j.explain("%s is %s.", c.label, c.why)
			}
		case skipped:
			if c.runsInQueue() {
				j.explain("%s was skipped: it runs in the merge queue.", c.label)
				continue
			}
			if !c.held {
				j.skips++
			}
			j.idle = append(j.idle, c.label+" was "+cmp.Or(c.run.Conclusion, "skipped"))
		case excused:
			if o, ok := j.unmergeable(c); ok {
				j.blocked = append(j.blocked, o)
				continue
			}
			j.excuses++
			j.explain("%s is excused: %s.", c.label, c.why)
		case running:
			j.pending = append(j.pending, c.label+" "+c.why)
		case red:
			if c.byRun && c.runUnfinished() { // the job may be allowed to fail, and the rule requires the run
				j.blocked = append(j.blocked, sia.Obstacle{Check: c.label, URL: c.url,
					Reason: c.why + ", and its workflow run, which a rule requires, goes on"})
				continue
			}
			j.red = append(j.red, c.label+" "+c.why)
		case toRerun:
			if j.runActive(c) {
				j.pending = append(j.pending, c.label+" "+c.why+", and can be run again when its workflow run has ended")
				continue
			}
			if c.runUnfinished() {
				j.blocked = append(j.blocked, sia.Obstacle{Check: c.label, URL: c.url,
					Reason: c.why + ", and can't be run again while its workflow run goes on"})
				continue
			}
			j.again = append(j.again, c.label+" "+c.why)
			j.rerun = append(j.rerun, cmp.Or(c.run.ID, c.job))
		case blocked:
			j.blocked = append(j.blocked, c.obstacle())
		}
	}
}

// runExcused reports whether the workflow run of a job is excused for a failure that none of its jobs shows.
func (j *judgement) runExcused(c check) bool {
	return slices.ContainsFunc(j.checks, func(o check) bool {
		return o.app == workflowApp && o.outcome == excused && o.workflowRun() == c.workflowRun()
	})
}

// canRerun reports whether SIA can re-run a check: only jobs of GitHub Actions. GitHub forbids it for the check runs of
// other apps, and those that a workflow creates through the API belong to another app, too.
// https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run--status-codes
func (c check) canRerun() bool { return c.workflowRun() != 0 }

// runUnfinished reports whether a check's workflow run has not completed: GitHub re-runs none of its jobs before that.
// https://docs.github.com/en/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
func (c check) runUnfinished() bool {
	return c.workflow != nil && c.app != workflowApp && c.workflow.Status != "" && c.workflow.Status != "completed"
}

// runActive reports whether a check's workflow run has not completed and a check of it is running.
func (j *judgement) runActive(c check) bool {
	return c.runUnfinished() && slices.ContainsFunc(j.checks, func(o check) bool {
		return o.outcome == running && o.workflowRun() == c.workflowRun()
	})
}

// fail explains a red verdict, or runs the red checks again. Without a doubt, one failure decides, so re-running other
// checks would change nothing.
func (j *judgement) fail() {
	if j.result.Doubt = j.weighDoubt(); j.result.Doubt != nil && j.result.Doubt.Rerun {
		j.result.Verdict, j.result.Rerun = sia.VerdictRerun, j.rerun
		for _, r := range j.blamed() {
			j.result.Rerun = append(j.result.Rerun, r.ID)
		}
		j.sentences(j.red)
		return
	}
	j.sentences(j.red)
	j.sentences(j.again)
	j.explainBlocked()
	j.tampered()
}

// explainBlocked explains what a person has to do.
func (j *judgement) explainBlocked() {
	for _, b := range j.blocked {
		j.explain("%s %s.", b.Check, strings.TrimSuffix(b.Reason, "."))
	}
}

// pass explains a green verdict, or says what it waits for.
func (j *judgement) pass() {
	if j.awaitTests() {
		return
	}
	if j.tampered() && !j.Accepted && !j.askedFor() {
		j.result.Verdict = sia.VerdictTampered
		if j.expectations {
			j.result.Weigh = j.found
		}
		return
	}
	skipped := ""
	if j.skips > 0 { // GitHub counts it as green
		skipped = fmt.Sprintf(", %d skipped", j.skips)
	}
	j.explain("%s green%s.", text.Count(len(j.green), "required check is", "required checks are"), skipped)
	if len(j.rests) == 0 { // the only required check may be one job that needs the others
		j.rests = j.beside
	}
	j.explain("It rests on %s.", names(j.rests))
	j.sentences(j.Tests.Shown)
}

// unsettled returns the remaining quiet time after the last event.
func (j *judgement) unsettled() time.Duration {
	last := j.Since
	for _, c := range j.checks {
		last = latest(last, c.last)
	}
	return max(0, j.Settings.Settle.D()-max(0, j.Now.Sub(last)))
}

// touched is the prefix of a sentence of [Result.Explain] about changes to tests or
// protected paths.
const touched = "The attempt changed how it is checked: "

// TamperingIn returns the finding of [Input.Tampering] in a sentence of
// [Result.Explain], without its final full stop, and whether the sentence contains one.
func TamperingIn(sentence string) (finding string, ok bool) {
	finding, ok = strings.CutPrefix(sentence, touched)
	return strings.TrimSuffix(finding, "."), ok
}

// Findings returns the findings in the sentences of [Result.Explain].
func Findings(explain []string) []string {
	found := []string{}
	for _, s := range explain {
		if f, ok := TamperingIn(s); ok {
			found = append(found, f)
		}
	}
	return found
}

// tampered reports whether the attempt changed tests or protected files, and explains it.
func (j *judgement) tampered() bool {
	for i, t := range j.found {
		j.explain(touched+"%s.", strings.TrimSuffix(t, "."))
		if j.askedFor() {
			j.explain("The issue asks for that: “%s”.", j.Weighing.Quotes[i])
		}
	}
	switch {
	case len(j.found) == 0:
		return false
	case j.Accepted:
		j.explain("A person with write access accepted that.")
	case j.askedFor():
	default:
		j.explain("It does not pass until a person with write access accepts that.")
	}
	return true
}

// askedFor reports whether the issue asks for all of the changed expectations.
func (j *judgement) askedFor() bool {
	return j.expectations && j.Weighing.AskedFor() && slices.Equal(j.Weighing.Findings, j.found)
}

func (j *judgement) sentences(why []string) {
	for _, w := range why {
		j.explain("%s.", w)
	}
}
