package gate

import (
	"fmt"
	"slices"
	"strings"
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
	Earlier            []sia.Reported // checks that reported on earlier commits of the task, without SIA's own
	History            History        // checks that reported on nearby commits, without SIA's own
	Waived             []string       // names of checks that a person waived
	Vouched            []string       // names of apps' checks and statuses that build or test the code, by a person's word
	Issue              string         // the issue's title and text: failures that it names are not excused
	Files              []File         // workflow files of the commit, if FilesKnown
	FilesKnown         bool
	Changed            []string   // paths that the pull request changes, if FilesKnown and a file has a path filter
	Required           []Required // requirements of rulesets and branch protection
	RequiredKnown      bool       // Required could be read
	Draft              bool       // the pull request is known to be a draft
	// GitHub has not computed yet whether the pull request can be merged: checks of its test merge are not known
	MergeUnknown   bool
	Settings       sia.ChecksSettings
	Since          time.Time // start of watching the commit
	Reruns         int       // number of re-runs requested on the commit
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
	for _, c := range j.checks {
		if c.run.ID == 0 || c.outcome != green && !c.flaky || c.sumsUp() {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Check == c.name { // a twin
			out[n-1].Flipped = out[n-1].Flipped || c.flaky
			continue
		}
		out = append(out, GreenCheck{c.name, c.flaky})
	}
	return out
}

// judgement is the state of one call of Judge.
type judgement struct {
	*facts
	checks  []check    // of the commit, as they are judged
	all     bool       // every check that ran is required
	absent  []Required // required checks that did not report
	missed  []Expected // expected checks that did not report
	green   []string   // required checks that are green
	rests   []string   // those of them that ran code, for people
	beside  []string   // other green checks that ran code, for people
	result  Result
	pending []string       // reasons why a verdict is too early
	awaited []string       // reasons why a pass is too early
	red     []string       // reasons for a red verdict
	again   []string       // reasons for a re-run
	rerun   []int64        // ids of the runs to re-run
	blocked []sia.Obstacle // obstacles that a person has to remove
	idle    []string       // skipped required checks
	skips   int            // skipped required checks that count as green
	excuses int            // excused required checks
	found   []string       // changes to tests and protected paths
	// all of them are expectations that the issue may ask to change
	expectations bool
}

// byChecks judges by the checks alone: a red or green verdict is not final.
func byChecks(in Input) *judgement {
	f := newFacts(in)
	j := &judgement{facts: f, checks: slices.Clone(f.checks)}
	j.require()
	j.expect()
	j.excuse()
	j.blockForm()
	j.overdue()
	j.awaitLater()
	j.limitReruns()
	j.follow()
	j.holdSkipped()
	j.missSkipped()
	if j.MergeUnknown && j.Final { // if not final, one more look follows
		j.awaited = append(j.awaited, awaitsMerge)
	}
	j.show()
	j.result.Reported = j.head.reported()
	if len(j.checks)+len(j.absent) == 0 {
		j.noChecks()
	} else {
		j.missing()
		j.await()
		j.conclude()
	}
	return j
}

// final returns the final result: a red verdict may be by chance, and a green one may have to wait for tests, or for a
// person.
func (j *judgement) final() Result {
	j.found, j.expectations = j.tampering()
	switch j.result.Verdict {
	case sia.VerdictRed:
		j.fail()
	case sia.VerdictGreen:
		j.pass()
	}
	return j.result
}

// settled reports whether the verdict of the checks is green or red.
func (j *judgement) settled() bool {
	return j.result.Verdict == sia.VerdictGreen || j.result.Verdict == sia.VerdictRed
}

func (j *judgement) explain(format string, args ...any) {
	j.result.Explain = append(j.result.Explain, fmt.Sprintf(format, args...))
}

// GreenOnBase returns the green run on the base commit of the same check as a run of the
// commit, and whether there is one.
func (in Input) GreenOnBase(run int64) (id int64, ok bool) {
	f := newFacts(in)
	for _, c := range f.checks {
		if c.run.ID != run {
			continue
		}
		for _, b := range f.counterparts(c) {
			if b.outcome == green && b.run.ID != 0 {
				return b.run.ID, true
			}
		}
	}
	return 0, false
}

// limitReruns sets the outcome of checks that need a re-run but can't get one. A check that SIA can't re-run is
// blocked. One that had the maximum number of re-runs is red; but a flaky one is blocked, because it passed on the
// commit, so that the attempt is not the cause, and GitHub still shows it red. One that was cancelled or never ended
// is blocked, too.
func (j *judgement) limitReruns() {
	if j.Afterwards {
		for i := range j.checks {
			c := &j.checks[i]
			if c.outcome == toRerun && c.run.Conclusion != "cancelled" && c.run.Conclusion != "stale" {
				c.outcome = red
			}
		}
		return
	}
	for i := range j.checks {
		c := &j.checks[i]
		if !c.required || c.outcome != toRerun {
			continue
		}
		if !c.canRerun() {
			c.outcome = blocked
			c.why += ", and GitHub lets only its own app and people run it again"
		}
		if c.outcome != toRerun || j.Reruns < sia.MaxReruns {
			continue
		}
		c.outcome, c.exhausted = red, true
		switch {
		case c.flaky, c.app == workflowApp, c.run.Conclusion == "cancelled", c.run.Conclusion == "stale":
			c.outcome = blocked
		}
		c.why += fmt.Sprintf("; it was run again %d times already", j.Reruns)
	}
}

// maxRunTime is the maximum duration of a check that has begun: GitHub ends a job on a hosted runner
// after that
// (https://docs.github.com/en/actions/reference/actions-limits).
const maxRunTime = 6 * time.Hour

// maxQueueTime is the maximum time that a check may be queued while others are queued too, or be held back by
// `concurrency`: runners then probably exist.
const maxQueueTime = time.Hour

// overdue blocks checks that were queued longer than the wait in the settings, or have run
// longer than the maximum.
func (j *judgement) overdue() {
	queued := 0
	for _, c := range j.checks {
		if c.outcome == running && c.run.Status == "queued" {
			queued++
		}
	}
	for i := range j.checks {
		c := &j.checks[i]
		limit := j.Settings.Wait.D()
		held := c.run.Status == "pending" || c.app == workflowApp && c.workflow.Status == "pending"
		if held || c.run.Status == "queued" && queued > 1 {
			limit = max(limit, maxQueueTime)
		}
		begun := c.app == statusApp || c.run.Status == "in_progress"
		if begun {
			limit = max(limit, maxRunTime)
		}
		if c.outcome != running || j.Now.Sub(latest(j.Since, c.last)) < limit {
			continue
		}
		switch {
		case begun:
			c.why = fmt.Sprintf("has not finished, and began more than %.3g hours ago", limit.Hours())
		case c.run.Status == "waiting" || c.workflow != nil && c.run.ID == 0 && c.workflow.Status == "waiting":
			c.why = fmt.Sprintf("waited %s for somebody's approval", limit)
		case c.workflow != nil && c.run.ID == 0 && c.workflow.Status == "in_progress":
			c.why = fmt.Sprintf("has not finished, and began no job for %s", limit)
		case held:
			c.why = fmt.Sprintf("is pending for %s; perhaps another run of its `concurrency` group goes first", limit)
		case c.run.Status == "queued" && queued > 1:
			c.why = fmt.Sprintf("was queued for %s, as others are; perhaps runners are scarce", limit)
		default:
			c.why = fmt.Sprintf("was not started within %s; perhaps there is no runner for it", limit)
		}
		c.outcome = blocked
	}
}

// blamed returns the red runs of required checks that are not excused; those that were
// re-run without success come last. Finally cancelled runs are included, because their
// annotations may give the reason.
func (j *judgement) blamed() []Run {
	var first, last []Run
	for _, c := range j.checks {
		cancelled := c.outcome == blocked && c.run.Conclusion == "cancelled"
		switch {
		case !c.required || c.outcome != red && !cancelled || c.run.ID == 0 || c.follows:
		case c.exhausted || cancelled:
			last = append(last, c.run)
		default:
			first = append(first, c.run)
		}
	}
	return append(first, last...)
}

// show converts the checks to the form that a task stores.
func (j *judgement) show() {
	for _, c := range j.checks {
		colour, why := c.outcome.colour(), c.why
		switch {
		case c.outcome == skipped && c.runsInQueue():
			why = c.run.Conclusion + "; runs in the merge queue"
		case c.outcome == red && c.follows:
			j.result.Follow = append(j.result.Follow, c.label)
		case c.outcome == red && c.run.ID != 0:
			j.result.Red = withEntry(j.result.Red, c.run.ID, c.label)
		case c.outcome == red && c.app == statusApp:
			j.result.Failed = withEntry(j.result.Failed, c.name, c.label)
		}
		if !c.required && c.outcome != green {
			why = strings.TrimSuffix("not required; "+why, "; ")
		}
		j.result.Checks = append(j.result.Checks,
			sia.Check{Name: c.label, Colour: colour, Required: c.required, URL: c.url, Why: why, From: c.source(),
				Code: c.hasResult() && j.runsCode(c), Unsure: c.outcome == green && j.isUnknown(c)})
	}
	slices.SortStableFunc(j.result.Checks, requiredFirst)
}

func withEntry[K comparable](m map[K]string, id K, name string) map[K]string {
	if m == nil {
		m = map[K]string{}
	}
	m[id] = name
	return m
}

// requiredFirst orders checks for people: required ones first, then by name.
func requiredFirst(a, b sia.Check) int {
	if a.Required != b.Required {
		if a.Required {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}

// noChecks judges a commit without any check and without required names.
func (j *judgement) noChecks() {
	limit := j.Settings.Wait.D()
	if !j.waitIsOver() {
		j.result.Verdict = sia.VerdictPending
		j.explain("No check has appeared yet; waiting until %s have passed.", limit)
		return
	}
	j.result.Verdict = sia.VerdictNone
	j.explain("No check appeared within %s, so there is no signal to go by.", limit)
	for _, e := range j.missed[:min(len(j.missed), maxMissed)] {
		j.explain("%s is missing; %s.", e.Name, e.Why)
	}
}
