package oracle

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// report is one criterion of a commit: a check run or a commit status.
type report struct {
	name   string
	check  *model.CheckRun // nil: a commit status
	status *model.Status   // nil: a check run
}

// job is the workflow job of a report; nil for check runs made through the API, and for statuses.
func (p report) job() *model.Job {
	if p.check == nil {
		return nil
	}
	return p.check.Job
}

// reportsOn are the reports on a commit and, if there is one, on the test merge commit. An app's own are left out.
//
// Each job of each run is a criterion of its own, and so are a check and a status of one
// name: "If you have a check and a status with the same name, and you select that name as a
// required status check, both the check and the status are required."
// https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
func reportsOn(r *model.Repository, own, sha, merge string) []report {
	var all []report
	for _, k := range r.Checks {
		if k.Job != nil && k.Suite.App.Slug != own && (k.SHA == sha || merge != "" && k.SHA == merge) &&
			latest(k.Job) && !jobReplaced(r, k.Job) {
			all = append(all, report{name: k.Name, check: k})
		}
	}
	return append(all, append(madeOn(r, own, sha, merge), statusesOn(r, own, sha, merge)...)...)
}

// madeOn are the check runs that apps made through the API, the newest of each app and name. "Filters check runs by
// their completed_at timestamp. latest returns the most recent check runs." They have no attempts: a rerun makes a new
// one.
// https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference
//
// "If the test merge commit has a status, the test merge commit must pass. Otherwise, the
// status of the head commit must pass."
// https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
func madeOn(r *model.Repository, own, sha, merge string) []report {
	type key struct {
		app  int64
		name string
	}
	seen := map[key]bool{}
	var all []report
	for _, at := range []string{merge, sha} {
		for _, k := range slices.Backward(r.Checks) {
			if at == "" || k.SHA != at || k.Job != nil || k.Suite.App.Slug == own {
				continue
			}
			if of := (key{k.Suite.App.ID, k.Name}); !seen[of] {
				seen[of] = true
				all = append(all, report{name: k.Name, check: k})
			}
		}
	}
	return all
}

// statusesOn are the commit statuses, the newest of each context, whoever set it. One on the test merge commit replaces
// the head's.
// https://docs.github.com/en/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
func statusesOn(r *model.Repository, own, sha, merge string) []report {
	seen := map[string]bool{}
	var all []report
	for _, at := range []string{merge, sha} {
		if at == "" {
			continue
		}
		for _, st := range r.StatusesOf(at) { // newest first
			if !seen[st.Context] && (st.By == nil || st.By.Login != own+"[bot]") {
				seen[st.Context] = true
				all = append(all, report{name: st.Context, status: st})
			}
		}
	}
	return all
}

// latest reports whether a job belongs to the newest attempt of its run that includes it. Only a later attempt of the
// same run and job replaces an earlier one: a check that failed and passed as attempts of one job is flaky, and passes.
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
func latest(j *model.Job) bool {
	newest := 0
	for _, o := range j.Run.Jobs {
		for _, attempt := range o.Attempts {
			if o.Plan.Key == j.Plan.Key {
				newest = max(newest, attempt)
			}
		}
	}
	return slices.Contains(j.Attempts, newest)
}

// jobReplaced reports whether a job was cancelled, by itself or with its run, and a later run of the same workflow for
// the same commit includes it too; or whether it failed, and such a run for the same event has it green.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
// https://github.com/everruns/everruns/pull/3739
func jobReplaced(r *model.Repository, j *model.Job) bool {
	cancelled := j.Check.Conclusion == "cancelled" || j.Run.Conclusion == "cancelled"
	if !cancelled && (j.Check.Status != "completed" || slices.Contains(successful, j.Check.Conclusion)) {
		return false
	}
	for _, run := range r.Runs {
		if run == j.Run || !sameWorkflow(r, run, j.Run) || run.SHA != j.Run.SHA {
			continue
		}
		if slices.ContainsFunc(run.Jobs, func(o *model.Job) bool {
			succeeded := o.Check.Conclusion == "success" && run.Event.Name == j.Run.Event.Name && latest(o)
			return o.Check.Name == j.Check.Name && o.ID > j.ID && (cancelled || succeeded)
		}) {
			return true
		}
	}
	return false
}

// runReplaced reports whether a run was cancelled and a later run of the same workflow for the same commit replaced it,
// or whether it failed, and such a run for the same event succeeded.
func runReplaced(r *model.Repository, run *model.Run) bool {
	return slices.ContainsFunc(r.Runs, func(o *model.Run) bool {
		succeeded := slices.Contains(failed, run.Conclusion) && o.Conclusion == "success" &&
			o.Event.Name == run.Event.Name
		return o != run && o.SHA == run.SHA && sameWorkflow(r, o, run) && began(o) > began(run) &&
			(run.Conclusion == "cancelled" || succeeded)
	})
}

// began orders the last attempts of runs: ids increase, for runs and for jobs.
func began(run *model.Run) int64 {
	last := run.ID
	for _, j := range run.Jobs {
		last = max(last, j.ID)
	}
	return last
}

// sameWorkflow reports whether two runs are of one workflow file of one repository.
func sameWorkflow(r *model.Repository, a, b *model.Run) bool {
	return a.Path == b.Path && a.Source(r).ID == b.Source(r).ID
}

// runsOn are the workflow runs for a commit.
func runsOn(r *model.Repository, sha string) []*model.Run {
	var all []*model.Run
	for _, run := range r.Runs {
		if run.SHA == sha {
			all = append(all, run)
		}
	}
	return all
}

// jobsOf are the jobs of a run, in their newest attempts.
func jobsOf(run *model.Run) []report {
	var all []report
	for _, j := range run.Jobs {
		if latest(j) {
			all = append(all, report{name: j.Check.Name, check: j.Check})
		}
	}
	return all
}
