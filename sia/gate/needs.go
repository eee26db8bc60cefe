package gate

import (
	"slices"

	"github.com/sia-bot/sia/sia"
)

// Needs is what is missing to judge a commit.
type Needs struct {
	Workflows bool    // the runs of workflows on the commit
	Attempts  []int64 // workflow runs, of the commit or its base: in which of their attempts each job ran
	Base      bool    // the checks of the base commit
	// the runs of workflows on the base commit: which of its checks is the same as one of the commit
	BaseWorkflows bool
	Logs          []int64  // red runs of the commit: what their logs say of the failure, read beside the base commit's
	Earlier       []int64  // red runs of the commit of which the class of the failure is enough
	OnBase        []int64  // red runs of the base commit of which the class of the failure is enough
	Files         []string // paths of workflow files, as they are on the commit; one that ends in / is all in it
	Tampering     bool     // what the attempt did to tests and protected paths
	Counts        []Pair   // how many tests the checks ran on the commit and on its base
	Doubt         bool     // what speaks for and against running red checks again
}

// None reports whether nothing is missing.
func (n Needs) None() bool {
	return !n.Workflows && len(n.Attempts) == 0 && !n.Base && !n.BaseWorkflows && len(n.Logs) == 0 &&
		len(n.Earlier) == 0 && len(n.OnBase) == 0 && len(n.Files) == 0 && !n.Tampering && len(n.Counts) == 0 && !n.Doubt
}

// Checks is as much of it as says which checks there are and how they stand, without reading what they say.
func (n Needs) Checks() Needs {
	return Needs{Workflows: n.Workflows, Attempts: n.Attempts, Base: n.Base, BaseWorkflows: n.BaseWorkflows,
		Files: n.Files}
}

