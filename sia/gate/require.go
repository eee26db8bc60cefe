package gate

import (
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Explanations of inputs that could not be read.
const (
	runsUnread  = "The runs of workflows could not be read; SIA needs the permission `actions: read` to tell them apart."
	rulesUnread = "The branch's rules could not be read, so every check that ran counts."
)

// Unread returns the sentences of [Result.Explain] about inputs that could not be read.
func Unread(explain []string) []string {
	return slices.DeleteFunc(slices.Clone(explain), func(s string) bool { return s != runsUnread && s != rulesUnread })
}

// require marks the required checks, and records the requirements without a check.
func (j *judgement) require() {
	if j.WorkflowsHidden {
		j.explain(runsUnread)
	}
	j.absent = slices.DeleteFunc(slices.Clone(j.named), j.isThere)
	j.all = len(j.named) == 0 || !j.RequiredKnown
	switch {
	case !j.RequiredKnown:
		j.explain(rulesUnread)
	case j.all && len(j.checks) > 0:
		j.explain("Neither rules nor settings name required checks, so every check that ran counts.")
	}
	for i := range j.checks {
		c := &j.checks[i]
		named := slices.ContainsFunc(j.named, func(r Required) bool { return j.binds(r, *c) })
		c.required, c.byRun = named || j.all, named && !j.isNamed(*c)
	}
	j.requireNeeded()
}

// holdSkipped keeps a required skipped check from counting as green if a job that it needs is
// not green, which probably caused the skip. If the base commit excuses all of those jobs, it
// also excuses the skipped check if that was skipped there, too.
func (j *judgement) holdSkipped() {
	for i := range j.checks {
		c := &j.checks[i]
		if !c.required || c.outcome != skipped {
			continue
		}
		var bad []string
		open, onBase := false, true
		for _, k := range slices.Concat(c.needs, c.mayNeed) {
			s := j.checks[k]
			if s.outcome == green || s.outcome == skipped {
				continue
			}
			bad = append(bad, s.label)
			open = open || s.outcome != excused
			onBase = onBase && !s.exhausted
		}
		if len(bad) == 0 {
			continue
		}
		c.held, c.why = true, "was skipped beside "+names(bad)+", which is not green"
		if open {
			continue
		}
		alike := j.counterparts(*c)
		wasSkipped := !slices.ContainsFunc(alike, func(b check) bool { return b.outcome != skipped })
		if c.outcome = blocked; onBase && len(alike) > 0 && wasSkipped {
			c.outcome, c.why = excused, "skipped on the base commit too, beside "+names(bad)
		}
	}
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

// mayCreate returns the running checks of workflow runs that may still create a required check: GitHub creates a job's
// check run when the jobs that it needs have ended.
// https://github.com/instructlab/instructlab/pull/2324
func (j *judgement) mayCreate(r Required) (running []string) {
	for _, w := range j.Workflows {
		if r.Workflow != "" || w.Status == "completed" {
			continue
		}
		if file := j.fileOf(w); !file.Unread && len(file.named(r.Name)) == 0 {
			continue
		}
		running = append(running, j.runningIn(w)...)
	}
	return running
}

// missing judges the requirements without a check.
func (j *judgement) missing() {
	for _, r := range j.absent {
		c := sia.Check{Name: r.String(), Required: true, Colour: sia.Running, Why: "has not appeared yet"}
		goesOn := j.mayCreate(r)
		if len(goesOn) > 0 {
			c.Why += ", and may when " + names(goesOn) + " has ended"
		}
		if j.waitIsOver() && len(goesOn) == 0 {
			c.Colour, c.Why = sia.Blocked, "did not appear within "+j.Settings.Wait.D().String()+j.whyAbsent(r)
			j.blocked = append(j.blocked, sia.Obstacle{Check: c.Name, Reason: c.Why, Absent: true})
		} else {
			j.pending = append(j.pending, c.Name+" "+c.Why)
		}
		j.result.Checks = append(j.result.Checks, c)
	}
	slices.SortStableFunc(j.result.Checks, requiredFirst)
}
