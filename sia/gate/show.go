package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// show converts the checks to the form that a task stores.
func (j *judgement) show() {
	for _, c := range j.assessment.checks {
		why := c.why
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
			sia.Check{Name: c.label, Colour: colours[c.outcome], Required: c.required, URL: c.url, Why: why, From: c.source(),
				Code: c.hasResult() && j.facts.runsCode(c.check), Unsure: c.outcome == green && j.facts.isUnknown(c.check)})
	}
}

// showAbsent judges the requirements without a check.
func (j *judgement) showAbsent() {
	for _, r := range j.required.absent {
		c := sia.Check{Name: r.String(), Required: true, Colour: sia.Running, Why: "has not appeared yet"}
		goesOn := j.assessment.mayCreate(r)
		if len(goesOn) > 0 {
			c.Why += ", and may when " + names(goesOn) + " has ended"
		}
		if j.facts.waitIsOver() && len(goesOn) == 0 {
			c.Colour, c.Why = sia.Blocked, "did not appear within "+j.facts.Settings.Wait.D().String()+j.facts.whyAbsent(r)
			j.blocked = append(j.blocked, sia.Obstacle{Check: c.Name, Reason: c.Why, Absent: true})
		} else {
			j.pending = append(j.pending, c.Name+" "+c.Why)
		}
		j.result.Checks = append(j.result.Checks, c)
	}
}

// showMissed judges the expected checks that did not report. A red verdict does not wait for them.
func (j *judgement) showMissed() {
	over, limit := j.facts.waitIsOver(), j.facts.Settings.Wait.D()
	for i, e := range j.required.missed {
		c := sia.Check{Name: j.facts.missedName(e.Reported), Required: true, Colour: sia.Running,
			Why: "has not appeared yet; " + e.Why, From: origin(e.Reported)}
		if over {
			c.Colour, c.Why = sia.Blocked, fmt.Sprintf("did not appear within %s; %s", limit, e.Why)
		}
		switch {
		case i >= maxMissed:
		case over:
			j.blocked = append(j.blocked, sia.Obstacle{Check: c.Name, Reason: c.Why, Absent: true, Missed: true})
		default:
			j.awaited = append(j.awaited, c.Name+" "+c.Why)
		}
		j.result.Checks = append(j.result.Checks, c)
	}
}

// maxMissed is the maximum number of missed checks that people are shown.
const maxMissed = 10

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

// maxNames is the maximum number of checks that a sentence names.
const maxNames = 3

// names joins names of checks for a sentence.
func names(all []string) string {
	if len(all) > maxNames {
		all = append(slices.Clone(all[:maxNames]), text.Count(len(all)-maxNames, "other"))
	}
	return text.List(all)
}
