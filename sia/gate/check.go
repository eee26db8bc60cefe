package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// outcome is the gate's classification of a check.
type outcome int

const (
	running outcome = iota
	green
	skipped // or neutral: it ran nothing, and counts as green only if another check ran
	red
	excused
	toRerun // to be run again: cancelled, stale, transient failure, or red after green
	blocked // no result before a person acts
)

var colours = [...]sia.CheckColour{running: sia.Running, green: sia.Green, skipped: sia.Skipped, red: sia.Red,
	excused: sia.Excused, toRerun: sia.Running, blocked: sia.Blocked}

// criterion identifies one check: the app and the name, and for a job its check suite,
// which GitHub Actions creates for each run of a workflow. A check run that is not a job
// is in an arbitrary suite of GitHub's choice. Several criteria with one name are judged
// separately, and all are required if the name is.
type criterion struct {
	app   string
	suite int64 // 0: not a job
	name  string
}

func (r Run) criterion() criterion {
	if r.WorkflowRun == 0 {
		return criterion{app: r.App, name: r.Name}
	}
	return criterion{r.App, r.SuiteID, r.Name}
}

// Values of criterion.app for checks that are not check runs.
const (
	statusApp   = "\x00status"
	workflowApp = "\x00workflow" // a state of a workflow run that none of its jobs shows
)

// check is one criterion with its runs on one commit, and their outcome as GitHub reported it. Twins
// (runs of one criterion that do not replace each other) are separate checks.
type check struct {
	criterion
	label    string    // name for people, distinct from other checks of that name
	appID    int64     // of the app; 0: not known
	workflow *Workflow // workflow run of the job; nil: not a job, or not known
	file     File      // of the workflow; Unread: not a job, not known, or a check of the base
	// indices of the checks in its workflow run because of which it may be skipped: those of the jobs that it needs, with
	// the check of the run itself, and those for which the file does not show whether it needs them: all if the file is
	// not known, and the jobs of a reusable workflow that was not expanded
	needs, mayNeed []int
	runs           []Run // the run that counts and those that it replaced, oldest first; none for a status
	run            Run   // the run that counts; zero for a status and for a workflow run
	url            string
	said           string // a status's description, for people
	outcome        outcome
	flaky          bool // it was green and red on this commit
	outdid         bool // it replaced a red check of an earlier run of its workflow
	why            string
	job            int64     // of a workflow run: the job to re-run with it; 0: none
	last           time.Time // time of the newest event of its runs
}

// kind returns what a check has in common with those of other runs and commits that may be the same: its app and,
// unless it is a workflow run, its name.
func (c check) kind() criterion {
	if c.app == workflowApp {
		return criterion{app: c.app}
	}
	return criterion{app: c.app, name: c.name}
}

// hasResult reports whether the check ended with a result.
func (c check) hasResult() bool {
	return c.outcome != skipped && c.outcome != running && c.outcome != blocked
}

// workflowRun returns the id of the check's workflow run; 0 if it has none.
func (c check) workflowRun() int64 {
	if c.app == workflowApp {
		return c.workflow.ID
	}
	return c.run.WorkflowRun
}

// transient contains the failure classes that a re-run may fix. Package failure defines
// them and the two below; the gate must not import its sibling.
var transient = map[string]bool{"rate_limit": true, "network": true, "infrastructure": true}

// Failure classes with their own rules: of a job that GitHub never started, and of one that it ended at its time
// limit.
const (
	notStarted = "not_started"
	timeout    = "timeout"
)

// checks returns the checks of the commit, without SIA's own, sorted by name.
func (c commit) checks() []check {
	var out []check
	for k, rs := range grouped(slices.DeleteFunc(slices.Clone(c.runs), c.outdated)) {
		out = append(out, c.checksOf(k, rs)...)
	}
	newest := map[string]Status{}
	for _, s := range c.statuses {
		// The API lists newest first, so the first of equal times is kept.
		if old, ok := newest[s.Context]; !ok || s.UpdatedAt.After(old.UpdatedAt) {
			newest[s.Context] = s
		}
	}
	for _, s := range newest {
		out = append(out, statusCheck(s))
	}
	out, outdone := withoutReplaced(out)
	jobs := map[int64][]check{} // by workflow run
	for _, o := range out {
		if id := o.run.WorkflowRun; id != 0 {
			jobs[id] = append(jobs[id], o)
		}
	}
	for _, w := range c.workflows {
		if found, ok := c.workflowCheck(w, jobs[w.ID]); ok && !(outdone[w.ID] && w.Status == "completed") {
			out = append(out, found)
		}
	}
	slices.SortFunc(out, func(a, b check) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.app, b.app), cmp.Compare(a.suite, b.suite),
			cmp.Compare(a.run.ID, b.run.ID))
	})
	setLabels(out)
	return out
}

