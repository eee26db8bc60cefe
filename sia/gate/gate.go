package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Input is everything that a verdict depends on. What is Known or Read may be
// left out at first: [Input.Needs] says when it has to be filled in.
type Input struct {
	Now                time.Time
	Runs               []Run      // of the commit, every run of each check, not just the latest
	Statuses           []Status   // of the commit
	Workflows          []Workflow // runs of workflows on the commit, where WorkflowsKnown
	WorkflowsKnown     bool
	WorkflowsHidden    bool       // the app may not see them: what they say besides their jobs is not known
	Base               []Run      // of the base commit, where BaseKnown
	BaseStatuses       []Status   // of the base commit, where BaseKnown
	BaseWorkflows      []Workflow // on the base commit, where BaseWorkflowsKnown
	BaseWorkflowsKnown bool
	BaseKnown          bool
	Repo               string         // owner/name of the repository: a rule may name a workflow of another
	Earlier            []sia.Reported // what reported on earlier commits of the task, without SIA's own
	History            History        // what reported near the commit, without SIA's own
	Waived             []string       // names of checks to go on without, as a person said
	Vouched            []string       // names of apps' checks and statuses that build or test the code, as a person said
	Issue              string         // its title and text: what it names is not excused
	Files              []File         // workflow files as they are on the commit, where FilesKnown
	FilesKnown         bool
	Changed            []string   // paths that the pull request changes, where FilesKnown and a file has a filter of them
	Required           []Required // what rulesets and branch protection require
	RequiredKnown      bool       // whether those could be read
	Draft              bool       // the pull request is a draft, as far as is known
	// GitHub has not worked out yet how the pull request merges: what reports on its test merge is not known
	MergeUnknown   bool
	Settings       sia.ChecksSettings
	Since          time.Time // when the commit began to be watched
	Reruns         int       // re-runs already asked for on the commit
	Afterwards     bool      // the commit passed: nothing is run again, and what failed stands
	Tampering      []string  // what the attempt did to tests or protected paths, where TamperingKnown; empty: nothing
	TamperingKnown bool
	Tests          Tests       // what SIA ran itself
	Final          bool        // a green verdict passes the task: no look follows at a pull request marked ready
	Counts         []TestCount // of tests, where CountsKnown: those of which both numbers are known
	CountsKnown    bool
	Expectations   bool          // all of Tampering are expectations that the issue may ask to be changed
	Weighing       *sia.Weighing // what was said of them; nil: nothing
	Accepted       bool          // a person with write access accepted the tampering
	ByPerson       bool          // a person pushed the commit and looks at its checks: they are not doubted
	Doubted        bool          // red checks of the commit were run again for doubt already
	Doubt          Doubt         // what speaks for and against running red checks again, where DoubtKnown
	DoubtKnown     bool
}

// Result is a verdict with its explanation.
type Result struct {
	Verdict  sia.GateVerdict
	Checks   []sia.Check       // required ones first, each group by name
	Explain  []string          // the reasons, in the order in which they weighed
	Rerun    []int64           // check runs to be run again; set when Verdict is rerun
	Doubt    *sia.Doubt        // what was weighed about running red checks again; nil: nothing
	Blocked  []sia.Obstacle    // what a person has to see to; set when Verdict is blocked
	Weigh    []string          // findings that the issue may ask for, each; set when Verdict is tampered
	Guarded  bool              // there is no signal, perhaps because the pull request is a draft
	Red      map[int64]string  // the red check runs, with the names that Checks gives their checks
	Failed   map[string]string // the contexts of red statuses, with those names
	Follow   []string          // the red checks that are red for others, and say nothing themselves
	Reported []sia.Reported    // what reported on the commit, without SIA's own: at most sia.MaxReported, sorted
}

// Judge judges the checks of a commit. The verdict counts once the input needs
// nothing more.
func Judge(in Input) Result { return judge(in).result }

// Went says that a check went green on the commit, and whether it went red on it,
// too, for a reason that is not weather.
type Went struct {
	Check   string
	Flipped bool
}

// Went says which checks went green on the commit, sorted by name, for
// [FlakeRate] to learn from. None before the verdict of the checks is green or red.
func (in Input) Went() []Went {
	j := in.byChecks()
	if !j.settled() {
		return nil
	}
	var out []Went
	for _, c := range j.checks {
		if c.run.ID == 0 || c.outcome != green && !c.flaky || j.sumsUp(c) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Check == c.name { // a twin
			out[n-1].Flipped = out[n-1].Flipped || c.flaky
			continue
		}
		out = append(out, Went{c.name, c.flaky})
	}
	return out
}

