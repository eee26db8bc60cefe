package ghsim

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"slices"
	"time"
)

// logURL is a short-lived address of a job's log.
type logURL struct {
	job     *job
	expires time.Time
}

const logLife = time.Minute

func (s *Server) runJSON(r *repository, w *workflowRun, actor *user) object {
	u := s.api("/repos/%s/actions/runs/%d", r.fullName(), w.id)
	previous := any(nil)
	if w.attempt > 1 {
		previous = u + "/attempts/" + itoa(int64(w.attempt-1))
	}
	started := w.started
	if started.IsZero() {
		started = w.made
	}
	return object{
		"id": w.id, "node_id": nodeID("WFR", w.id), "name": w.name, "display_title": firstLine(s.git.facts(r.dir, w.sha).message),
		"head_branch": w.branch, "head_sha": w.sha, "path": w.path, "run_number": w.number, "run_attempt": w.attempt, "event": w.event,
		"status": w.status, "conclusion": orNull(w.conclusion), "workflow_id": w.workflowID,
		"check_suite_id": w.suite.id, "check_suite_node_id": nodeID("CS", w.suite.id), "url": u,
		"html_url": s.html("/%s/actions/runs/%d", r.fullName(), w.id), "pull_requests": s.pullStubs(r, w.sha),
		"created_at": stamp(w.made), "updated_at": stamp(w.updated), "run_started_at": stamp(started),
		"actor": s.userJSON(w.actor), "triggering_actor": s.userJSON(actor), "jobs_url": u + "/jobs", "logs_url": u + "/logs",
		"check_suite_url": s.api("/repos/%s/check-suites/%d", r.fullName(), w.suite.id), "artifacts_url": u + "/artifacts",
		"cancel_url": u + "/cancel", "rerun_url": u + "/rerun", "previous_attempt_url": previous,
		"workflow_url": s.api("/repos/%s/actions/workflows/%d", r.fullName(), w.workflowID),
		"head_commit":  s.simpleCommitJSON(s.git.facts(r.dir, w.sha)), "repository": s.repoLiteJSON(r), "head_repository": s.repoLiteJSON(r),
		"referenced_workflows": []object{},
	}
}

func (s *Server) workflowJSON(r *repository, w *workflowRun) object {
	u := s.api("/repos/%s/actions/workflows/%d", r.fullName(), w.workflowID)
	return object{"id": w.workflowID, "node_id": nodeID("W", w.workflowID), "name": w.name, "path": w.path, "state": "active",
		"created_at": stamp(r.made), "updated_at": stamp(r.made), "url": u, "html_url": s.html("/%s/blob/%s/%s", r.fullName(), r.defaultBranch, w.path),
		"badge_url": s.html("/%s/actions/%s/badge.svg", r.fullName(), w.path)}
}

func (s *Server) jobJSON(r *repository, j *job) object {
	c := j.check
	started := c.started
	if started.IsZero() {
		started = j.made
	}
	steps := []object{}
	for _, st := range j.steps {
		steps = append(steps, object{"number": st.number, "name": st.name, "status": st.status, "conclusion": orNull(st.conclusion),
			"started_at": stamp(st.started), "completed_at": stamp(st.completed)})
	}
	return object{
		"id": j.id, "node_id": nodeID("CR", j.id), "run_id": j.run.id, "run_url": s.api("/repos/%s/actions/runs/%d", r.fullName(), j.run.id),
		"run_attempt": j.attempts[0], "head_sha": j.run.sha, "head_branch": j.run.branch, "workflow_name": j.run.name, "name": c.name,
		"url": s.api("/repos/%s/actions/jobs/%d", r.fullName(), j.id), "html_url": c.detailsURL, "status": c.status,
		"conclusion": orNull(c.conclusion), "created_at": stamp(j.made), "started_at": stamp(started), "completed_at": stamp(c.completed),
		"steps": steps, "check_run_url": s.api("/repos/%s/check-runs/%d", r.fullName(), c.id), "labels": []string{"ubuntu-latest"},
		"runner_id": 1, "runner_name": "ghsim", "runner_group_id": 1, "runner_group_name": "Default",
	}
}

