package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// pairs returns the green jobs that can be compared with the base: exactly one
// check there is the same, and it passed.
func (a *assessment) pairs() []Pair {
	var out []Pair
	for _, c := range a.checks {
		if !c.required || c.outcome != green || c.run.WorkflowRun == 0 || len(out) == maxPairs {
			continue
		}
		if alike := a.facts.counterparts(c.check); len(alike) == 1 && alike[0].outcome == green && alike[0].run.ID != 0 {
			out = append(out, Pair{Head: c.run.ID, Base: alike[0].run.ID})
		}
	}
	return out
}

// alikeOnBase reports whether the workflow runs of the base commit are needed to find the
// check that is the same as a red one of the commit: several have its name, or one that
// does is red too.
func (a *assessment) alikeOnBase() bool {
	return slices.ContainsFunc(a.checks, func(c *assessed) bool {
		if c.outcome != red && c.outcome != excused {
			return false
		}
		alike := a.facts.counterparts(c.check)
		return c.app == workflowApp || len(alike) > 1 ||
			slices.ContainsFunc(alike, func(b check) bool { return b.outcome == red })
	})
}

// undated returns the ids of successful workflow runs with a failed job of unknown attempt that counts or may excuse
// another: the job may belong to an earlier attempt.
func (a *assessment) undated() (ids []int64) {
	for _, c := range a.checks {
		if !c.required || c.outcome == green {
			continue
		}
		for _, k := range append(a.facts.counterparts(c.check), c.check) {
			if w := k.workflow; w != nil && k.run.Attempt == 0 && w.Attempt != 1 && k.run.failedIn(*w) {
				ids = append(ids, w.ID)
			}
		}
	}
	return ids
}

// excusing returns the unread red jobs of the commit that are excused, and those of the base commit that
// excuse them. A job that GitHub never started, because of billing or a quota, has no result: it neither
// excuses nor is excused.
func (a *assessment) excusing() (head, base []int64) {
	for _, c := range a.checks {
		if !c.required || c.outcome != excused && (c.outcome != red || c.run.Conclusion != "cancelled") {
			continue
		}
		head = append(head, unreadJobs(c.check)...)
		for _, b := range a.facts.counterparts(c.check) {
			base = append(base, unreadJobs(b)...)
		}
	}
	slices.Sort(base)
	return head, slices.Compact(base)
}

// cancelled returns the required jobs that would be run again because they were cancelled, the longest first: one that
// GitHub ended at its time limit is red instead, and may be the reason why the others of its matrix were cancelled.
func (a *assessment) cancelled() (runs []Run) {
	for _, c := range a.checks {
		if c.required && c.outcome == toRerun && c.run.Conclusion == "cancelled" && c.run.WorkflowRun != 0 {
			runs = append(runs, c.run)
		}
	}
	took := func(r Run) time.Duration { return r.CompletedAt.Sub(r.StartedAt) }
	slices.SortStableFunc(runs, func(x, y Run) int { return cmp.Compare(took(y), took(x)) })
	return runs
}

// MaxLogs is the maximum number of logs of red runs, and of cancelled ones, that a verdict needs: a compile error turns
// all jobs of a matrix red, and one request or more for each would use up GitHub's limit.
const MaxLogs = 10

// unreadSome returns the ids of those of alike runs whose logs to read next: none if [MaxLogs] were read and the runs
// are still alike, as the others hardly change the verdict. Jobs of different names come first. If what was read turned
// out to be something else, such as an outage, it returns more each time, so that all are read after a few times.
func (a *assessment) unreadSome(runs []Run) []int64 {
	ranks, seen := map[int64]int{}, map[string]int{}
	for _, r := range runs {
		job, _, _ := strings.Cut(r.Name, " (") // without the values of a matrix
		ranks[r.ID] = seen[job]
		seen[job]++
	}
	if len(runs) > MaxLogs {
		runs = slices.SortedStableFunc(slices.Values(runs), func(x, y Run) int {
			return cmp.Compare(ranks[x.ID], ranks[y.ID])
		})
	}
	ids := unread(runs)
	left := MaxLogs - (len(runs) - len(ids))
	if left <= 0 {
		return nil
	}
	all := len(a.facts.Runs) - len(unread(a.facts.Runs)) // that were read
	return ids[:min(len(ids), max(left, all))]
}

// unreadJobs returns the id of a check's run if it is an unread job that failed, or that was cancelled for the first
// time.
func unreadJobs(c check) []int64 {
	failed := (c.outcome == red || c.outcome == excused) && c.run.Conclusion == "failure"
	cancelled := c.outcome == toRerun && c.run.Conclusion == "cancelled"
	if c.run.WorkflowRun == 0 || !failed && !cancelled {
		return nil
	}
	return unread([]Run{c.run})
}

// unfinished reports whether a check is running for which the verdict waits.
func (a *assessment) unfinished() bool {
	return slices.ContainsFunc(a.checks, func(c *assessed) bool {
		return c.outcome == running && (c.required || c.app == workflowApp)
	})
}

// unread returns the ids of the runs with logs that were not read.
func unread(runs []Run) []int64 {
	var ids []int64
	for _, r := range runs {
		if !r.Read {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// unreadFlips returns the unread failed runs of flaky checks: a transient failure does
// not count as a flip.
func (a *assessment) unreadFlips() []int64 {
	var failed []Run
	for _, c := range a.checks {
		for _, r := range c.runs {
			if c.flaky && r.Conclusion == "failure" {
				failed = append(failed, r)
			}
		}
	}
	return unread(failed)
}
