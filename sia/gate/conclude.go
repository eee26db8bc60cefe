package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// judgement is the verdict on a commit, and the reasons for it.
type judgement struct {
	facts      *facts
	required   *requirements
	assessment *assessment
	result     Result

	green   []string       // required checks that are green
	rests   []string       // those of them that ran code, for people
	beside  []string       // other green checks that ran code, for people
	pending []string       // reasons why a verdict is too early
	awaited []string       // reasons why a pass is too early
	red     []string       // reasons for a red verdict
	again   []string       // reasons for a re-run
	rerun   []int64        // ids of the runs to re-run
	blocked []sia.Obstacle // obstacles that a person has to remove
	idle    []string       // skipped required checks
	skips   int            // skipped required checks that count as green
	excuses int            // excused required checks
}

// conclude judges by the outcomes of the checks.
func conclude(f *facts, r *requirements, a *assessment) *judgement {
	j := &judgement{facts: f, required: r, assessment: a}
	j.result.Explain, j.result.Reported = r.explain(), f.head.reported()
	if len(f.checks)+len(r.absent) == 0 {
		j.noChecks()
		return j
	}
	if f.MergeUnknown && f.Final { // if not final, one more look follows
		j.awaited = append(j.awaited, awaitsMerge)
	}
	j.show()
	j.showAbsent()
	j.showMissed()
	slices.SortStableFunc(j.result.Checks, requiredFirst)
	j.count()
	j.decide()
	return j
}

