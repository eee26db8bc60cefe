package world

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// takeInHand prepares a run for tests that start and end its jobs.
func (w *World) takeInHand(e *execution) {
	w.hands[e.run] = e
	e.run.Cancel = func() {
		for _, j := range e.run.Latest() {
			if j.Check.Status != "completed" {
				e.finish(j, runner.Result{Conclusion: "cancelled"})
			}
		}
		e.endInHand(true)
	}
	e.advance()
}

// advance completes the jobs of such a run without steps to run, makes those that waited for others, and completes the
// run when none is left.
func (e *execution) advance() {
	for again := true; again; {
		again = e.makeWaiting()
		for _, j := range e.run.Latest() {
			if e.taken[j] || !e.ended(j.Plan.Needs) {
				continue
			}
			if _, wanted := e.wanted(j); !wanted {
				e.taken[j], again = true, true
			}
		}
	}
	open := func(j *model.Job) bool { return j.Check.Status != "completed" }
	if len(e.run.Waiting) == 0 && !slices.ContainsFunc(e.run.Latest(), open) {
		e.endInHand(false)
	}
}

func (e *execution) endInHand(cancelled bool) {
	delete(e.world.hands, e.run)
	if e.run.Status == "queued" {
		e.inProgress()
	}
	e.completed(cancelled)
}

// InHand are the jobs of such runs of a repository that can start, or have started, oldest first.
func (w *World) InHand(r *model.Repository) []*model.Job {
	var jobs []*model.Job
	for _, run := range r.Runs {
		e := w.hands[run]
		if e == nil {
			continue
		}
		for _, j := range run.Latest() {
			if j.Check.Status != "completed" && e.ended(j.Plan.Needs) {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// BeginJob starts such a job.
func (w *World) BeginJob(r *model.Repository, j *model.Job) error {
	e := w.hands[j.Run]
	if e == nil || j.Check.Status != "queued" || !e.ended(j.Plan.Needs) {
		return fmt.Errorf("job %d can't begin: it is %s", j.ID, j.Check.Status)
	}
	if e.run.Status == "queued" {
		e.inProgress()
	}
	e.taken[j] = true
	e.started(j)
	return nil
}

// EndJob ends such a job with a runner's result. One that never started has no steps.
func (w *World) EndJob(r *model.Repository, j *model.Job, res runner.Result) error {
	e := w.hands[j.Run]
	if e == nil || j.Check.Status == "completed" || !e.ended(j.Plan.Needs) {
		return fmt.Errorf("job %d can't end: it is %s", j.ID, j.Check.Status)
	}
	if e.run.Status == "queued" {
		e.inProgress()
	}
	e.taken[j] = true
	e.finish(j, res)
	e.advance()
	return nil
}

// CancelRun cancels a run as a person does.
func (w *World) CancelRun(r *model.Repository, run *model.Run) { w.cancel(r, run) }