// Needs says what is to be gathered before the commit is judged, and no more than
// the verdict may turn on. What was gathered can show that something else is
// needed; each thing is asked for once, so there is an end.
//
// Which workflows ran, and in which attempts, comes first, for it says which runs
// are one check's. Workflow files say whether what is missing is missed, and what ran
// the code. Then come the base commit and the logs, because they can turn
// red into something else. Whether green was bought, and whether red is chance, is
// asked when the checks have said all they can.
func (in Input) Needs() Needs {
	j := in.byChecks()
	if j.result.Verdict == sia.VerdictPending && j.unfinished() {
		return Needs{} // another look comes
	}
	if !in.WorkflowsKnown {
		return Needs{Workflows: true}
	}
	if ids := slices.Concat(in.head().ambiguous(), in.base().ambiguous(), j.undated()); len(ids) > 0 {
		slices.Sort(ids)
		return Needs{Attempts: slices.Compact(ids)}
	}
	if in.BaseKnown && !in.BaseWorkflowsKnown && j.alikeOnBase() {
		return Needs{BaseWorkflows: true}
	}
	if !in.FilesKnown && j.filesMatter() {
		if paths := j.wantedFiles(); len(paths) > 0 {
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
	if need := (Needs{Tampering: !in.TamperingKnown, Doubt: isRed && !in.DoubtKnown && j.doubtable()}); !need.None() {
		return need
	}
	if !in.Final || in.CountsKnown || judge(in).result.Verdict != sia.VerdictGreen {
		return Needs{}
	}
	if !in.BaseKnown {
		return Needs{Base: true}
	}
	pairs := j.pairs()
	if len(pairs) > 0 && !in.BaseWorkflowsKnown { // which of them are one check's
		return Needs{BaseWorkflows: true}
	}
	return Needs{Counts: pairs}
}

// Pair is a run of the commit, and the one of the same check that passed on its base.
type Pair struct{ Head, Base int64 }

// TestCount is how many tests a run of the commit ran, and how many the same check ran on its
// base.
type TestCount struct {
	Run        int64 // of the commit
	Head, Base int
	Report     string // of the test reports that say so; "": the logs do
	Gone       string // tests that only the base's reports have, for people
}

// maxPairs bounds the pairs of runs that may have tests: each takes a log, and another where that counts any.
const maxPairs = 20

// pairs are the green jobs that can be compared with those of the base: one
// check there is the same, and passed.
func (j *judgement) pairs() []Pair {
	var out []Pair
	base := j.base().checks()
	for _, c := range j.checks {
		if !c.required || c.outcome != green || c.run.WorkflowRun == 0 || len(out) == maxPairs {
			continue
		}
		if alike := counterparts(c, base); len(alike) == 1 && alike[0].outcome == green && alike[0].run.ID != 0 {
			out = append(out, Pair{Head: c.run.ID, Base: alike[0].run.ID})
		}
	}
	return out
}

// alikeOnBase reports whether it takes the workflows of the base commit to say which
// of its checks is the same as a red one of the commit: several bear its name, or one
// that does is red too.
func (j *judgement) alikeOnBase() bool {
	base := j.base().checks()
	return slices.ContainsFunc(j.checks, func(c check) bool {
		if c.outcome != red && c.outcome != excused {
			return false
		}
		alike := counterparts(c, base)
		return c.app == workflowApp || len(alike) > 1 ||
			slices.ContainsFunc(alike, func(b check) bool { return b.outcome == red })
	})
}

// undated are the workflow runs that succeeded in spite of a job that counts, or that may excuse one, where nobody
// asked in which attempt that ran: it may be of an earlier one.
func (j *judgement) undated() (ids []int64) {
	base := j.base().checks()
	for _, c := range j.checks {
		if !c.required || c.outcome == green {
			continue
		}
		for _, k := range append(counterparts(c, base), c) {
			if w := k.workflow; w != nil && k.run.Attempt == 0 && w.Attempt != 1 && k.run.failedIn(*w) {
				ids = append(ids, w.ID)
			}
		}
	}
	return ids
}

// excusing are the red jobs that were not read of which one on the base commit excuses one of the
// commit. A job that GitHub never started, for a bill or a quota, says nothing of the code: it
// neither excuses nor is excused.
func (j *judgement) excusing() (head, base []int64) {
	onBase := j.base().checks()
	for _, c := range j.checks {
		if !c.required || c.outcome != excused && (c.outcome != red || c.run.Conclusion != "cancelled") {
			continue
		}
		head = append(head, unreadJobs(c)...)
		for _, b := range counterparts(c, onBase) {
			base = append(base, unreadJobs(b)...)
		}
	}
	slices.Sort(base)
	return head, slices.Compact(base)
}

// cancelled are the required jobs that would be run again for they were cancelled, and that were not read: one that
// GitHub ended at its time limit is red.
func (j *judgement) cancelled() (ids []int64) {
	for _, c := range j.checks {
		if c.required && c.outcome == again {
			ids = append(ids, unreadJobs(c)...)
		}
	}
	return ids
}

// unreadJobs is the id of a check's run where that is a job that failed, or was cancelled for the first time, and was
// not read.
func unreadJobs(c check) []int64 {
	failed := (c.outcome == red || c.outcome == excused) && c.run.Conclusion == "failure"
	cancelled := c.outcome == again && c.run.Conclusion == "cancelled"
	if c.run.WorkflowRun == 0 || !failed && !cancelled {
		return nil
	}
	return unread([]Run{c.run})
}

// unfinished reports whether something runs that the verdict waits for.
func (j *judgement) unfinished() bool {
	return slices.ContainsFunc(j.checks, func(c check) bool {
		return c.outcome == running && (c.required || c.app == workflowApp)
	})
}

// unread are the ids of the runs that were not read.
func unread(runs []Run) []int64 {
	var ids []int64
	for _, r := range runs {
		if !r.Read {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// unreadFlips are the failed runs of flaky checks that were not read: weather is
// no flip.
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