// judgement is one run of Judge.
type judgement struct {
	Input
	checks  []check
	all     bool       // every check that ran is required
	absent  []Required // what is required and did not report
	missed  []Expected // what is expected and did not report
	green   []string   // the required checks that are green
	rests   []string   // those of them that ran code, for people
	beside  []string   // the other checks that are green and ran code, for people
	result  Result
	pending []string       // why it is too early
	awaited []string       // why it is too early to pass
	red     []string       // why it is red
	again   []string       // why something is to be run again
	rerun   []int64        // what is
	blocked []sia.Obstacle // what a person has to see to
	idle    []string       // what was skipped
}

func judge(in Input) *judgement {
	j := &judgement{Input: in, checks: in.head().checks()}
	j.forgetFuture()
	j.compareCounts()
	j.require()
	j.expect()
	j.excuse()
	j.setAside()
	j.overdue()
	j.awaitLater()
	j.exhaust()
	j.follow()
	j.hold()
	j.missSkipped()
	if j.MergeUnknown && j.Final { // else one more look follows
		j.awaited = append(j.awaited, awaitsMerge)
	}
	j.show()
	j.result.Reported = j.head().reported()
	if len(j.checks)+len(j.absent) == 0 {
		j.noChecks()
	} else {
		j.missing()
		j.await()
		j.conclude()
	}
	return j
}

// maxAhead is how far the clock of GitHub, or of whoever reports a check, may be ahead of this one.
const maxAhead = 24 * time.Hour

// forgetFuture leaves out when a check is said to have changed where that lies ahead: whoever makes a check run through
// the API says so itself, and nothing would ever be quiet after a date in another century.
func (j *judgement) forgetFuture() {
	for i := range j.checks {
		if c := &j.checks[i]; c.last.After(j.Now.Add(maxAhead)) {
			c.last = time.Time{}
		}
	}
}

// compareCounts takes it for tampering when a check runs fewer tests than it did on the
// base, whatever the difference reads like: the process may end before the tests do, or
// the runner be told to leave some out.
func (j *judgement) compareCounts() {
	for _, n := range j.Counts {
		if n.Head+j.Tests.Dropped >= n.Base {
			continue
		}
		i := slices.IndexFunc(j.checks, func(c check) bool { return c.run.ID == n.Run })
		if i >= 0 {
			j.Expectations = false // no issue asks for that
			said := fmt.Sprintf("%s ran %s, and %d on the base commit", j.checks[i].label,
				text.Count(n.Head, "test"), n.Base)
			if n.Report != "" {
				said += fmt.Sprintf(", as its test reports (%s) say; gone are, among them, %s", n.Report, n.Gone)
			}
			j.Tampering = append(slices.Clip(j.Tampering), said)
		}
	}
}

// head is the commit.
func (in Input) head() commit { return commit{in.Runs, in.Statuses, in.Workflows} }

// base is the base commit.
func (in Input) base() commit { return commit{in.Base, in.BaseStatuses, in.BaseWorkflows} }

// byChecks judges by what the checks say alone.
func (in Input) byChecks() *judgement {
	in.Tampering, in.Counts, in.DoubtKnown, in.Tests = nil, nil, false, Tests{}
	return judge(in)
}

// settled reports whether the verdict of the checks is green or red.
func (j *judgement) settled() bool {
	return j.result.Verdict == sia.VerdictGreen || j.result.Verdict == sia.VerdictRed
}

func (j *judgement) explain(format string, args ...any) {
	j.result.Explain = append(j.result.Explain, fmt.Sprintf(format, args...))
}

// counterparts are the checks of the base commit that may be the same as one of
// the head: those of its workflow where that is known, and of those the ones that the
// same event triggered where there are any, else all of its name and app. A job is never the
// same as a check run that a workflow makes with its token. Suites differ from commit to commit.
func counterparts(c check, base []check) []check {
	var out []check
	for _, b := range base {
		if b.app != c.app || c.app != workflowApp && b.name != c.name {
			continue
		}
		if (c.run.WorkflowRun == 0) != (b.run.WorkflowRun == 0) {
			continue
		}
		if c.workflow != nil && b.workflow != nil && !c.workflow.alike(*b.workflow) {
			continue
		}
		out = append(out, b)
	}
	sameEvent := func(b check) bool {
		return c.workflow != nil && b.workflow != nil && b.workflow.Event == c.workflow.Event
	}
	if slices.ContainsFunc(out, sameEvent) {
		out = slices.DeleteFunc(out, func(b check) bool { return !sameEvent(b) })
	}
	return out
}

