package gate

import (
	"cmp"
	"slices"
	"strings"

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
	wanted := slices.Clone(j.Required)
	for _, n := range j.Settings.Required {
		wanted = append(wanted, Required{Name: n})
	}
	slices.SortFunc(wanted, func(a, b Required) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workflow, b.Workflow),
			cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.App, b.App))
	})
	wanted = slices.DeleteFunc(slices.Compact(wanted), j.isOwnCheck)
	if j.WorkflowsHidden {
		j.explain(runsUnread)
	}
	for _, r := range wanted {
		found := false
		for i := range j.checks {
			if c := &j.checks[i]; j.binds(r, *c) {
				c.byRun = r.Workflow != "" && (c.byRun || !c.required)
				c.required, found = true, true
			}
		}
		if !found {
			j.absent = append(j.absent, r)
		}
	}
	j.all = len(wanted) == 0 || !j.RequiredKnown
	switch {
	case !j.RequiredKnown:
		j.explain(rulesUnread)
	case j.all && len(j.checks) > 0:
		j.explain("Neither rules nor settings name required checks, so every check that ran counts.")
	}
	for i := range j.checks {
		c := &j.checks[i]
		c.required = c.required || j.all
	}
	j.requireNeeded()
}

// isOwnCheck reports whether a requirement is SIA's own check run, and no other check has that name: the check run
// waits for the verdict, so the verdict can't wait for it.
func (j *judgement) isOwnCheck(r Required) bool {
	own := func(run Run) bool { return run.Own && run.Name == r.Name && (r.App == 0 || r.App == run.AppID) }
	return r.Workflow == "" && slices.ContainsFunc(j.Runs, own) &&
		!slices.ContainsFunc(j.checks, func(c check) bool { return j.binds(r, c) })
}

// binds reports whether r requires a check. A name requires every check that has it. GitHub
// runs a workflow that a rule requires for pull requests and in merge queues, and no other run
// of it counts.
// https://docs.github.com/en/enterprise-cloud@latest/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
func (j *judgement) binds(r Required, c check) bool {
	if r.Workflow == "" {
		return c.name == r.Name && c.app != workflowApp && (r.App == 0 || r.App == c.appID)
	}
	if c.workflow == nil || !slices.Contains(ruleEvents, c.workflow.Event) {
		return false
	}
	repo, path := c.workflow.file()
	if strings.HasPrefix(r.Repository, "#") { // the app can't see the repository
		return path == r.Workflow && !j.isOwn(repo)
	}
	return path == r.Workflow && (strings.EqualFold(repo, r.Repository) || j.isOwn(repo) && j.isOwn(r.Repository))
}

// ruleEvents are the events for which GitHub runs a workflow that a rule requires.
var ruleEvents = []string{"pull_request", "pull_request_target", mergeGroup}

// isOwn reports whether a repository is the commit's own, which may be empty.
func (in Input) isOwn(repo string) bool { return repo == "" || strings.EqualFold(repo, in.Repo) }

// siblings returns the indices of the other checks in a check's workflow run.
func (j *judgement) siblings(of int) []int {
	var out []int
	run := j.checks[of].workflowRun()
	for i, c := range j.checks {
		if i != of && run != 0 && c.workflowRun() == run {
			out = append(out, i)
		}
	}
	return out
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
		sure, perhaps := j.neededBy(i)
		for _, k := range append(sure, perhaps...) {
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
		alike := counterparts(*c, j.onBase)
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
		if f, known := j.fileOf(check{workflow: &w}); known && len(f.named(r.Name)) == 0 {
			continue
		}
		running = append(running, j.runningIn(w)...)
	}
	return running
}

// whyAbsent returns why no check has a required name, if known. GitHub names a skipped job without the values of its
// matrix, and creates none of the jobs that it calls. A required check that runs only in merge queues keeps pull
// requests out of them, because GitHub requires it before the queue as well.
// https://github.com/hoobio/command-palette-bitwarden/pull/87
// https://github.com/tock/tock/pull/4298
// https://github.com/terok-ai/terok/pull/879
func (j *judgement) whyAbsent(r Required) string {
	if r.Workflow != "" {
		return ""
	}
	for _, c := range j.checks {
		whole := Job{Name: c.name, Calls: externalCall}
		if c.run.WorkflowRun != 0 && c.run.Conclusion == "skipped" && whole.matches(r.Name) {
			return "; " + c.name + " was skipped as a whole, and then GitHub reports it without what it has within"
		}
	}
	elsewhen := func(t Trigger) bool { return t.Event != mergeGroup }
	for _, f := range j.Files {
		if len(f.named(r.Name)) > 0 && len(f.Triggers) > 0 && !slices.ContainsFunc(f.Triggers, elsewhen) {
			return "; " + f.Path + " has it and runs in merge queues alone, yet GitHub wants it on the pull request, too: " +
				"run it there, and let its `if` skip it"
		}
	}
	return ""
}

// mergeGroup is the event of workflow runs in a merge queue.
const mergeGroup = "merge_group"

// missing judges the requirements without a check.
func (j *judgement) missing() {
	waited, limit := j.Now.Sub(j.Since), j.Settings.Wait.D()
	for _, r := range j.absent {
		c := sia.Check{Name: r.String(), Required: true, Colour: sia.Running, Why: "has not appeared yet"}
		goesOn := j.mayCreate(r)
		if len(goesOn) > 0 {
			c.Why += ", and may when " + names(goesOn) + " has ended"
		}
		if waited >= limit && len(goesOn) == 0 {
			c.Colour, c.Why = sia.Blocked, "did not appear within "+limit.String()+j.whyAbsent(r)
			j.blocked = append(j.blocked, sia.Obstacle{Check: c.Name, Reason: c.Why, Absent: true})
		} else {
			j.pending = append(j.pending, c.Name+" "+c.Why)
		}
		j.result.Checks = append(j.result.Checks, c)
	}
	slices.SortStableFunc(j.result.Checks, requiredFirst)
}
