package world

import (
	"fmt"
	"path"
	"slices"

	"github.com/sia-bot/sia/app/ghsim/delivery"
	"github.com/sia-bot/sia/app/ghsim/journal"
	"github.com/sia-bot/sia/app/ghsim/model"
	"github.com/sia-bot/sia/app/ghsim/refusal"
	"github.com/sia-bot/sia/app/ghsim/runner"
)

// RunWorkflows runs the workflows of a branch's head as a push would, unless they
// ran for that commit; a new repository's have not.
func (w *World) RunWorkflows(r *model.Repository, a model.Actor, branch string) error {
	sha := r.Head(branch)
	if sha == "" {
		return fmt.Errorf("%s has no branch %s", r.FullName(), branch)
	}
	push := w.event(r, a, "", w.shape.Push(r, a, "refs/heads/"+branch, sha, sha, false))
	w.startWorkflows(r, a, runner.Event{Name: "push", Payload: push}, branch, sha)
	return nil
}

// startWorkflows starts the workflows of a commit that an event triggers. A
// workflow that lists both push and pull_request runs once for a commit, for
// whichever comes first.
func (w *World) startWorkflows(r *model.Repository, a model.Actor, event runner.Event, branch, sha string) {
	if w.noWorkflows || w.mon.Closed() {
		return
	}
	es, err := w.git.List(r.Dir, sha, ".github/workflows", false)
	if err != nil {
		w.log.Error("listing workflows", "repo", r.FullName(), "error", err)
		return
	}
	for _, e := range es {
		if ext := path.Ext(e.Path); e.Kind != "blob" || ext != ".yml" && ext != ".yaml" {
			continue
		}
		if slices.ContainsFunc(r.Runs, func(run *model.Run) bool { return run.Path == e.Path && run.SHA == sha }) {
			continue
		}
		text, err := w.git.BlobAt(r.Dir, sha, e.Path)
		if err != nil {
			w.log.Error("reading a workflow", "repo", r.FullName(), "error", err)
			continue
		}
		w.startWorkflow(r, a, event, branch, sha, e.Path, text)
	}
}

func (w *World) startWorkflow(
	r *model.Repository, a model.Actor, event runner.Event, branch, sha, file string, text []byte,
) {
	wf, err := runner.Parse(text)
	var jobs []runner.Job
	if err == nil {
		if jobs, err = wf.Plan(event); err == nil && len(jobs) == 0 {
			return
		}
	}
	name := file
	if wf != nil && wf.Name != "" {
		name = wf.Name
	}
	if r.Workflows[file] == 0 {
		r.Workflows[file] = w.NextID()
	}
	r.LastRun++
	run := &model.Run{ID: w.NextID(), Number: int64(r.LastRun), Attempt: 1, WorkflowID: r.Workflows[file], Name: name,
		Path: file, Event: event, Branch: branch, SHA: sha, Actor: a.User, Status: "queued", Made: w.Now(),
		Updated: w.Now()}
	run.Suite = &model.Suite{ID: w.NextID(), App: w.actions, Branch: branch, SHA: sha, Status: "queued", Made: w.Now(),
		Updated: w.Now()}
	r.Suites, r.Runs = append(r.Suites, run.Suite), append(r.Runs, run)
	w.runEvent(r, a, run, "requested")
	if err != nil { // GitHub runs no job of an invalid file and calls the run failed
		w.log.Warn("invalid workflow", "repo", r.FullName(), "file", file, "error", err)
		run.Status, run.Conclusion = "completed", "failure"
		run.Suite.Status, run.Suite.Conclusion = "completed", "failure"
		w.emitSuite(r, a, run.Suite, "completed")
		w.runEvent(r, a, run, "completed")
		return
	}
	for _, job := range jobs {
		w.addJob(r, run, job)
	}
	w.launch(r, run)
}

// addJob makes a job of the run's present attempt, and its check run.
func (w *World) addJob(r *model.Repository, run *model.Run, p runner.Job) {
	j := &model.Job{ID: w.NextID(), Run: run, Attempts: []int{run.Attempt}, Plan: p, Made: w.Now()}
	j.Check = &model.CheckRun{ID: j.ID, Suite: run.Suite, Name: p.Name, SHA: run.SHA, Status: "queued",
		ExternalID: delivery.NewGUID(), Job: j, Started: w.Now(),
		DetailsURL: w.shape.HTML("/%s/actions/runs/%d/job/%d", r.FullName(), run.ID, j.ID)}
	run.Jobs = append(run.Jobs, j)
	w.AddCheck(r, model.As(w.actions.Bot), j.Check)
}

// Rerun runs jobs of a completed run again as its next attempt; the others count
// in it as they are. Jobs that need one that is run again are run again too.
func (w *World) Rerun(r *model.Repository, run *model.Run, a model.Actor, which func(*model.Job) bool) error {
	if run.Status != "completed" {
		return refusal.Forbidden("This workflow run is already running")
	}
	last := run.Latest()
	again := map[string]bool{}
	for _, j := range last {
		if which(j) || slices.ContainsFunc(j.Plan.Needs, func(k string) bool { return again[k] }) {
			again[j.Plan.Key] = true
		}
	}
	if len(again) == 0 {
		return refusal.Forbidden("This workflow run has no failed jobs")
	}
	run.Attempt++
	run.Status, run.Conclusion, run.Updated, run.Started = "queued", "", w.Now(), w.Now()
	w.note(r, a, journal.Entry{Kind: "workflow_run.rerequested", Ref: run.Name, SHA: run.SHA})
	w.runEvent(r, a, run, "requested")
	for _, j := range last {
		if again[j.Plan.Key] && (which(j) || slices.ContainsFunc(j.Plan.Needs, func(k string) bool { return again[k] })) {
			w.addJob(r, run, j.Plan)
		} else {
			j.Attempts = append(j.Attempts, run.Attempt)
		}
	}
	w.launch(r, run)
	return nil
}

func (w *World) runEvent(r *model.Repository, a model.Actor, run *model.Run, action string) {
	run.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "workflow_run." + action, Ref: run.Name, SHA: run.SHA, Detail: run.Conclusion})
	w.emit(r, a, "workflow_run", action,
		object{"workflow_run": w.shape.Run(r, run, a.User), "workflow": w.shape.Workflow(r, run)})
}
