package gate

import (
	"slices"

	"github.com/sia-bot/sia/sia"
)

// Needs names the inputs that are missing for a verdict.
type Needs struct {
	Workflows bool    // the workflow runs on the commit
	Attempts  []int64 // the attempts of the jobs of these workflow runs, of the commit or its base
	Base      bool    // the checks of the base commit
	// the workflow runs on the base commit, to match its checks with those of the commit
	BaseWorkflows bool
	Logs          []int64  // the logs of these red runs of the commit, compared with those of the base commit
	Earlier       []int64  // the failure classes of these red runs of the commit
	OnBase        []int64  // the failure classes of these red runs of the base commit
	Files         []string // the workflow files of the commit with these paths; a path that ends in / is a folder
	Tampering     bool     // the attempt's changes to tests and protected paths
	Counts        []Pair   // the numbers of tests of these runs
	Doubt         bool     // the inputs for the decision to run red checks again
}

// None reports whether nothing is missing.
func (n Needs) None() bool {
	return !n.Workflows && len(n.Attempts) == 0 && !n.Base && !n.BaseWorkflows && len(n.Logs) == 0 &&
		len(n.Earlier) == 0 && len(n.OnBase) == 0 && len(n.Files) == 0 && !n.Tampering && len(n.Counts) == 0 && !n.Doubt
}

// Checks returns the needs for determining the checks and their outcomes, without their logs.
func (n Needs) Checks() Needs {
	return Needs{Workflows: n.Workflows, Attempts: n.Attempts, Base: n.Base, BaseWorkflows: n.BaseWorkflows,
		Files: n.Files}
}

// Needs returns the inputs to gather before the commit is judged, limited to those on
// which the verdict may depend. Gathered inputs can show that others are needed; each is
// requested once, so the process ends.
//
// Workflow runs and their attempts come first, because they decide which runs belong to
// one check. Workflow files show whether an absent check is missed, and which checks ran
// the code. Then come the base commit and the logs, because they can change a red outcome.
// Tampering and doubt come last, when the outcomes are final.
func (in Input) Needs() Needs {
	j := byChecks(in)
	if j.result.Verdict == sia.VerdictPending && j.unfinished() {
		return Needs{} // another look follows
	}
	if !in.WorkflowsKnown {
		return Needs{Workflows: true}
	}
	if ids := slices.Concat(j.head.ambiguous(), j.base.ambiguous(), j.undated()); len(ids) > 0 {
		slices.Sort(ids)
		return Needs{Attempts: slices.Compact(ids)}
	}
	if in.BaseKnown && !in.BaseWorkflowsKnown && j.alikeOnBase() {
		return Needs{BaseWorkflows: true}
	}
	if !in.FilesKnown && j.filesMatter() {
		if paths := j.filesNeeded(); len(paths) > 0 {
			return Needs{Files: paths}
		}
	}
	if logs := j.cancelled(); len(logs) > 0 {
		return Needs{Logs: logs}
	}
	excused := slices.ContainsFunc(j.checks, func(c check) bool { return c.required && c.outcome == excused })
	if !j.settled() && j.result.Verdict != sia.VerdictBlocked && (j.result.Verdict != sia.VerdictNone || !excused) {
		return Needs{}
	}
	isRed := j.result.Verdict == sia.VerdictRed
	if isRed && !in.BaseKnown {
		return Needs{Base: true}
	}
	if head, base := j.excusing(); len(head)+len(base) > 0 {
		return Needs{Earlier: head, OnBase: base}
	}
	if logs := unread(j.blamed()); len(logs) > 0 {
		return Needs{Logs: logs}
	}
	if !j.settled() {
		return Needs{}
	}
	if earlier := j.unreadFlips(); len(earlier) > 0 {
		return Needs{Earlier: earlier}
	}
	if need := (Needs{Tampering: !in.TamperingKnown, Doubt: isRed && !in.DoubtKnown && j.canDoubt()}); !need.None() {
		return need
	}
	if !in.Final || in.CountsKnown || j.final().Verdict != sia.VerdictGreen {
		return Needs{}
	}
	if !in.BaseKnown {
		return Needs{Base: true}
	}
	pairs := j.pairs()
	if len(pairs) > 0 && !in.BaseWorkflowsKnown { // needed to match the checks
		return Needs{BaseWorkflows: true}
	}
	return Needs{Counts: pairs}
}

// Pair is a run of the commit, and the passed run of the same check on its base.
type Pair struct{ Head, Base int64 }

// TestCount contains the numbers of tests that a run of the commit ran and that the same check
// ran on its base.
type TestCount struct {
	Run        int64 // of the commit
	Head, Base int
	Failed     bool   // the log of the commit's run ends with failed tests, and the base's does not
	Report     string // name of the test reports with the numbers; "": they are from the logs
	Gone       string // tests that only the base's reports have, for people
}

// maxPairs is the maximum number of compared pairs: each costs one log, and a second one if the first counts tests.
const maxPairs = 20

// pairs returns the green jobs that can be compared with the base: exactly one
// check there is the same, and it passed.
func (j *judgement) pairs() []Pair {
	var out []Pair
	for _, c := range j.checks {
		if !c.required || c.outcome != green || c.run.WorkflowRun == 0 || len(out) == maxPairs {
			continue
		}
		if alike := j.counterparts(c); len(alike) == 1 && alike[0].outcome == green && alike[0].run.ID != 0 {
			out = append(out, Pair{Head: c.run.ID, Base: alike[0].run.ID})
		}
	}
	return out
}

// alikeOnBase reports whether the workflow runs of the base commit are needed to find the
// check that is the same as a red one of the commit: several have its name, or one that
// does is red too.
func (j *judgement) alikeOnBase() bool {
	return slices.ContainsFunc(j.checks, func(c check) bool {
		if c.outcome != red && c.outcome != excused {
			return false
		}
		alike := j.counterparts(c)
		return c.app == workflowApp || len(alike) > 1 ||
			slices.ContainsFunc(alike, func(b check) bool { return b.outcome == red })
	})
}

// undated returns the ids of successful workflow runs with a failed job of unknown attempt that counts or may excuse
// another: the job may belong to an earlier attempt.
func (j *judgement) undated() (ids []int64) {
	for _, c := range j.checks {
		if !c.required || c.outcome == green {
			continue
		}
		for _, k := range append(j.counterparts(c), c) {
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
func (j *judgement) excusing() (head, base []int64) {
	for _, c := range j.checks {
		if !c.required || c.outcome != excused && (c.outcome != red || c.run.Conclusion != "cancelled") {
			continue
		}
		head = append(head, unreadJobs(c)...)
		for _, b := range j.counterparts(c) {
			base = append(base, unreadJobs(b)...)
		}
	}
	slices.Sort(base)
	return head, slices.Compact(base)
}

// cancelled returns the unread required jobs that would be run again because they were cancelled: one that GitHub ended
// at its time limit is red instead.
func (j *judgement) cancelled() (ids []int64) {
	for _, c := range j.checks {
		if c.required && c.outcome == toRerun {
			ids = append(ids, unreadJobs(c)...)
		}
	}
	return ids
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
func (j *judgement) unfinished() bool {
	return slices.ContainsFunc(j.checks, func(c check) bool {
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
func (j *judgement) unreadFlips() []int64 {
	var failed []Run
	for _, c := range j.checks {
		for _, r := range c.runs {
			if c.flaky && r.Conclusion == "failure" {
				failed = append(failed, r)
			}
		}
	}
	return unread(failed)
}