func (s *Server) listRuns(c *call) (answer, error) {
	var ws []*workflowRun
	for _, w := range slices.Backward(c.repo.runs) {
		keep := true
		for key, v := range map[string]string{"head_sha": w.sha, "branch": w.branch, "event": w.event, "actor": w.actor.login} {
			keep = keep && (c.query.Get(key) == "" || c.query.Get(key) == v)
		}
		if st := c.query.Get("status"); st != "" && st != w.status && st != w.conclusion {
			keep = false
		}
		if id := c.query.Get("check_suite_id"); id != "" && id != itoa(w.suite.id) {
			keep = false
		}
		if keep {
			ws = append(ws, w)
		}
	}
	return page(c, ws, "workflow_runs", func(w *workflowRun) object { return s.runJSON(c.repo, w, w.actor) })
}

func (c *call) run() (*workflowRun, error) {
	for _, w := range c.repo.runs {
		if w.id == c.id("id") {
			return w, nil
		}
	}
	return nil, notFound()
}

func (s *Server) getRun(c *call) (answer, error) {
	w, err := c.run()
	if err != nil {
		return answer{}, err
	}
	return ok(s.runJSON(c.repo, w, w.actor)), nil
}

func (s *Server) listJobs(c *call) (answer, error) {
	w, err := c.run()
	if err != nil {
		return answer{}, err
	}
	js := w.latest()
	if c.query.Get("filter") == "all" {
		js = w.jobs
	}
	return page(c, js, "jobs", func(j *job) object { return s.jobJSON(c.repo, j) })
}

func (c *call) job() (*job, error) {
	if k := c.repo.check(c.id("id")); k != nil && k.job != nil {
		return k.job, nil
	}
	return nil, notFound()
}

func (s *Server) getJob(c *call) (answer, error) {
	j, err := c.job()
	if err != nil {
		return answer{}, err
	}
	return ok(s.jobJSON(c.repo, j)), nil
}

// jobLogs redirects to the log, which is there once the job is completed.
func (s *Server) jobLogs(c *call) (answer, error) {
	j, err := c.job()
	if err != nil {
		return answer{}, err
	}
	if j.check.status != "completed" {
		return answer{}, notFound()
	}
	var b [16]byte
	rand.Read(b[:])
	key := hex.EncodeToString(b[:])
	s.logURLs[key] = logURL{job: j, expires: s.now().Add(logLife)}
	return answer{code: http.StatusFound, header: map[string]string{"Location": s.html("/_logs/%s", key)}}, nil
}

// serveLog serves a log by its short-lived address; no credentials are asked.
func (s *Server) serveLog(w http.ResponseWriter, key string) {
	s.mu.Lock()
	l, known := s.logURLs[key]
	var text []byte
	if known {
		text = l.job.log
	}
	expired := known && !s.now().Before(l.expires)
	s.mu.Unlock()
	if !known || expired {
		http.Error(w, "this address has expired: ask for the log again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write(text)
}

func (s *Server) rerunAll(c *call) (answer, error) {
	return s.postRerun(c, func(*job) bool { return true })
}

func (s *Server) rerunFailed(c *call) (answer, error) {
	return s.postRerun(c, func(j *job) bool { return j.check.conclusion != "success" })
}

func (s *Server) postRerun(c *call, which func(*job) bool) (answer, error) {
	w, err := c.run()
	if err != nil {
		return answer{}, err
	}
	if err := s.rerun(c.repo, w, c.actor(), which); err != nil {
		return answer{}, err
	}
	return created(object{}), nil
}

func (s *Server) rerunJob(c *call) (answer, error) {
	j, err := c.job()
	if err != nil {
		return answer{}, err
	}
	if err := s.rerun(c.repo, j.run, c.actor(), func(x *job) bool { return x.plan.name == j.plan.name }); err != nil {
		return answer{}, err
	}
	return created(object{}), nil
}
