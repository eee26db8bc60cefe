package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// outcome is how the gate counts a check.
type outcome int

const (
	running outcome = iota
	green
	skipped // or neutral: it ran nothing, and counts as green only beside something that did
	red
	excused
	again   // to be run again: cancelled, stale, weather, or red after green
	blocked // it says nothing before a person acts
)

func (o outcome) colour() sia.CheckColour {
	switch o {
	case green:
		return sia.Green
	case skipped:
		return sia.Skipped
	case running, again:
		return sia.Running
	case excused:
		return sia.Excused
	case blocked:
		return sia.Blocked
	default:
		return sia.Red
	}
}

// criterion is what one check is known by: the app and the name, and of a job its
// check suite, which GitHub Actions makes anew for each run of a workflow. A check run
// that is no job hangs in whichever suite GitHub chose. Runs of several criteria of one
// name are judged each for itself, and all are required where the name is.
type criterion struct {
	app   string
	suite int64 // 0: it is no job
	name  string
}

func (r Run) criterion() criterion {
	if r.WorkflowRun == 0 {
		return criterion{app: r.App, name: r.Name}
	}
	return criterion{r.App, r.SuiteID, r.Name}
}

// These stand in for an app where a check is no check run.
const (
	statusApp   = "\x00status"
	workflowApp = "\x00workflow" // what a workflow run says besides its jobs
)

// check is one criterion with all that is known about it on one commit. Twins
// (runs of one criterion of which none replaces the other) are a check each.
type check struct {
	criterion
	label     string    // its name for people, told apart from others of that name
	appID     int64     // of the app; 0: not known
	workflow  *Workflow // of its run, where that is known
	runs      []Run     // the run that counts and those that it replaced, oldest first; none of a status
	run       Run       // the one that counts; zero of a status and of a workflow run
	url       string
	said      string // of a status: what it says, for people
	outcome   outcome
	flaky     bool // it went green and red on this commit
	exhausted bool // it would be run again, and was too often
	why       string
	required  bool
	byRun     bool      // it is required as a job of a workflow that a rule requires, and by nothing else
	form      bool      // it is blocked for something of the pull request's form, or that its service forbids
	held      bool      // it was skipped, and not green, for something of its workflow run is neither
	ran       string    // of one that was skipped: where it ran, for people
	missed    bool      // it was skipped, and should have run
	follows   bool      // it is not green for jobs that it needs, and judges nothing else
	job       int64     // of a workflow run: the job that is run again with it; 0: there is none
	last      time.Time // newest event of any of its runs
}

// isRunning reports whether a check itself has not ended, and is not overdue.
func (c check) isRunning() bool { return c.outcome == running && c.run.Status != "completed" }

// workflowRun is the id of the workflow run that a check is of; 0: of none.
func (c check) workflowRun() int64 {
	if c.app == workflowApp {
		return c.workflow.ID
	}
	return c.run.WorkflowRun
}

// transient holds the failure classes that pass by themselves. Package failure
// makes them, as it does notStarted; the gate must not import its sibling.
var transient = map[string]bool{"rate_limit": true, "network": true, "infrastructure": true}

// Failure classes that the gate knows by themselves: of a job that GitHub never began, and of one that it ended at
// its time limit.
const (
	notStarted = "not_started"
	timeout    = "timeout"
)

// checks makes checks of all that is known about the commit, without SIA's own.
// They are sorted by name.
func (c commit) checks() []check {
	var out []check
	for k, rs := range grouped(slices.DeleteFunc(slices.Clone(c.runs), c.outdated)) {
		out = append(out, c.ofRuns(k, rs)...)
	}
	newest := map[string]Status{}
	for _, s := range c.statuses {
		// The API lists newest first, so the first of equals stays.
		if old, ok := newest[s.Context]; !ok || s.UpdatedAt.After(old.UpdatedAt) {
			newest[s.Context] = s
		}
	}
	for _, s := range newest {
		out = append(out, ofStatus(s))
	}
	out = withoutReplaced(out)
	for _, w := range c.workflows {
		jobs := slices.DeleteFunc(slices.Clone(out), func(o check) bool { return o.run.WorkflowRun != w.ID || w.ID == 0 })
		if found, ok := c.ofWorkflow(w, jobs); ok {
			out = append(out, found)
		}
	}
	slices.SortFunc(out, func(a, b check) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.app, b.app), cmp.Compare(a.suite, b.suite),
			cmp.Compare(a.run.ID, b.run.ID))
	})
	tellApart(out)
	return out
}

