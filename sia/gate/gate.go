package gate

import (
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Input contains everything that a verdict depends on. Fields with a Known or Read
// field may be left out at first: [Input.Needs] returns when they have to be filled in.
type Input struct {
	Now                time.Time
	Runs               []Run      // all runs of each check of the commit, not only the latest
	Statuses           []Status   // of the commit
	Workflows          []Workflow // workflow runs on the commit, if WorkflowsKnown
	WorkflowsKnown     bool
	WorkflowsHidden    bool       // the app may not read workflow runs, so only their jobs are known
	Base               []Run      // of the base commit, if BaseKnown
	BaseStatuses       []Status   // of the base commit, if BaseKnown
	BaseWorkflows      []Workflow // on the base commit, if BaseWorkflowsKnown
	BaseWorkflowsKnown bool
	BaseKnown          bool
	Repo               string         // owner/name of the repository: a rule may name a workflow of another
	BaseBranch         string         // of the pull request: workflows may filter by it
	Earlier            []sia.Reported // checks that reported on earlier commits of the task, without SIA's own
	History            History        // checks that reported on nearby commits, without SIA's own
	Waived             []string       // names of checks that a person waived
	Vouched            []string       // names of apps' checks and statuses that build or test the code, by a person's word
	Issue              string         // the issue's title and text: failures that it names are not excused
	Files              []File         // workflow files of the commit, if FilesKnown
	FilesKnown         bool
	BaseFiles          []File     // workflow files of the base commit, if FilesKnown and those of the folder were needed
	Changed            []string   // paths that the pull request changes, if FilesKnown and a file has a path filter
	Required           []Required // requirements of rulesets and branch protection
	RequiredKnown      bool       // Required could be read
	Draft              bool       // the pull request is known to be a draft
	// GitHub has not computed yet whether the pull request can be merged: checks of its test merge are not known
	MergeUnknown   bool
	Settings       sia.ChecksSettings
	Since          time.Time // start of watching the commit
	Reruns         int       // number of re-runs requested on the commit
	Unrepeatable   []int64   // ids of the workflow runs that GitHub refused to run again
	Afterwards     bool      // the commit has passed: nothing is run again, and failures count
	Tampering      []string  // the attempt's changes to tests or protected paths, if TamperingKnown; empty: none
	TamperingKnown bool
	Tests          Tests       // results of SIA's own test runs
	Final          bool        // a green verdict passes the task: no look at a pull request marked ready follows
	Counts         []TestCount // numbers of tests, if CountsKnown: those with both numbers
	CountsKnown    bool
	Expectations   bool          // all of Tampering are expectations that the issue may ask to change
	Weighing       *sia.Weighing // the reviewer's answer about them; nil: none
	Accepted       bool          // a person with write access accepted the tampering
	ByPerson       bool          // a person pushed the commit and looks at its checks: they are not run again for doubt
	Doubted        bool          // red checks of the commit were already run again for doubt
	Doubt          Doubt         // inputs for the decision to run red checks again, if DoubtKnown
	DoubtKnown     bool
}

// Result is a verdict with its explanation.
type Result struct {
	Verdict  sia.GateVerdict
	Checks   []sia.Check       // required ones first, each group by name
	Explain  []string          // the reasons, the most important first
	Rerun    []int64           // check runs to be run again; set if Verdict is rerun
	Doubt    *sia.Doubt        // the estimate for running red checks again; nil: none
	Blocked  []sia.Obstacle    // obstacles that a person has to remove; set if Verdict is blocked
	Weigh    []string          // findings that the issue may ask for; set if Verdict is tampered
	Guarded  bool              // checks have no result, perhaps because the pull request is a draft
	Red      map[int64]string  // ids of the red check runs, with the names of their checks in Checks
	Failed   map[string]string // contexts of red statuses, with the names of their checks in Checks
	Follow   []string          // red checks that are red only because of other checks
	Reported []sia.Reported    // checks that reported on the commit, without SIA's own: sorted, at most sia.MaxReported
}

// Judge judges the checks of a commit. The verdict is valid once [Input.Needs] returns
// nothing.
func Judge(in Input) Result { return byChecks(in).final() }

// byChecks judges by the checks alone: a red or green verdict is not final.
func byChecks(in Input) *judgement {
	f := newFacts(in)
	r := require(f)
	a := assess(f, r)
	return conclude(f, r, a)
}

// GreenCheck is a check that was green on the commit. Flipped means that it was red on it, too,
// and not by a transient failure.
type GreenCheck struct {
	Check   string
	Flipped bool
}

// GreenChecks returns the checks that were green on the commit, sorted by name, as input of
// [Prior.FlakeRate]; none before the verdict of the checks is green or red.
func (in Input) GreenChecks() []GreenCheck {
	j := byChecks(in)
	if !j.settled() {
		return nil
	}
	var out []GreenCheck
	for _, c := range j.assessment.checks {
		switch n := len(out); {
		case c.run.ID == 0 || c.outcome != green && !c.flaky || c.sumsUp():
		case n > 0 && out[n-1].Check == c.name: // a twin
			out[n-1].Flipped = out[n-1].Flipped || c.flaky
		default:
			out = append(out, GreenCheck{c.name, c.flaky})
		}
	}
	return out
}

// GreenOnBase returns, for runs of the commit, the green runs of the same checks on the base commit; none for a run
// without one.
func (in Input) GreenOnBase(runs ...int64) map[int64]int64 {
	f, out := newFacts(in), map[int64]int64{}
	for _, c := range f.checks {
		if !slices.Contains(runs, c.run.ID) {
			continue
		}
		for _, b := range f.counterparts(c) {
			if _, known := out[c.run.ID]; !known && b.outcome == green && b.run.ID != 0 {
				out[c.run.ID] = b.run.ID
			}
		}
	}
	return out
}
