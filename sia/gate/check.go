package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Run is one check run as GitHub reports it
// (https://docs.github.com/rest/checks/runs).
type Run struct {
	ID          int64
	Name        string
	App         string // slug of the app that made it
	Own         bool   // made by SIA itself: never judged
	Status      string // completed, or one of queued, in_progress, waiting, requested, pending
	Conclusion  string // set when Status is completed
	URL         string
	StartedAt   time.Time
	CompletedAt time.Time
	Read        bool   // its log was read, so that Class says what it says
	Class       string // the failure class of a red run; empty: none, or not read
}

// Status is one legacy commit status as GitHub reports it
// (https://docs.github.com/rest/commits/statuses). A status can't be run again.
type Status struct {
	Context   string
	State     string // success, pending, failure or error
	URL       string
	UpdatedAt time.Time
}

// outcome is what a check's newest run comes to.
type outcome int

const (
	running outcome = iota
	green
	red
	excused
	again // to be run again: cancelled, stale, weather, or red after green
)

func (o outcome) colour() sia.CheckColour {
	switch o {
	case green:
		return sia.Green
	case running, again:
		return sia.Running
	case excused:
		return sia.Excused
	default:
		return sia.Red
	}
}

// criterion is what makes runs the runs of one check. Checks of one name are
// judged each for itself, and all of them are required where the name is.
type criterion struct{ name, app string }

func (r Run) criterion() criterion { return criterion{r.Name, r.App} }

func (s Status) criterion() criterion { return criterion{s.Context, statusApp} }

// statusApp stands in for an app where a check is a legacy status.
const statusApp = "\x00status"

// check is one criterion with all that is known about it on one commit.
type check struct {
	criterion
	runs      []Run // oldest first; none of a status
	run       Run   // the one that counts, the newest but for those side by side; zero of a status
	url       string
	outcome   outcome
	flaky     bool // it went green and red on this commit
	exhausted bool // it would be run again, and was too often
	why       string
	required  bool
	last      time.Time // newest event of any of its runs
}

// weather holds the failure classes that pass by themselves. Package failure
// makes them; the gate must not import its sibling.
var weather = map[string]bool{"rate_limit": true, "network": true, "infrastructure": true}

// collect makes one check of all runs and statuses of a criterion, and leaves
// SIA's own out. The checks are sorted by name, then app.
func collect(runs []Run, statuses []Status) []check {
	byCriterion := map[criterion][]Run{}
	for _, r := range runs {
		if !r.Own {
			byCriterion[r.criterion()] = append(byCriterion[r.criterion()], r)
		}
	}
	var checks []check
	for k, rs := range byCriterion {
		checks = append(checks, ofRuns(k, rs))
	}
	newest := map[criterion]Status{}
	for _, s := range statuses {
		// The API lists newest first, so the first of equals stays.
		if old, ok := newest[s.criterion()]; !ok || s.UpdatedAt.After(old.UpdatedAt) {
			newest[s.criterion()] = s
		}
	}
	for k, s := range newest {
		checks = append(checks, ofStatus(k, s))
	}
	slices.SortFunc(checks, func(a, b check) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.app, b.app)) })
	return checks
}

// Green are the names of a commit's checks that are green, sorted.
func Green(runs []Run, statuses []Status) []string {
	var names []string
	for _, c := range collect(runs, statuses) {
		if c.outcome == green {
			names = append(names, c.name)
		}
	}
	return slices.Compact(names)
}

// ofRuns judges the runs of one check by the newest, and by what earlier ones on
// the same commit say about it.
func ofRuns(k criterion, rs []Run) check {
	slices.SortFunc(rs, func(a, b Run) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.StartedAt.Compare(b.StartedAt)) })
	n := rs[len(rs)-1]
	c := check{criterion: k, runs: rs, run: n, url: n.URL}
	c.outcome, c.why = concluded(n)
	var passed, failed bool
	for _, r := range rs {
		c.last = latest(c.last, r.StartedAt, r.CompletedAt)
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
	}
	if other, ok := beside(rs, n); ok && c.outcome == green {
		// Two jobs of one name side by side are not a re-run: the newer one's
		// success says nothing about the other.
		c.run, c.url, c.outcome, c.flaky = other, other.URL, again, false
		c.why = "two runs of this name ran side by side, and one of them failed"
	}
	return c
}

// beside finds a red run that was still running when the newest one started.
func beside(rs []Run, n Run) (Run, bool) {
	for _, r := range rs {
		if o, _ := concluded(r); r.ID != n.ID && o == red && !n.StartedAt.IsZero() && n.StartedAt.Before(r.CompletedAt) {
			return r, true
		}
	}
	return Run{}, false
}

// concluded reads status and conclusion of one run.
func concluded(r Run) (outcome, string) {
	if r.Status != "completed" {
		return running, "has not finished"
	}
	switch r.Conclusion {
	case "success":
		return green, ""
	case "neutral", "skipped":
		return green, r.Conclusion + " counts as green"
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
	case "action_required":
		return red, "asks a person to act"
	case "startup_failure":
		return red, "could not start"
	default:
		return red, "ended with the unknown conclusion " + r.Conclusion
	}
}

func ofStatus(k criterion, s Status) check {
	c := check{criterion: k, url: s.URL, last: s.UpdatedAt}
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

func latest(ts ...time.Time) time.Time {
	var l time.Time
	for _, t := range ts {
		if t.After(l) {
			l = t
		}
	}
	return l
}