// outdated reports whether a run did not go well in an attempt of its workflow run after which another succeeded as a
// whole: GitHub's list of the latest has it no more, as where a matrix has fewer legs now.
func (c commit) outdated(r Run) bool {
	w := c.workflowOf(r)
	if r.Attempt <= 0 || w == nil || !r.failedIn(*w) {
		return false
	}
	others := func(o Run) bool { return o.WorkflowRun == r.WorkflowRun && o.Name == r.Name && o.ID != r.ID }
	if slices.ContainsFunc(c.runs, others) { // they say what it counts as
		return false
	}
	return w.Attempt > r.Attempt || w.Attempt == 0 && slices.ContainsFunc(c.runs, func(o Run) bool {
		return o.WorkflowRun == r.WorkflowRun && o.Attempt > r.Attempt
	})
}

// failedIn reports whether a job did not go well, for whatever reason, in a workflow run that succeeded: it was allowed
// to, or it is of an earlier attempt.
func (r Run) failedIn(w Workflow) bool {
	o, _ := concluded(r)
	return o != green && o != skipped && o != running && w.succeeded()
}

// Green are the names of a commit's checks that are green, sorted.
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

// ofRuns makes checks of the runs of one criterion: one of the run that replaced
// all others, or one of each run that none replaced.
func (c commit) ofRuns(k criterion, rs []Run) []check {
	slices.SortFunc(rs, func(a, b Run) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.StartedAt.Compare(b.StartedAt)) })
	w := c.workflowOf(rs[len(rs)-1])
	present, alone := standing(rs, w)
	if alone {
		return []check{ofJob(k, rs, present[0], w)}
	}
	var out []check
	for _, r := range present {
		out = append(out, ofJob(k, []Run{r}, r, w))
	}
	return out
}

// ofJob judges a check by the run that counts, and by what the ones that it
// replaced say about it.
func ofJob(k criterion, rs []Run, n Run, w *Workflow) check {
	c := check{criterion: k, appID: n.AppID, workflow: w, runs: rs, run: n, url: n.URL}
	c.outcome, c.why = concluded(n)
	var passed, failed bool
	cancelled := 0
	for _, r := range rs {
		c.last = latest(c.last, r.StartedAt, r.CompletedAt)
		if r.Conclusion == "cancelled" {
			cancelled++
		}
		if r.ID == n.ID || r.WorkflowRun == 0 { // who makes a check run anew may mend it: no attempt
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
		c.flaky = true
		c.why = "flaky: failed before, and passes now, on the same commit"
	case c.outcome == red && passed:
		c.outcome, c.flaky = again, true
		c.why = "flaky: passed before, and fails now, on the same commit"
	case c.outcome == again && n.Conclusion == "cancelled" && cancelled > 1:
		c.outcome, c.why = blocked, "was cancelled, run again, and cancelled again"
	}
	return c
}

// concluded reads status and conclusion of one run.
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
		return again, "was " + map[string]string{"cancelled": "cancelled",
			"stale": "given up by GitHub as stale"}[r.Conclusion]
	}
	if transient[r.Class] {
		return again, "failed for a reason outside the code: " + r.Class
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

func ofStatus(s Status) check {
	c := check{criterion: criterion{app: statusApp, name: s.Context}, appID: s.AppID, url: s.URL, said: s.Description,
		last: s.UpdatedAt}
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

// ofWorkflow judges what a workflow run says besides its jobs. It is no check where that is
// nothing. A run has a conclusion of its own: an empty matrix makes no job and fails the run
// (https://github.com/canonical/operator-workflows/issues/918), and so does what keeps a run
// from starting.
func (c commit) ofWorkflow(w Workflow, jobs []check) (check, bool) {
	out := check{criterion: criterion{workflowApp, w.SuiteID, w.title()}, workflow: &w, url: w.URL,
		last: w.StartedAt}
	unfinished, explained := false, false
	for _, j := range jobs {
		out.last, out.job = latest(out.last, j.last), max(out.job, j.run.ID)
		unfinished = unfinished || j.outcome == running
		explained = explained || j.outcome == red || j.outcome == again || j.outcome == blocked
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
	case w.Conclusion == "cancelled" && c.replaced(w):
		return check{}, false
	case w.Conclusion == "cancelled":
		out.outcome, out.why = blocked, "was cancelled"+early
	case w.Conclusion == "stale" && none:
		out.outcome, out.why = blocked, "was given up by GitHub as stale"+early
	case w.Conclusion == "stale":
		out.outcome, out.why = again, "was given up by GitHub as stale"+early
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
