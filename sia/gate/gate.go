package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Input is everything that a verdict depends on. What is Known or Read may be
// left out at first: [Input.Needs] says when it has to be filled in.
type Input struct {
	Now            time.Time
	Runs           []Run    // of the commit, every run of each check, not just the latest
	Statuses       []Status // of the commit
	Base           []Run    // of the base commit, where BaseKnown
	BaseStatuses   []Status // of the base commit, where BaseKnown
	BaseKnown      bool
	Required       []string // names that rulesets and branch protection require
	RequiredKnown  bool     // whether those could be read
	Settings       sia.ChecksSettings
	Since          time.Time // when the commit began to be watched
	Reruns         int       // re-runs already asked for on the commit
	Tampering      []string  // what the attempt did to tests or protected paths, where TamperingKnown; empty: nothing
	TamperingKnown bool
	Accepted       bool  // a person with write access accepted the tampering
	ByPerson       bool  // a person pushed the commit and looks at its checks: they are not doubted
	Doubted        bool  // red checks of the commit were run again for doubt already
	Doubt          Doubt // what speaks for and against running red checks again, where DoubtKnown
	DoubtKnown     bool
}

// Result is a verdict with its explanation.
type Result struct {
	Verdict sia.GateVerdict
	Checks  []sia.Check // required ones first, each group by name
	Explain []string    // the reasons, in the order in which they weighed
	Rerun   []int64     // check runs to be run again; set when Verdict is rerun
	Doubt   *sia.Doubt  // what was weighed about running red checks again; nil: nothing
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
// [FlakeRate] to learn from. None before the checks come to green or red.
func (in Input) Went() []Went {
	j := in.byChecks()
	if !j.settled() {
		return nil
	}
	var out []Went
	for _, c := range j.checks {
		if c.run.ID != 0 && (c.outcome == green || c.flaky) {
			out = append(out, Went{c.name, c.flaky})
		}
	}
	return out
}

// judgement is one run of Judge.
type judgement struct {
	Input
	checks  []check
	absent  []string // required names that no check bears
	result  Result
	pending []string // why it is too early
	red     []string // why it is red
	again   []string // why something is to be run again
	rerun   []int64  // what is
}

func judge(in Input) *judgement {
	j := &judgement{Input: in, checks: collect(in.Runs, in.Statuses)}
	j.require()
	j.excuse()
	j.exhaust()
	j.show()
	if len(j.checks) == 0 {
		j.noChecks()
	} else {
		j.missing()
		j.conclude()
	}
	return j
}

// byChecks judges by what the checks say alone.
func (in Input) byChecks() *judgement {
	in.Tampering, in.DoubtKnown = nil, false
	return judge(in)
}

// settled reports whether the checks come to green or red.
func (j *judgement) settled() bool {
	return j.result.Verdict == sia.VerdictGreen || j.result.Verdict == sia.VerdictRed
}

func (j *judgement) explain(format string, args ...any) {
	j.result.Explain = append(j.result.Explain, fmt.Sprintf(format, args...))
}

// require marks the required checks and notes the required names that are absent.
func (j *judgement) require() {
	names := slices.Concat(j.Required, j.Settings.Required)
	slices.Sort(names)
	names = slices.Compact(names)
	if !j.RequiredKnown {
		j.explain("The branch's rules could not be read; what they require is not known.")
	}
	if len(names) == 0 {
		for i := range j.checks {
			j.checks[i].required = true
		}
		if len(j.checks) > 0 {
			j.explain("Neither rules nor settings name required checks, so every check that ran counts.")
		}
		return
	}
	for _, n := range names {
		found := false
		for i := range j.checks {
			if j.checks[i].name == n {
				j.checks[i].required, found = true, true
			}
		}
		if !found {
			j.absent = append(j.absent, n)
		}
	}
}

// excuse excuses red checks that are red on the base commit too.
func (j *judgement) excuse() {
	base := map[criterion]bool{}
	for _, c := range collect(j.Base, j.BaseStatuses) {
		base[c.criterion] = c.outcome == red
	}
	for i := range j.checks {
		if c := &j.checks[i]; c.outcome == red && base[c.criterion] {
			c.outcome = excused
			c.why = "red on the base commit too"
		}
	}
}

// exhaust lets count what stands where nothing more can be asked for. A check
// that would be run again is red, unless it is flaky: what fails and passes on
// one commit is not the attempt's doing, and no proof that it is right either.
func (j *judgement) exhaust() {
	if j.Reruns < sia.MaxReruns {
		return
	}
	for i := range j.checks {
		c := &j.checks[i]
		if !c.required || c.outcome != again {
			continue
		}
		c.outcome, c.exhausted = red, true
		if c.flaky {
			c.outcome = excused
		}
		c.why += fmt.Sprintf("; it was run again %d times already", j.Reruns)
	}
}

// blamed are the red runs of required checks that nothing excuses; those that
// were run again in vain come last.
func (j *judgement) blamed() []Run {
	var first, last []Run
	for _, c := range j.checks {
		switch {
		case !c.required || c.outcome != red || c.run.ID == 0:
		case c.exhausted:
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
		why := c.why
		if !c.required && c.outcome != green {
			why = strings.TrimSuffix("not required; "+why, "; ")
		}
		j.result.Checks = append(j.result.Checks,
			sia.Check{Name: c.name, Colour: c.outcome.colour(), Required: c.required, URL: c.url, Why: why})
	}
	slices.SortStableFunc(j.result.Checks, requiredFirst)
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

// noChecks judges a commit without any check.
func (j *judgement) noChecks() {
	limit := j.Settings.Wait.D()
	if j.Now.Sub(j.Since) < limit {
		j.result.Verdict = sia.VerdictPending
		j.explain("No check has appeared yet; waiting until %s have passed.", limit)
		return
	}
	j.result.Verdict = sia.VerdictNone
	j.explain("No check appeared within %s, so there is no signal to go by.", limit)
	if len(j.absent) > 0 {
		j.explain("Required, but absent: %s.", strings.Join(j.absent, ", "))
	}
}

// missing judges the required names that no check bears.
func (j *judgement) missing() {
	waited, limit := j.Now.Sub(j.Since), j.Settings.Wait.D()
	for _, n := range j.absent {
		c := sia.Check{Name: n, Required: true, Colour: sia.Running, Why: "has not appeared yet"}
		if waited >= limit {
			c.Colour, c.Why = sia.Red, fmt.Sprintf("did not appear within %s", limit)
			j.red = append(j.red, n+" "+c.Why)
		} else {
			j.pending = append(j.pending, n+" "+c.Why)
		}
		j.result.Checks = append(j.result.Checks, c)
	}
	slices.SortStableFunc(j.result.Checks, requiredFirst)
}