// outdated reports whether a run failed in an attempt of its workflow run after which a later attempt succeeded as a
// whole: GitHub's list of the latest runs no longer contains it, for example if a matrix has fewer legs now.
func (c commit) outdated(r Run) bool {
	w := c.workflowOf(r)
	if r.Attempt <= 0 || w == nil || !r.failedIn(*w) {
		return false
	}
	others := func(o Run) bool { return o.WorkflowRun == r.WorkflowRun && o.Name == r.Name && o.ID != r.ID }
	if slices.ContainsFunc(c.runs, others) { // the other runs decide
		return false
	}
	return w.Attempt > r.Attempt || w.Attempt == 0 && slices.ContainsFunc(c.runs, func(o Run) bool {
		return o.WorkflowRun == r.WorkflowRun && o.Attempt > r.Attempt
	})
}

// failedIn reports whether a job was not successful in a workflow run that was: it was allowed to fail, or it is of an
// earlier attempt.
func (r Run) failedIn(w Workflow) bool {
	o, _ := concluded(r)
	return o != green && o != skipped && o != running && w.succeeded()
}

// Green returns the sorted names of a commit's green checks.
func Green(runs []Run, statuses []Status, workflows []Workflow) []string {
	var names []string
	for _, c := range (commit{runs, statuses, workflows}).checks() {
		if c.outcome == green || c.outcome == skipped {
			names = append(names, c.label)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checksOf returns the checks of the runs of one criterion: one if a run replaced
// all others, else one for each run that was not replaced.
func (c commit) checksOf(k criterion, rs []Run) []check {
	slices.SortFunc(rs, func(a, b Run) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.StartedAt.Compare(b.StartedAt)) })
	w := c.workflowOf(rs[len(rs)-1])
	present, alone := standing(rs, w)
	if alone {
		return []check{newCheck(k, rs, present[0], w)}
	}
	var out []check
	for _, r := range present {
		out = append(out, newCheck(k, []Run{r}, r, w))
	}
	return out
}

// newCheck returns the check with the run n that counts, and with the replaced runs
// as its history.
func newCheck(k criterion, rs []Run, n Run, w *Workflow) check {
	c := check{criterion: k, appID: n.AppID, workflow: w, file: File{Unread: true}, runs: rs, run: n, url: n.URL}
	c.outcome, c.why = concluded(n)
	var passed, failed bool
	cancelled := 0
	for _, r := range rs {
		c.last = latest(c.last, r.StartedAt, r.CompletedAt)
		if r.Conclusion == "cancelled" {
			cancelled++
		}
		if r.ID == n.ID || r.WorkflowRun == 0 { // an app's new check run may be a correction, not another attempt
			continue
		}
		switch o, _ := concluded(r); o {
		case green:
			passed = true
		case red:
			failed = true
		}
	}
	switch {
	case c.outcome == green && failed:
		c.flaky, c.why = true, flakyGreen
	case c.outcome == red && passed:
		c.outcome, c.flaky = toRerun, true
		c.why = "flaky: passed before, and fails now, on the same commit"
	case c.outcome == toRerun && n.Conclusion == "cancelled" && cancelled > 1:
		c.outcome, c.why = blocked, "was cancelled, run again, and cancelled again"
	}
	return c
}

// flakyGreen is the reason of a check that was red and is green.
const flakyGreen = "flaky: failed before, and passes now, on the same commit"

// concluded returns the outcome of one run by its status and conclusion, and the reason.
func concluded(r Run) (outcome, string) {
	switch {
	case r.Status == "waiting":
		return running, "waits for somebody's approval"
	case r.Status != "completed":
		return running, "has not finished"
	}
	switch r.Conclusion {
	case "success":
		return green, ""
	case "neutral", "skipped":
		return skipped, r.Conclusion
	case "action_required":
		return blocked, "asks a person to act"
	}
	if r.Class == notStarted {
		return blocked, "was never started: " + cmp.Or(r.Said, "GitHub does not say why")
	}
	switch r.Conclusion {
	case "cancelled", "stale":
		if r.Class == timeout { // GitHub concludes it as cancelled
			return red, "timed out"
		}
		return toRerun, "was " + map[string]string{"cancelled": "cancelled",
			"stale": "given up by GitHub as stale"}[r.Conclusion]
	}
	if transient[r.Class] {
		return toRerun, "failed for a reason outside the code: " + r.Class
	}
	switch r.Conclusion {
	case "failure":
		return red, "failed"
	case "timed_out":
		return red, "timed out"
	case "startup_failure":
		return red, "could not start"
	default:
		return red, "ended with the unknown conclusion " + r.Conclusion
	}
}

func statusCheck(s Status) check {
	c := check{criterion: criterion{app: statusApp, name: s.Context}, appID: s.AppID, file: File{Unread: true},
		url: s.URL, said: s.Description, last: s.UpdatedAt}
	switch s.State {
	case "success":
		c.outcome = green
	case "pending":
		c.outcome, c.why = running, "has not finished"
	case "failure":
		c.outcome, c.why = red, "failed"
	case "error":
		c.outcome, c.why = red, "ended with an error"
	default:
		c.outcome, c.why = red, "has the unknown state "+s.State
	}
	return c
}

// workflowCheck returns a check for a state of a workflow run that none of its jobs shows, and
// whether there is one. A run has its own conclusion: an empty matrix creates no job and fails
// the run (https://github.com/canonical/operator-workflows/issues/918), and so does an error
// that keeps the run from starting.
func (c commit) workflowCheck(w Workflow, jobs []check) (check, bool) {
	out := check{criterion: criterion{workflowApp, w.SuiteID, w.title()}, workflow: &w, url: w.URL,
		file: File{Unread: true}, last: w.StartedAt}
	unfinished, explained := false, false
	for _, j := range jobs {
		out.last, out.job = latest(out.last, j.last), max(out.job, j.run.ID)
		unfinished = unfinished || j.outcome == running
		explained = explained || j.outcome == red || j.outcome == toRerun || j.outcome == blocked
	}
	none, early := len(jobs) == 0, ", and none of its jobs says why"
	if none {
		early = " before any of its jobs began"
	}
	switch {
	case explained && (w.Status == "completed" || unfinished):
		return check{}, false
	case w.Status == "action_required" || w.Conclusion == "action_required":
		out.outcome, out.why = blocked, "waits for somebody's approval before it runs"
	case w.Status != "completed" && unfinished:
		return check{}, false
	case w.Status != "completed" && none:
		out.outcome, out.why = running, "has not begun"
	case w.Status != "completed" || w.Conclusion == "":
		out.outcome, out.why = running, "has not finished"
	case w.Conclusion == "success" || w.Conclusion == "neutral" || w.Conclusion == "skipped":
		return check{}, false
	case w.Conclusion == "cancelled" && c.replaced(w), w.Conclusion != "cancelled" && c.succeededLater(w):
		return check{}, false
	case w.Conclusion == "cancelled":
		out.outcome, out.why = blocked, "was cancelled"+early
	case w.Conclusion == "stale" && none:
		out.outcome, out.why = blocked, "was given up by GitHub as stale"+early
	case w.Conclusion == "stale":
		out.outcome, out.why = toRerun, "was given up by GitHub as stale"+early
	default:
		out.outcome, out.why = red, "ended as "+w.Conclusion+early
	}
	return out, true
}

func latest(ts ...time.Time) time.Time {
	var l time.Time
	for _, t := range ts {
		if t.After(l) {
			l = t
		}
	}
	return l
}

// source returns the source of a check, for people.
func (c check) source() string {
	switch {
	case c.workflow != nil && c.workflow.Event != "":
		return "workflow " + c.workflow.title() + " on " + c.workflow.Event
	case c.workflow != nil:
		return "workflow " + c.workflow.title()
	case c.app == statusApp:
		return "commit status"
	}
	return "app " + c.app
}

// notRerun returns why SIA can't run a check again, and whether nobody can; empty if SIA can. GitHub forbids it for the
// check runs of other apps, and those that a workflow creates through the API belong to another app, too. It runs no
// workflow again that it generated, and it may refuse others.
// https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run--status-codes
// https://github.com/github/codeql-action/issues/3465
func (f *facts) notRerun(c check) (why string, final bool) {
	switch {
	case c.workflowRun() == 0:
		return "GitHub lets only its own app and people run it again", false
	case c.workflow != nil && c.workflow.isDynamic():
		return "GitHub lets nobody run it again; a new commit starts it", true
	case slices.Contains(f.Unrepeatable, c.workflowRun()):
		return "GitHub refused to run it again", true
	}
	return "", false
}

// runUnfinished reports whether a check's workflow run has not completed: GitHub re-runs none of its jobs before that.
// https://docs.github.com/en/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
func (c check) runUnfinished() bool {
	return c.workflow != nil && c.app != workflowApp && c.workflow.Status != "" && c.workflow.Status != "completed"
}
