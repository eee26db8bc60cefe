package payload

import (
	"strconv"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// Run is a workflow run; actor is who started its present attempt.
func (s *Shaper) Run(r *model.Repository, run *model.Run, actor *model.User) Object {
	u := s.API("/repos/%s/actions/runs/%d", r.FullName(), run.ID)
	previous := any(nil)
	if run.Attempt > 1 {
		previous = u + "/attempts/" + strconv.Itoa(run.Attempt-1)
	}
	started := run.Started
	if started.IsZero() {
		started = run.Made
	}
	return Object{
		"id": run.ID, "node_id": NodeID("WFR", run.ID), "name": run.Name,
		"display_title": s.git.Facts(r.Dir, run.SHA).Subject(),
		"head_branch":   run.Branch, "head_sha": run.SHA, "path": run.Path, "run_number": run.Number,
		"run_attempt": run.Attempt,
		"event":       run.Event.Name,
		"status":      run.Status, "conclusion": OrNull(run.Conclusion), "workflow_id": run.WorkflowID,
		"check_suite_id": run.Suite.ID, "check_suite_node_id": NodeID("CS", run.Suite.ID), "url": u,
		"html_url": s.HTML("/%s/actions/runs/%d", r.FullName(), run.ID), "pull_requests": s.pullStubs(r, run.SHA),
		"created_at": Stamp(run.Made), "updated_at": Stamp(run.Updated), "run_started_at": Stamp(started),
		"actor": s.User(run.Actor), "triggering_actor": s.User(actor), "jobs_url": u + "/jobs", "logs_url": u + "/logs",
		"check_suite_url": s.API("/repos/%s/check-suites/%d", r.FullName(), run.Suite.ID),
		"artifacts_url":   u + "/artifacts",
		"cancel_url":      u + "/cancel", "rerun_url": u + "/rerun", "previous_attempt_url": previous,
		"workflow_url": s.workflowURL(r, run),
		"head_commit":  s.CommitLite(s.git.Facts(r.Dir, run.SHA)), "repository": s.RepositoryLite(r),
		"head_repository":      s.RepositoryLite(r),
		"referenced_workflows": []Object{},
	}
}

// workflowURL is the address of a run's workflow. That of one which a rule requires from another repository leads
// nowhere, and nothing else in the run tells that it is one.
// https://github.com/cli/cli/issues/9228
func (s *Shaper) workflowURL(r *model.Repository, run *model.Run) string {
	kind := "workflows"
	if run.From != nil {
		kind = "required_workflows"
	}
	return s.API("/repos/%s/actions/%s/%d", r.FullName(), kind, run.WorkflowID)
}

// Workflow is the workflow of a run.
func (s *Shaper) Workflow(r *model.Repository, run *model.Run) Object {
	u := s.API("/repos/%s/actions/workflows/%d", r.FullName(), run.WorkflowID)
	return Object{"id": run.WorkflowID, "node_id": NodeID("W", run.WorkflowID), "name": run.Name, "path": run.Path,
		"state":      "active",
		"created_at": Stamp(r.Made), "updated_at": Stamp(r.Made), "url": u,
		"html_url":  s.HTML("/%s/blob/%s/%s", r.FullName(), r.DefaultBranch, run.Path),
		"badge_url": s.HTML("/%s/actions/%s/badge.svg", r.FullName(), run.Path)}
}

// artifactLife is the default retention of an artifact.
const artifactLife = 90 * 24 * time.Hour

// Artifact is an upload of a job of a workflow run.
func (s *Shaper) Artifact(r *model.Repository, run *model.Run, a *model.Artifact) Object {
	u := s.API("/repos/%s/actions/artifacts/%d", r.FullName(), a.ID)
	return Object{
		"id": a.ID, "node_id": NodeID("A", a.ID), "name": a.Name, "size_in_bytes": len(a.Zip), "url": u,
		"archive_download_url": u + "/zip", "expired": a.Expired,
		"created_at": Stamp(a.Made), "updated_at": Stamp(a.Made), "expires_at": Stamp(a.Made.Add(artifactLife)),
		"workflow_run": Object{"id": run.ID, "repository_id": r.ID, "head_repository_id": r.ID, "head_branch": run.Branch,
			"head_sha": run.SHA},
	}
}

// Job is a job of a workflow run.
func (s *Shaper) Job(r *model.Repository, j *model.Job) Object {
	c := j.Check
	started := c.Started
	if started.IsZero() {
		started = j.Made
	}
	steps := []Object{}
	for _, st := range j.Steps {
		steps = append(steps, Object{"number": st.Number, "name": st.Name, "status": st.Status,
			"conclusion": OrNull(st.Conclusion),
			"started_at": Stamp(st.Started), "completed_at": Stamp(st.Completed)})
	}
	return Object{
		"id": j.ID, "node_id": NodeID("CR", j.ID), "run_id": j.Run.ID,
		"run_url":     s.API("/repos/%s/actions/runs/%d", r.FullName(), j.Run.ID),
		"run_attempt": j.Attempts[0], "head_sha": j.Run.SHA, "head_branch": j.Run.Branch, "workflow_name": j.Run.Name,
		"name": c.Name,
		"url":  s.API("/repos/%s/actions/jobs/%d", r.FullName(), j.ID), "html_url": c.DetailsURL, "status": c.Status,
		"conclusion": OrNull(c.Conclusion), "created_at": Stamp(j.Made), "started_at": Stamp(started),
		"completed_at": Stamp(c.Completed),
		"steps":        steps, "check_run_url": s.API("/repos/%s/check-runs/%d", r.FullName(), c.ID),
		"labels":    []string{"ubuntu-latest"},
		"runner_id": 1, "runner_name": "ghsim", "runner_group_id": 1, "runner_group_name": "Default",
	}
}
