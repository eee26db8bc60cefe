package gate

import "slices"

// holdSkipped keeps a required skipped check from counting as green if a job that it needs is
// not green, which probably caused the skip. If the base commit excuses all of those jobs, it
// also excuses the skipped check if that was skipped there, too.
func (a *assessment) holdSkipped() {
	for _, c := range a.checks {
		if !c.required || c.outcome != skipped {
			continue
		}
		var bad []string
		open := false
		for _, k := range slices.Concat(c.needs, c.mayNeed) {
			s := a.checks[k]
			if s.outcome == green || s.outcome == skipped {
				continue
			}
			bad = append(bad, s.label)
			open = open || s.outcome != excused
		}
		if len(bad) == 0 {
			continue
		}
		c.held, c.why = true, "was skipped beside "+names(bad)+", which is not green"
		if open {
			continue
		}
		alike := a.facts.counterparts(c.check)
		wasSkipped := !slices.ContainsFunc(alike, func(b check) bool { return b.outcome != skipped })
		if c.outcome = blocked; len(alike) > 0 && wasSkipped {
			c.outcome, c.why = excused, "skipped on the base commit too, beside "+names(bad)
		}
	}
}

// missSkipped marks skipped jobs as missed if they were not skipped because of the change: they ran on an earlier
// commit of the task or on most merged pull requests, or their condition skips drafts or the author of the pull
// request. GitHub counts them as successful.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
//
// If nothing is green, nothing was validated, and a person is asked about that instead.
func (a *assessment) missSkipped() {
	if !slices.ContainsFunc(a.checks, func(c *assessed) bool { return c.required && c.outcome == green }) {
		return
	}
	for _, c := range a.checks {
		if !c.required || c.outcome != skipped || c.held || a.facts.waived(c.check) {
			continue
		}
		why := a.facts.passedOver(c.check, c.ran)
		if why == "" {
			continue
		}
		c.outcome, c.missed, c.why = running, true, "was skipped; "+why
		if a.facts.waitIsOver() || a.facts.Draft && !a.facts.Final { // a draft is marked ready before waiting
			c.outcome = blocked
		}
	}
}

// follow gives a job that only aggregates other jobs, and is not green, their outcome: they show the reason, and only
// they are blamed, excused or run again. GitHub re-runs a job's dependents with it.
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
//
// A job that needs another such job sees the new outcome only of one that comes before it by name. This changes its own
// colour, and not the verdict: neither job counts.
func (a *assessment) follow() {
	for _, c := range a.checks {
		if c.outcome != red && c.outcome != toRerun && c.outcome != blocked || !c.sumsUp() {
			continue
		}
		stands := green
		var bad []string
		for _, k := range c.needs {
			s := a.checks[k]
			switch {
			case s.outcome == green || s.outcome == skipped || s.outcome == excused:
				continue
			case s.outcome == red:
				stands = red
			case s.outcome == blocked && stands != red:
				stands = blocked
			case s.outcome != blocked && stands == green:
				stands = running
			}
			bad = append(bad, s.label)
		}
		if len(bad) > 0 {
			c.outcome, c.follows, c.why = stands, true, "is not green for "+names(bad)
		}
	}
}
