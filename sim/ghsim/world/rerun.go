package world

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// addJob makes a job of the run's present attempt, and its check run.
func (w *World) addJob(r *model.Repository, run *model.Run, p runner.Job) {
	j := &model.Job{ID: w.NextID(), Run: run, Attempts: []int{run.Attempt}, Plan: p, Made: w.Now()}
	j.Check = &model.CheckRun{ID: j.ID, Suite: run.Suite, Name: p.Name, SHA: run.SHA, Status: "queued",
		ExternalID: delivery.NewGUID(), Job: j, Started: w.Now(),
		DetailsURL: w.shape.HTML("/%s/actions/runs/%d/job/%d", r.FullName(), run.ID, j.ID)}
	run.Jobs = append(run.Jobs, j)
	w.AddCheck(r, model.As(w.actions.Bot), j.Check)
}

// Rerun reruns jobs of a completed run as its next attempt, which includes the others unchanged. Jobs that need a rerun
// job are rerun too.
func (w *World) Rerun(r *model.Repository, run *model.Run, a model.Actor, which func(*model.Job) bool) error {
	if run.Status != "completed" {
		return refusal.Forbidden("This workflow run is already running")
	}
	if run.Event.Name == model.Dynamic { // https://github.com/github/codeql-action/issues/3465
		return refusal.Forbidden("This workflow run cannot be retried")
	}
	last := run.Latest()
	again := map[string]bool{}
	follows := func(j *model.Job) bool {
		for key := range again {
			if slices.ContainsFunc(j.Plan.Needs, runner.Job{Key: key}.Of) {
				return true
			}
		}
		return false
	}
	missing := unmade(run)
	for _, job := range missing {
		again[job.Key] = true
	}
	for _, j := range last {
		if which(j) || follows(j) {
			again[j.Plan.Key] = true
		}
	}
	if len(again) == 0 {
		return refusal.Forbidden("This workflow run has no failed jobs")
	}
	run.Attempt++
	run.Waiting, run.Broken = missing, nil
	if run.Group != "" { // a rerun cancels running ones, as a new run does
		for _, o := range r.Runs {
			if o != run && o.Group == run.Group && o.Status != "completed" {
				w.cancel(r, o)
			}
		}
	}
	run.Status, run.Conclusion, run.Updated, run.Started = "queued", "", w.Now(), w.Now()
	w.note(r, a, journal.Entry{Kind: "workflow_run.rerequested", Ref: run.Name, SHA: run.SHA})
	w.runEvent(r, a, run, "requested")
	for _, j := range last {
		if again[j.Plan.Key] && (which(j) || follows(j)) {
			w.addJob(r, run, j.Plan)
		} else {
			j.Attempts = append(j.Attempts, run.Attempt)
		}
	}
	w.launch(r, run)
	return nil
}

// unmade are the planned jobs of a run that did not succeed and that its present attempt lacks: their matrix was empty,
// or they still waited for others when it was cancelled.
func unmade(run *model.Run) (jobs []runner.Job) {
	for _, job := range run.Planned {
		made := func(j *model.Job) bool { return j.Plan.Of(job.Key) }
		if run.Conclusion != "success" && !run.Held && !slices.ContainsFunc(run.Latest(), made) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}
