package world

import (
	"context"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// next is the next job to execute, or nil. Jobs that wait for others are made when those have ended, and never if the
// run is cancelled.
func (e *execution) next(ctx context.Context) *model.Job {
	e.world.Lock()
	defer e.world.Unlock()
	for {
		over := ctx.Err() != nil
		made := !over && e.makeWaiting()
		for _, j := range e.run.Latest() {
			if !e.taken[j] && (over || e.ended(j.Plan.Needs)) {
				e.taken[j] = true
				return j
			}
		}
		if !made {
			return nil
		}
	}
}

// makeWaiting makes the jobs with ended dependencies; false: there are none.
func (e *execution) makeWaiting() (made bool) {
	var still []runner.Job
	for _, job := range e.run.Waiting {
		if !e.ended(job.Needs) {
			still = append(still, job)
			continue
		}
		made = true
		e.makeJobs(job)
	}
	e.run.Waiting = still
	return made
}

// makeJobs makes the jobs of a waiting one. If its condition is false, it is skipped before its matrix is evaluated.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idif
func (e *execution) makeJobs(job runner.Job) {
	job = job.After(e.needs(job.Needs))
	wanted, err := job.Wanted()
	if !job.Whole() || err != nil || !wanted {
		e.world.addJob(e.repo, e.run, job)
		return
	}
	jobs, err := job.Expand()
	if err != nil {
		e.run.Broken = append(e.run.Broken, model.Broken{Job: job, Why: err.Error()})
		e.world.note(e.repo, e.bot, journal.Entry{Kind: "workflow_run.job_broken", Ref: job.Key, SHA: e.run.SHA,
			Detail: err.Error()})
		return
	}
	for _, one := range jobs {
		e.world.addJob(e.repo, e.run, one)
	}
}

// ended reports whether the jobs of some keys have ended, or will never exist.
func (e *execution) ended(keys []string) bool {
	waits := func(key string) bool {
		return slices.ContainsFunc(e.run.Waiting, func(j runner.Job) bool { return j.Of(key) }) ||
			slices.ContainsFunc(e.run.Latest(), func(j *model.Job) bool {
				return j.Plan.Of(key) && j.Check.Status != "completed"
			})
	}
	return !slices.ContainsFunc(keys, waits)
}

// needs are the results of the jobs with these keys; of a matrix, the worst.
func (e *execution) needs(keys []string) map[string]runner.Need {
	order := []string{"skipped", "success", "cancelled", "failure"}
	out := map[string]runner.Need{}
	for _, o := range e.run.Latest() {
		i := slices.IndexFunc(keys, o.Plan.Of)
		if i < 0 {
			continue
		}
		n, seen := out[keys[i]]
		if !seen || slices.Index(order, o.Check.Conclusion) > slices.Index(order, n.Result) {
			n.Result = o.Check.Conclusion
		}
		n.Outputs = o.Outputs
		out[keys[i]] = n
	}
	for _, b := range e.run.Broken {
		if slices.Contains(keys, b.Job.Key) {
			out[b.Job.Key] = runner.Need{Result: "failure"}
		}
	}
	return out
}

// complete completes the run. Its conclusion is separate from its jobs': it fails if a job could not be made, and is
// cancelled if it was before all its jobs were made.
// https://github.com/canonical/operator-workflows/issues/918
func (e *execution) complete(ctx context.Context) {
	e.world.Lock()
	defer e.world.Unlock()
	e.completed(ctx.Err() != nil)
}

// completed is complete with the lock held.
func (e *execution) completed(cancelled bool) {
	var checks []*model.CheckRun
	for _, j := range e.run.Latest() {
		checks = append(checks, j.Check)
	}
	run := e.run
	_, run.Conclusion = model.SuiteState(checks)
	switch {
	case cancelled && len(run.Waiting) > 0:
		run.Conclusion = "cancelled"
	case len(run.Broken) > 0:
		run.Conclusion = "failure"
	case len(checks) == 0:
		run.Conclusion = "success" // every combination was excluded
	}
	run.Status, run.Waiting = "completed", nil
	if st := run.Suite; st.Status != "completed" {
		st.Status, st.Conclusion, st.Updated = run.Status, run.Conclusion, e.world.Now()
		e.world.note(e.repo, e.bot, journal.Entry{Kind: "check_suite.completed", Ref: st.App.Slug, SHA: st.SHA,
			Detail: st.Conclusion})
		e.world.emitSuite(e.repo, e.bot, st, "completed")
	}
	e.world.runEvent(e.repo, model.As(run.Actor), run, "completed")
	e.world.launchHeld(e.repo)
}