// decide sets the verdict. If it is red or green, [judgement.final] explains it.
func (j *judgement) decide() {
	switch quiet := j.unsettled(); {
	case len(j.pending) > 0:
		j.wait(j.pending...)
	case quiet > 0:
		j.wait(fmt.Sprintf("Every required check has finished; waiting %s in case more are created",
			quiet.Round(time.Second)))
	case len(j.red) > 0 && j.facts.MergeUnknown && j.mayBeOverruled():
		j.wait(append(j.red, awaitsMerge)...)
	case len(j.red) > 0:
		j.result.Verdict = sia.VerdictRed
	case len(j.again) > 0:
		j.result.Verdict, j.result.Rerun = sia.VerdictRerun, j.rerun
		j.sentences(j.again)
		j.explain("To be run again: re-run %d of at most %d for this commit.", j.facts.Reruns+1, sia.MaxReruns)
	case len(j.awaited) > 0:
		j.wait(j.awaited...)
	case j.formAlone() && len(j.rests)+len(j.beside) == 0 && !j.facts.waitIsOver():
		j.wait(fmt.Sprintf("Nothing has run the code yet; waiting until %s have passed", j.facts.Settings.Wait.D()))
	case len(j.blocked) > 0:
		j.result.Verdict, j.result.Blocked = sia.VerdictBlocked, j.blocked
		j.explainBlocked()
		j.result.Guarded = j.facts.Draft && !slices.ContainsFunc(j.blocked, func(b sia.Obstacle) bool { return !b.Absent })
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
	return slices.ContainsFunc(j.assessment.checks, func(c *assessed) bool {
		return c.outcome == red && c.required && c.app != workflowApp && c.run.WorkflowRun == 0
	})
}

// noChecks judges a commit without any check and without required names.
func (j *judgement) noChecks() {
	limit := j.facts.Settings.Wait.D()
	if !j.facts.waitIsOver() {
		j.wait(fmt.Sprintf("No check has appeared yet; waiting until %s have passed", limit))
		return
	}
	j.result.Verdict = sia.VerdictNone
	j.explain("No check appeared within %s, so there is no signal to go by.", limit)
	for _, e := range j.required.missed[:min(len(j.required.missed), maxMissed)] {
		j.explain("%s is missing; %s.", e.Name, e.Why)
	}
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
	j.suspectDraft()
}

// suspectDraft explains that checks may have no result because the pull request is a draft.
func (j *judgement) suspectDraft() {
	if j.facts.Draft {
		j.result.Guarded = true
		j.explain("The pull request is a draft, which checks are often told to pass over.")
	}
}

// noCode sets the verdict if the green checks only judge the form of the pull request, or the
// base's code: a check that runs the code may still appear.
func (j *judgement) noCode() {
	running := slices.ContainsFunc(j.assessment.checks, func(c *assessed) bool { return c.outcome == running })
	if running || len(j.idle) == 0 && !j.facts.waitIsOver() {
		j.wait(fmt.Sprintf("Nothing has run the code yet; waiting until %s have passed, or what runs has ended",
			j.facts.Settings.Wait.D()))
		return
	}
	j.result.Verdict = sia.VerdictNone
	j.explain("Nothing ran the code, as far as SIA can tell: all that is green is %s.", names(j.green))
	var unsure []string
	for _, c := range j.assessment.checks {
		if c.outcome == green && j.facts.isUnknown(c.check) {
			unsure = append(unsure, c.label)
		}
	}
	if len(unsure) > 0 {
		j.explain("Whether %s builds or tests the code, SIA can't tell: a person may say so.", names(unsure))
	}
	if len(j.idle) > 0 {
		j.explain("%s.", strings.Join(j.idle, ", "))
	}
	j.suspectDraft()
}

// count sorts the required checks by outcome into the judgement's lists.
func (j *judgement) count() {
	for _, c := range j.assessment.checks {
		if c.app == workflowApp && c.outcome == running {
			j.pending = append(j.pending, c.label+" "+c.why) // it may still create a job with a required name
			continue
		}
		if c.outcome == green && c.byRun && j.assessment.runExcused(c) {
			continue // the rule requires the whole run, which is not green
		}
		if c.outcome == green && j.facts.runsCode(c.check) {
			where := &j.beside
			if c.required {
				where = &j.rests
			}
			*where = append(*where, fmt.Sprintf("`%s` (%s)", c.label, c.source()))
		}
		if !c.required || c.follows {
			continue
		}
		switch {
		case c.outcome == green:
			j.green = append(j.green, c.label)
			if c.flaky {
				j.explain("%s is %s.", c.label, c.why)
			}
		case c.outcome == skipped && c.runsInQueue():
			j.explain("%s was skipped: it runs in the merge queue.", c.label)
		case c.outcome == skipped:
			if !c.held {
				j.skips++
			}
			j.idle = append(j.idle, c.label+" was "+cmp.Or(c.run.Conclusion, "skipped"))
		case c.outcome == excused && j.facts.keepsFromMerging(c.check):
			j.blocked = append(j.blocked, sia.Obstacle{Check: c.label, URL: c.url, Waivable: true, Reason: redThere})
		case c.outcome == excused:
			j.excuses++
			j.explain("%s is excused: %s.", c.label, c.why)
		case c.outcome == running:
			j.pending = append(j.pending, c.label+" "+c.why)
		case c.outcome == red && c.byRun && c.runUnfinished(): // it may be allowed to fail
			j.blocked = append(j.blocked, c.obstacle(", and its workflow run, which a rule requires, goes on"))
		case c.outcome == red:
			j.red = append(j.red, c.label+" "+c.why)
		case c.outcome == toRerun && j.assessment.runActive(c):
			j.pending = append(j.pending, c.label+" "+c.why+", and can be run again when its workflow run has ended")
		case c.outcome == toRerun && c.runUnfinished():
			j.blocked = append(j.blocked, c.obstacle(", and can't be run again while its workflow run goes on"))
		case c.outcome == toRerun:
			j.again = append(j.again, c.label+" "+c.why)
			j.rerun = append(j.rerun, cmp.Or(c.run.ID, c.job))
		case c.outcome == blocked:
			j.blocked = append(j.blocked, c.obstacle(""))
		}
	}
}

// redThere is the reason why an excused check that a rule requires is an obstacle.
const redThere = "is red on the base commit too, so this change is not to blame; a rule requires it, and GitHub will " +
	"not merge this while it is red there"

// unsettled returns the remaining quiet time after the last event.
func (j *judgement) unsettled() time.Duration {
	last := j.facts.Since
	for _, c := range j.assessment.checks {
		last = latest(last, c.last)
	}
	return max(0, j.facts.Settings.Settle.D()-max(0, j.facts.Now.Sub(last)))
}

// settled reports whether the verdict of the checks is green or red.
func (j *judgement) settled() bool {
	return j.result.Verdict == sia.VerdictGreen || j.result.Verdict == sia.VerdictRed
}

// formAlone reports whether checks of the form are the only obstacles.
func (j *judgement) formAlone() bool {
	form := func(c *assessed) bool { return c.required && c.form }
	other := func(c *assessed) bool { return c.required && c.outcome == blocked && !c.form }
	return len(j.required.absent)+len(j.required.missed) == 0 &&
		slices.ContainsFunc(j.assessment.checks, form) && !slices.ContainsFunc(j.assessment.checks, other)
}

// wait sets the verdict pending.
func (j *judgement) wait(why ...string) {
	j.result.Verdict = sia.VerdictPending
	j.sentences(why)
}

func (j *judgement) explain(format string, args ...any) {
	j.result.Explain = append(j.result.Explain, fmt.Sprintf(format, args...))
}

func (j *judgement) sentences(why []string) {
	for _, w := range why {
		j.explain("%s.", w)
	}
}
