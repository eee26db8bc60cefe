package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// MaxReruns is how often checks of one commit are asked to run again.
const MaxReruns = 3

// Input is everything that a verdict depends on.
type Input struct {
	Now           time.Time
	SHA           string   // the commit that is judged
	Runs          []Run    // of the commit, every run of each check, not just the latest
	Statuses      []Status // of the commit
	Base          []Run    // of the base commit; nil together with BaseStatuses: unknown
	BaseStatuses  []Status // of the base commit
	Required      []string // names that rulesets and branch protection require
	RequiredKnown bool     // whether those could be read
	Settings      sia.ChecksSettings
	Since         time.Time // when the commit began to be watched
	Reruns        int       // re-runs already asked for on the commit
	Tampering     []string  // what the attempt did to tests or protected paths; empty: nothing
	Accepted      bool      // a person with write access accepted the tampering
	Doubt         Doubt     // what speaks for and against running red checks again
}

// Result is a verdict with its explanation.
type Result struct {
	Verdict  sia.GateVerdict
	Checks   []sia.Check   // required ones first, each group by name
	Explain  []string      // the reasons, in the order in which they weighed
	RedRuns  []int64       // required red check runs that nothing excuses: their logs are to be read
	Rerun    []int64       // check runs to be run again; set when Verdict is rerun
	NextLook time.Duration // look again after this; 0 when the verdict is final
	Doubt    *sia.Doubt    // what was weighed about running red checks again; nil: nothing
	Went     []Went        // the checks that went green on the commit, sorted by name
}

// Judge judges the checks of a commit. A caller that gets red with RedRuns reads
// their logs, fills in the class of each run and judges again: a failure that is
// weather then turns into a re-run.
func Judge(in Input) Result {
	j := judgement{Input: in, checks: collect(in.Runs, in.Statuses)}
	j.require()
	j.excuse()
	j.went()
	j.show()
	if len(j.checks) == 0 {
		return j.noChecks()
	}
	j.missing()
	return j.conclude()
}

// Went says that a check went green on the commit, and whether it went red on it,
// too, for a reason that is not weather.
type Went struct {
	Check   string
	Flipped bool
}

// went notes which checks went green, for [FlakeRate] to learn from.
func (j *judgement) went() {
	for _, c := range j.checks {
		if c.run != 0 && (c.outcome == green || c.flaky) {
			j.result.Went = append(j.result.Went, Went{c.name, c.flaky})
		}
	}
}

// judgement is one run of Judge.
type judgement struct {
	Input
	checks  []check
	absent  []string // required names that no check bears
	result  Result
	pending []string // why it is too early
	red     []string // why it is red
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
	if j.Base == nil && j.BaseStatuses == nil {
		return
	}
	base := map[string]bool{}
	for _, c := range collect(j.Base, j.BaseStatuses) {
		base[c.key()] = c.outcome == red
	}
	for i := range j.checks {
		if c := &j.checks[i]; c.outcome == red && base[c.key()] {
			c.outcome = excused
			c.why = "red on the base commit too"
		}
	}
}

// show writes the checks down as a task keeps them, with what is to be read.
func (j *judgement) show() {
	for _, c := range j.checks {
		why := c.why
		if !c.required && c.outcome != green {
			why = strings.TrimSuffix("not required; "+why, "; ")
		}
		j.result.Checks = append(j.result.Checks, sia.Check{Name: c.name, Colour: c.outcome.colour(), Required: c.required, URL: c.url, Why: why})
		if c.required && c.outcome == red && c.run != 0 {
			j.result.RedRuns = append(j.result.RedRuns, c.run)
		}
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
func (j *judgement) noChecks() Result {
	waited, limit := j.Now.Sub(j.Since), j.Settings.Wait.D()
	if waited < limit {
		j.result.Verdict = sia.VerdictPending
		j.result.NextLook = min(poll(waited), limit-waited)
		j.explain("No check has appeared yet; waiting until %s have passed.", limit)
		return j.result
	}
	j.result.Verdict = sia.VerdictNone
	j.explain("No check appeared within %s, so there is no signal to go by.", limit)
	if len(j.absent) > 0 {
		j.explain("Required, but absent: %s.", strings.Join(j.absent, ", "))
	}
	return j.result
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
