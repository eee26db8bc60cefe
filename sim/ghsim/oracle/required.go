package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// require determines what has to be green: the names in the rules and the protection of the base, and those in SIA's
// settings. If there are none, or if the rules can't be read, or if all required ones are waived, all reports count.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (v *verdict) require() {
	if v.repo.RulesHidden == 0 {
		v.names = v.repo.RequiredChecks(v.pull.Base)
		v.workflows = v.repo.RequiredWorkflows(v.pull.Base)
	}
	for _, name := range v.q.Required {
		v.names = append(v.names, model.RequiredCheck{Context: name})
	}
	v.names = slices.DeleteFunc(v.names, func(want model.RequiredCheck) bool {
		return slices.Contains(v.q.Waived, want.Context) && !v.reported(want)
	})
	v.everything = v.repo.RulesHidden != 0 || len(v.names)+len(v.workflows) == 0
	v.requireNeeded()
}

// requireNeeded finds the jobs that required ones need. GitHub checks only the required name, which may be a job that
// summarises others incompletely; SIA promises that its dependencies are green.
func (v *verdict) requireNeeded() {
	v.needed = map[*model.Job]bool{}
	for _, p := range v.reports {
		j := p.job()
		if j == nil || !v.counts(p) {
			continue
		}
		needs := v.fileOf(j).needs(key(j))
		for _, o := range jobsOf(j.Run) {
			if needs[key(o.job())] {
				v.needed[o.job()] = true
			}
		}
	}
}

// counts reports whether a report has to be green.
func (v *verdict) counts(p report) bool {
	return v.everything || p.job() != nil && v.needed[p.job()] ||
		slices.ContainsFunc(v.names, func(want model.RequiredCheck) bool { return v.matches(p, want) })
}

// matches reports whether a report is a required one. "Required status checks do not take workflow, matrix, or event
// trigger types into account": all reports of that name count, or, with an expected app, all of that name by it.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules#troubleshooting-required-status-checks
//
// "If the status is set by any other person or integration, merging won't be allowed."
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-status-checks-to-pass-before-merging
func (v *verdict) matches(p report, want model.RequiredCheck) bool {
	switch {
	case p.name != want.Context:
		return false
	case want.App <= 0: // classic protection writes -1 for any app
		return true
	case p.check != nil:
		return p.check.Suite.App.ID == want.App
	}
	bot := v.src.Bot(want.App)
	return bot != nil && p.status.By == bot
}

func (v *verdict) reported(want model.RequiredCheck) bool {
	return slices.ContainsFunc(v.reports, func(p report) bool { return v.matches(p, want) })
}

// fulfils reports whether a run belongs to a required workflow: the file at that path in that repository, run for the
// pull request.
//
// "Ruleset workflows support using the pull_request, pull_request_target and merge_group
// events."
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules#supported-ruleset-workflow-events
func (v *verdict) fulfils(run *model.Run, want model.RequiredWorkflow) bool {
	source := want.Repository
	if source == 0 {
		source = v.repo.ID
	}
	return run.Path == want.Path && run.Source(v.repo).ID == source &&
		slices.Contains([]string{"pull_request", "pull_request_target", "merge_group"}, run.Event.Name)
}

// furtherJobsWait is how long after its start a run's further jobs are waited for.
const furtherJobsWait = 3 * time.Hour

// judgeComing judges required jobs that are still to be made: a run makes a job when those that it needs have ended,
// and an earlier run's result of that name is not final. GitHub shows the earlier result meanwhile.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idneeds
func (v *verdict) judgeComing() {
	for _, run := range v.runs {
		goesOn := run.Status != "completed" && slices.ContainsFunc(jobsOf(run), func(p report) bool {
			return p.check.Status == "in_progress" && v.now.Sub(p.check.Started) < furtherJobsWait
		})
		for _, job := range run.Waiting {
			for _, want := range v.names {
				if goesOn && want.Context == job.Name && (want.App <= 0 || want.App == run.Suite.App.ID) {
					v.because("%q, which is required, is still to run in a run of the workflow %q.", job.Name, run.Name)
				}
			}
		}
	}
}

// judgeMissing judges missing reports. "Checks associated with that workflow will remain in a "Pending" state": a
// required check that never reports is never green.
// https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
func (v *verdict) judgeMissing() {
	for _, want := range v.names {
		if !v.reported(want) {
			v.because("%q, which is required, %s.", want.Context, v.absent())
		}
	}
	if !v.everything {
		return
	}
	for _, name := range v.expected() {
		v.because("%q, which reported before, %s.", name, v.absent())
	}
}

// absent describes how long a report has been missing.
func (v *verdict) absent() string {
	if v.now.Sub(v.since()) < v.q.Wait {
		return "has not reported yet"
	}
	return fmt.Sprintf("has not reported within %s", v.q.Wait)
}

// since is the time of GitHub's first report on the head; now if there is none.
func (v *verdict) since() time.Time {
	first := v.now
	for _, st := range v.repo.Suites {
		if st.SHA == v.pull.HeadSHA && st.Made.Before(first) {
			first = st.Made
		}
	}
	for _, st := range v.repo.StatusesOf(v.pull.HeadSHA) {
		if st.At.Before(first) {
			first = st.At
		}
	}
	return first
}
