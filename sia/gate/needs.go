package gate

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Needs names the inputs that are missing for a verdict.
type Needs struct {
	Workflows bool    // the workflow runs on the commit
	Attempts  []int64 // the attempts of the jobs of these workflow runs, of the commit or its base
	Base      bool    // the checks of the base commit
	// the workflow runs on the base commit, to match its checks with those of the commit
	BaseWorkflows bool
	Logs          []int64 // the logs of these red runs of the commit, compared with the base commit's; see [MaxLogs]
	Earlier       []int64 // the failure classes of these red runs of the commit
	OnBase        []int64 // the failure classes of these red runs of the base commit
	// the workflow files of the commit with these paths; a path that ends in / is a folder, of the commit and its base
	Files     []string
	Tampering bool   // the attempt's changes to tests and protected paths
	Counts    []Pair // the numbers of tests of these runs
	Doubt     bool   // the inputs for the decision to run red checks again
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
	a := j.assessment
	if j.result.Verdict == sia.VerdictPending && a.unfinished() {
		return Needs{} // another look follows
	}
	if !in.WorkflowsKnown {
		return Needs{Workflows: true}
	}
	if ids := slices.Concat(j.facts.head.ambiguous(), j.facts.base.ambiguous(), a.undated()); len(ids) > 0 {
		slices.Sort(ids)
		return Needs{Attempts: slices.Compact(ids)}
	}
	if in.BaseKnown && !in.BaseWorkflowsKnown && a.alikeOnBase() {
		return Needs{BaseWorkflows: true}
	}
	if !in.FilesKnown && j.filesMatter() {
		if paths := j.filesNeeded(); len(paths) > 0 {
			return Needs{Files: paths}
		}
	}
	if logs := a.unreadSome(a.cancelled()); len(logs) > 0 {
		return Needs{Logs: logs}
	}
	excused := slices.ContainsFunc(a.checks, func(c *assessed) bool { return c.required && c.outcome == excused })
	if !j.settled() && j.result.Verdict != sia.VerdictBlocked && (j.result.Verdict != sia.VerdictNone || !excused) {
		return Needs{}
	}
	isRed := j.result.Verdict == sia.VerdictRed
	if isRed && !in.BaseKnown {
		return Needs{Base: true}
	}
	if head, base := a.excusing(); len(head)+len(base) > 0 {
		return Needs{Earlier: head, OnBase: base}
	}
	if logs := a.unreadSome(a.blamed()); len(logs) > 0 {
		return Needs{Logs: logs}
	}
	if !j.settled() {
		return Needs{}
	}
	if earlier := a.unreadFlips(); len(earlier) > 0 {
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
	pairs := a.pairs()
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

// needsMatter reports whether the verdict may depend on which jobs a job needs, why it was skipped, or which jobs a run
// will still create: a required job was missed, is absent, or is in a workflow run with jobs that are not green. Before
// the files are known, it may need all of them.
func (j *judgement) needsMatter() bool {
	if slices.ContainsFunc(j.required.absent, func(r Required) bool { return len(j.assessment.mayCreate(r)) > 0 }) {
		return true
	}
	checks := j.assessment.checks
	notGreen := func(k int) bool { return checks[k].outcome != green }
	return slices.ContainsFunc(checks, func(c *assessed) bool {
		own := c.workflow != nil && c.app != workflowApp && j.facts.isOwn(c.workflow.Repository)
		return c.required && (c.missed || own && slices.ContainsFunc(c.mayNeed, notGreen))
	})
}

// filesNeeded returns the paths of the workflow files of the commit's own repository that the judgement needs, sorted:
// those of workflows that ran and of expected jobs that did not report. If a required name is unknown, or no workflow
// started, the folder, as the last entry, requests all files.
func (j *judgement) filesNeeded() []string {
	var paths []string
	for _, w := range j.facts.Workflows {
		if j.facts.isOwn(w.Repository) {
			paths = append(paths, w.Path)
		}
	}
	for _, e := range j.required.missed {
		if e.App == actionsApp {
			paths = append(paths, e.Workflow)
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return !strings.HasPrefix(p, workflowFolder) })
	slices.Sort(paths)
	paths = slices.Compact(paths)
	paths = paths[:min(len(paths), maxFiles)]
	if j.hasUnknownName() || j.required.all && j.facts.noneStarted() {
		paths = append(paths, workflowFolder)
	}
	return paths
}

// hasUnknownName reports whether a person is asked about a required name that no check has.
func (j *judgement) hasUnknownName() bool {
	return j.result.Verdict == sia.VerdictBlocked &&
		slices.ContainsFunc(j.required.absent, func(r Required) bool { return r.Workflow == "" })
}

// maxFiles is the maximum number of workflow files that are read.
const maxFiles = 50

// filesMatter reports whether the verdict or its explanation may depend on workflow files.
func (j *judgement) filesMatter() bool {
	isJob := func(e Expected) bool { return e.App == actionsApp && e.Workflow != "" }
	isForm := func(c *assessed) bool { return c.form && c.run.WorkflowRun != 0 }
	may := slices.ContainsFunc(j.required.missed, isJob) || slices.ContainsFunc(j.assessment.checks, isForm)
	switch j.result.Verdict {
	case sia.VerdictGreen:
		return true
	case sia.VerdictPending, sia.VerdictBlocked, sia.VerdictNone, sia.VerdictRed:
		return may || j.needsMatter() || j.hasUnknownName()
	}
	return j.needsMatter()
}
