package world

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// takeInHand has a run's jobs begin and end when somebody says so.
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

// advance completes the jobs of a run in hand that don't run their steps, makes those that waited for others,
// and completes the run when none is left.
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

// InHand are the jobs of a repository's runs that can begin, or have begun, oldest first.
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

// BeginJob has a job in hand begin.
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

// EndJob has a job in hand end as a runner would say that it did. One that never began has no steps.
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

// CancelRun ends a run as a person who cancels it does.
func (w *World) CancelRun(r *model.Repository, run *model.Run) { w.cancel(r, run) }
