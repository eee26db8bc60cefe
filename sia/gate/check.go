package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// outcome is what a check comes to.
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

// criterion is what one check is known by: the app, its check suite (which GitHub
// Actions makes anew for each run of a workflow) and the name. Runs of several
// criteria of one name are judged each for itself, and all are required where the
// name is.
type criterion struct {
	app   string
	suite int64
	name  string
}

func (r Run) criterion() criterion { return criterion{r.App, r.SuiteID, r.Name} }

// These stand in for an app where a check is no check run.
const (
	statusApp   = "\x00status"
	workflowApp = "\x00workflow" // a workflow run without jobs
)

// check is one criterion with all that is known about it on one commit. Twins
// (runs of one criterion of which none replaces the other) are a check each.
type check struct {
	criterion
	label     string    // its name for people, told apart from others of that name
	appID     int64     // of the app; 0: not known
	workflow  *Workflow // of its run, where that is known
	runs      []Run     // the run that counts and those that it replaced, oldest first; none of a status
	run       Run       // the one that counts; zero of a status and of a workflow run without jobs
	url       string
	outcome   outcome
	flaky     bool // it went green and red on this commit
	exhausted bool // it would be run again, and was too often
	why       string
	required  bool
	last      time.Time // newest event of any of its runs
}

// weather holds the failure classes that pass by themselves. Package failure
// makes them, as it does notStarted; the gate must not import its sibling.
var weather = map[string]bool{"rate_limit": true, "network": true, "infrastructure": true}

// notStarted is the failure class of a job that GitHub never began.
const notStarted = "not_started"

// checks makes checks of all that is known about the commit, without SIA's own.
// They are sorted by name.
func (c commit) checks() []check {
	var out []check
	for k, rs := range grouped(c.runs) {
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
	for _, w := range c.idle() {
		if found, ok := c.ofWorkflow(w); ok {
			out = append(out, found)
		}
	}
	out = withoutReplaced(out)
	slices.SortFunc(out, func(a, b check) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.app, b.app), cmp.Compare(a.suite, b.suite),
			cmp.Compare(a.run.ID, b.run.ID))
	})
	tellApart(out)
	return out
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
		if r.ID == n.ID {
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
		return skipped, r.Conclusion + " counts as green"
	case "action_required":
		return blocked, "asks a person to act"
	}
	if r.Class == notStarted {
		return blocked, "was never started: " + cmp.Or(r.Said, "GitHub does not say why")
	}
	switch r.Conclusion {
	case "cancelled", "stale":
		return again, "was " + map[string]string{"cancelled": "cancelled",
			"stale": "given up by GitHub as stale"}[r.Conclusion]
	}
	if weather[r.Class] {
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
	c := check{criterion: criterion{app: statusApp, name: s.Context}, appID: s.AppID, url: s.URL, last: s.UpdatedAt}
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

// ofWorkflow judges a workflow run of which no job is under way. It is no check
// where there was nothing to run.
func (c commit) ofWorkflow(w idle) (check, bool) {
	out := check{criterion: criterion{workflowApp, w.SuiteID, cmp.Or(w.Name, w.Path)}, workflow: &w.Workflow, url: w.URL,
		last: w.last}
	switch {
	case w.Status == "action_required" || w.Conclusion == "action_required":
		out.outcome, out.why = blocked, "waits for somebody's approval before it runs"
	case w.Status != "completed" && w.jobs:
		out.outcome, out.why = running, "has not finished"
	case w.Status != "completed":
		out.outcome, out.why = running, "has not begun"
	case w.Conclusion == "success" || w.Conclusion == "neutral" || w.Conclusion == "skipped":
		return check{}, false
	case w.Conclusion == "cancelled" || w.Conclusion == "stale":
		if slices.ContainsFunc(c.workflows, func(o Workflow) bool {
			return o.Path == w.Path && o.ID != w.ID && o.StartedAt.After(w.StartedAt)
		}) {
			return check{}, false
		}
		out.outcome, out.why = blocked, "was cancelled before any of its jobs began"
	default:
		out.outcome, out.why = red, "ended as "+w.Conclusion+" before any of its jobs began"
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
