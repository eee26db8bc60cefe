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
	Class       string // the failure class, once the log of a red run was read
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

// check is one criterion with all that is known about it on one commit.
type check struct {
	name, app string
	run       int64 // id of the newest check run; 0 for a status
	url       string
	outcome   outcome
	flaky     bool    // it went green and red on this commit
	class     string  // of the newest run, when it is red and its log was read
	minutes   float64 // that a run of it is paid for
	why       string
	required  bool
	last      time.Time // newest event of any of its runs
}

func (c check) key() string { return c.name + "\x00" + c.app }

// statusApp stands in for an app where a check is a legacy status.
const statusApp = "\x00status"

// weather holds the failure classes that pass by themselves. Package failure
// makes them; the gate must not import its sibling.
var weather = map[string]bool{"rate_limit": true, "network": true, "infrastructure": true}

// collect makes one check of all runs and statuses that share name and app, and
// leaves SIA's own out. The checks are sorted by name, then app.
func collect(runs []Run, statuses []Status) []check {
	byKey := map[string][]Run{}
	for _, r := range runs {
		if !r.Own {
			k := check{name: r.Name, app: r.App}.key()
			byKey[k] = append(byKey[k], r)
		}
	}
	var checks []check
	for _, rs := range byKey {
		checks = append(checks, ofRuns(rs))
	}
	newest := map[string]Status{}
	for _, s := range statuses {
		// The API lists newest first, so the first of equals stays.
		if old, ok := newest[s.Context]; !ok || s.UpdatedAt.After(old.UpdatedAt) {
			newest[s.Context] = s
		}
	}
	for _, s := range newest {
		checks = append(checks, ofStatus(s))
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
func ofRuns(rs []Run) check {
	slices.SortFunc(rs, func(a, b Run) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.StartedAt.Compare(b.StartedAt)) })
	n := rs[len(rs)-1]
	c := check{name: n.Name, app: n.App, run: n.ID, url: n.URL, class: n.Class, minutes: billed(n)}
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
		c.run, c.url, c.outcome, c.flaky = other.ID, other.URL, again, false
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
		return again, "was " + map[string]string{"cancelled": "cancelled", "stale": "given up by GitHub as stale"}[r.Conclusion]
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

func ofStatus(s Status) check {
	c := check{name: s.Context, app: statusApp, url: s.URL, last: s.UpdatedAt}
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