// succeededOnBase reports whether a run of a workflow was a success on the base commit.
func (in Input) succeededOnBase(w Workflow) bool {
	success := func(b Workflow) bool { return b.alike(w) && b.Conclusion == "success" }
	same := func(b Workflow) bool { return b.alike(w) && b.Event == w.Event }
	return slices.ContainsFunc(in.BaseWorkflows, func(b Workflow) bool {
		return success(b) && (b.Event == w.Event || !slices.ContainsFunc(in.BaseWorkflows, same))
	})
}

// GreenOnBase finds the run on the base commit of the check that a run of the
// commit is of, where it passed there.
func (in Input) GreenOnBase(run int64) (id int64, ok bool) {
	base := in.base().checks()
	for _, c := range in.head().checks() {
		if c.run.ID != run {
			continue
		}
		for _, b := range counterparts(c, base) {
			if b.outcome == green && b.run.ID != 0 {
				return b.run.ID, true
			}
		}
	}
	return 0, false
}

// exhaust lets count what stands where nothing more can be asked for. A check that would be run again, and that
// SIA can't have run again, asks a person. One that was run again too often is red. One that is flaky asks a
// person: that it passed on the commit says that its fall is not the attempt's doing, and GitHub shows it red all
// the same. One that never ended asks, too.
func (j *judgement) exhaust() {
	if j.Afterwards {
		for i := range j.checks {
			c := &j.checks[i]
			if c.outcome == again && c.run.Conclusion != "cancelled" && c.run.Conclusion != "stale" {
				c.outcome = red
			}
		}
		return
	}
	for i := range j.checks {
		c := &j.checks[i]
		if !c.required || c.outcome != again {
			continue
		}
		if !c.runnable() {
			c.outcome = blocked
			c.why += ", and GitHub lets only its own app and people run it again"
		}
		if c.outcome != again || j.Reruns < sia.MaxReruns {
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

// noEnd is how long something that has begun may take: a job of a runner that GitHub hosts is
// ended after that
// (https://docs.github.com/en/actions/reference/actions-limits).
const noEnd = 6 * time.Hour

// longQueue is how long something may be queued where others are as well, or be held back by `concurrency`: runners are
// there, as far as can be told.
const longQueue = time.Hour

// overdue blocks what has been queued for longer than checks are waited for, and what has run
// for longer than anything should.
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
			limit = max(limit, longQueue)
		}
		begun := c.app == statusApp || c.run.Status == "in_progress"
		if begun {
			limit = max(limit, noEnd)
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

// blamed are the red runs of required checks that nothing excuses; those that
// were run again in vain come last. What was cancelled for good is among them:
// its annotations may say why.
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

// show writes the checks down as a task keeps them.
func (j *judgement) show() {
	for _, c := range j.checks {
		colour, why := c.outcome.colour(), c.why
		switch {
		case c.outcome == skipped && j.inQueue(c):
			why = c.run.Conclusion + "; runs in the merge queue"
		case c.outcome == red && c.follows:
			j.result.Follow = append(j.result.Follow, c.label)
		case c.outcome == red && c.run.ID != 0:
			j.result.Red = added(j.result.Red, c.run.ID, c.label)
		case c.outcome == red && c.app == statusApp:
			j.result.Failed = added(j.result.Failed, c.name, c.label)
		}
		if !c.required && c.outcome != green {
			why = strings.TrimSuffix("not required; "+why, "; ")
		}
		j.result.Checks = append(j.result.Checks,
			sia.Check{Name: c.label, Colour: colour, Required: c.required, URL: c.url, Why: why, From: c.from(),
				Code: j.ranCode(c), Unsure: j.unsure(c)})
	}
	slices.SortStableFunc(j.result.Checks, requiredFirst)
}

func added[K comparable](m map[K]string, id K, name string) map[K]string {
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

// noChecks judges a commit without any check, on which none is required by name.
func (j *judgement) noChecks() {
	limit := j.Settings.Wait.D()
	if j.Now.Sub(j.Since) < limit {
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
