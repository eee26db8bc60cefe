package ghsim

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"
)

// RunWorkflows runs the workflows of a branch's head as a push by a person would,
// unless they ran for that commit; a new repository's have not.
func (s *Server) RunWorkflows(repo, branch, login string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "write")
	if err != nil {
		return err
	}
	sha := r.head(branch)
	if sha == "" {
		return fmt.Errorf("%s has no branch %s", repo, branch)
	}
	s.startWorkflows(r, a, "push", branch, sha)
	return nil
}

// startWorkflows starts the workflows of a commit that an event triggers; the
// mutex is held. A workflow that lists both push and pull_request runs once for
// a commit, for whichever comes first.
func (s *Server) startWorkflows(r *repository, a actor, event, branch, sha string) {
	if s.cfg.NoWorkflows || s.closed {
		return
	}
	es, err := s.git.ls(r.dir, sha, ".github/workflows", false)
	if err != nil {
		s.log.Error("listing workflows", "repo", r.fullName(), "error", err)
		return
	}
	for _, e := range es {
		if ext := path.Ext(e.path); e.kind != "blob" || ext != ".yml" && ext != ".yaml" {
			continue
		}
		if slices.ContainsFunc(r.runs, func(w *workflowRun) bool { return w.path == e.path && w.sha == sha }) {
			continue
		}
		text, err := s.git.blobAt(r.dir, sha, e.path)
		if err != nil {
			s.log.Error("reading a workflow", "repo", r.fullName(), "error", err)
			continue
		}
		s.startWorkflow(r, a, event, branch, sha, e.path, text)
	}
}

func (s *Server) startWorkflow(r *repository, a actor, event, branch, sha, file string, text []byte) {
	wf, err := parseWorkflow(text)
	var plans []jobPlan
	if err == nil {
		if !wf.triggered(event, s.filterBranch(r, event, branch)) {
			return
		}
		plans, err = wf.plans()
	}
	name := file
	if wf != nil && wf.Name != "" {
		name = wf.Name
	}
	if r.workflows[file] == 0 {
		r.workflows[file] = s.newID()
	}
	r.lastRun++
	w := &workflowRun{id: s.newID(), number: int64(r.lastRun), attempt: 1, workflowID: r.workflows[file], name: name, path: file,
		event: event, branch: branch, sha: sha, actor: a.user, status: "queued", made: s.now(), updated: s.now()}
	w.suite = &suite{id: s.newID(), app: s.actions, branch: branch, sha: sha, before: "", status: "queued", made: s.now(), updated: s.now()}
	r.suites, r.runs = append(r.suites, w.suite), append(r.runs, w)
	s.runEvent(r, a, w, "requested")
	if err != nil { // GitHub runs no job of an invalid file and calls the run failed
		s.log.Warn("invalid workflow", "repo", r.fullName(), "file", file, "error", err)
		w.status, w.conclusion = "completed", "failure"
		w.suite.status, w.suite.conclusion = "completed", "failure"
		s.emitSuite(r, a, w.suite, "completed")
		s.runEvent(r, a, w, "completed")
		return
	}
	for _, p := range plans {
		s.addJob(r, w, p)
	}
	s.launch(r, w)
}

// filterBranch is the branch that a trigger's filter is about.
func (s *Server) filterBranch(r *repository, event, branch string) string {
	if event == "push" {
		return branch
	}
	for _, i := range r.issues {
		if i.pull != nil && i.state == "open" && i.pull.head == branch {
			return i.pull.base
		}
	}
	return r.defaultBranch
}

// addJob makes a job of the run's present attempt, and its check run.
func (s *Server) addJob(r *repository, w *workflowRun, p jobPlan) {
	j := &job{id: s.newID(), run: w, attempts: []int{w.attempt}, plan: p, made: s.now()}
	j.check = &checkRun{id: j.id, suite: w.suite, name: p.name, sha: w.sha, status: "queued", externalID: newGUID(), job: j,
		started: s.now(), detailsURL: s.html("/%s/actions/runs/%d/job/%d", r.fullName(), w.id, j.id)}
	w.jobs = append(w.jobs, j)
	r.checks = append(r.checks, j.check)
	s.checkChanged(r, s.who(s.actions.bot), j.check, true, false)
}

// rerun runs jobs of a completed run again as its next attempt; the others count
// in it as they are. Jobs that need one that is run again are run again too.
func (s *Server) rerun(r *repository, w *workflowRun, a actor, which func(*job) bool) error {
	if w.status != "completed" {
		return &apiError{code: http.StatusForbidden, message: "This workflow run is already running"}
	}
	last := w.latest()
	again := map[string]bool{}
	for _, j := range last {
		if which(j) || slices.ContainsFunc(j.plan.needs, func(k string) bool { return again[k] }) {
			again[j.plan.key] = true
		}
	}
	if len(again) == 0 {
		return &apiError{code: http.StatusForbidden, message: "This workflow run has no failed jobs"}
	}
	w.attempt++
	w.status, w.conclusion, w.updated, w.started = "queued", "", s.now(), s.now()
	s.note(Entry{Kind: "workflow_run.rerequested", Actor: a.user.login, Repo: r.fullName(), Ref: w.name, SHA: w.sha})
	s.runEvent(r, a, w, "requested")
	for _, j := range last {
		if again[j.plan.key] && (which(j) || slices.ContainsFunc(j.plan.needs, func(k string) bool { return again[k] })) {
			s.addJob(r, w, j.plan)
		} else {
			j.attempts = append(j.attempts, w.attempt)
		}
	}
	s.launch(r, w)
	return nil
}

func (s *Server) runEvent(r *repository, a actor, w *workflowRun, action string) {
	w.updated = s.now()
	s.note(Entry{Kind: "workflow_run." + action, Actor: a.user.login, Repo: r.fullName(), Ref: w.name, SHA: w.sha, Detail: w.conclusion})
	s.emit(r, a, "workflow_run", action, object{"workflow_run": s.runJSON(r, w, a.user), "workflow": s.workflowJSON(r, w)})
}

// launch executes a run's queued jobs in the background; the mutex is held.
func (s *Server) launch(r *repository, w *workflowRun) {
	if s.closed {
		return
	}
	s.begin()
	s.wg.Go(func() {
		s.execute(r, w)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.end()
	})
}

// execute runs a run's jobs one after another. When the server closes it leaves
// everything as it is.
func (s *Server) execute(r *repository, w *workflowRun) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.ctx.Done():
		return
	}
	bot := s.who(s.actions.bot)
	s.mu.Lock()
	w.status, w.started = "in_progress", s.now()
	s.runEvent(r, s.who(w.actor), w, "in_progress")
	jobs := w.latest()
	s.mu.Unlock()

	for _, j := range jobs {
		if s.ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		if j.check.status == "completed" {
			s.mu.Unlock()
			continue
		}
		failed := slices.ContainsFunc(jobs, func(o *job) bool {
			return slices.Contains(j.plan.needs, o.plan.key) && o.check.conclusion != "success"
		})
		run := condition(j.plan.file.If, failed, func(string) string { return "" })
		if !run {
			s.finishJob(r, bot, j, jobResult{conclusion: "skipped"})
			s.mu.Unlock()
			continue
		}
		j.check.status, j.check.started = "in_progress", s.now()
		w.suite.status = "in_progress"
		s.note(Entry{Kind: "check_run.in_progress", Actor: bot.user.login, Repo: r.fullName(), Ref: j.check.name, SHA: w.sha})
		env := s.jobEnvironment(r, w, j)
		s.mu.Unlock()

		res := s.runJob(env, j)

		if s.ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		s.finishJob(r, bot, j, res)
		s.mu.Unlock()
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	w.status, w.conclusion = suiteState(checksOf(w.latest()))
	s.runEvent(r, s.who(w.actor), w, "completed")
}

func checksOf(jobs []*job) []*checkRun {
	var ks []*checkRun
	for _, j := range jobs {
		ks = append(ks, j.check)
	}
	return ks
}

// jobResult is how a job went.
type jobResult struct {
	conclusion  string
	log         []byte
	steps       []*step
	annotations []annotation
}

func (s *Server) finishJob(r *repository, a actor, j *job, res jobResult) {
	c := j.check
	j.log, j.steps = res.log, res.steps
	c.status, c.conclusion, c.completed = "completed", res.conclusion, s.now()
	c.annotations = res.annotations
	s.checkChanged(r, a, c, false, false)
}

// jobEnvironment is the default environment of a job's steps.
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables
func (s *Server) jobEnvironment(r *repository, w *workflowRun, j *job) map[string]string {
	ref, base, head := "refs/heads/"+w.branch, "", ""
	if w.event == "pull_request" {
		base, head = s.filterBranch(r, w.event, w.branch), w.branch
	}
	return map[string]string{
		"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_SHA": w.sha, "GITHUB_REF": ref, "GITHUB_REF_NAME": w.branch, "GITHUB_REF_TYPE": "branch",
		"GITHUB_BASE_REF": base, "GITHUB_HEAD_REF": head, "GITHUB_REPOSITORY": r.fullName(), "GITHUB_REPOSITORY_OWNER": r.owner.login,
		"GITHUB_EVENT_NAME": w.event, "GITHUB_WORKFLOW": w.name, "GITHUB_JOB": j.plan.key, "GITHUB_ACTOR": w.actor.login,
		"GITHUB_RUN_ID": itoa(w.id), "GITHUB_RUN_NUMBER": itoa(w.number), "GITHUB_RUN_ATTEMPT": itoa(int64(w.attempt)),
		"GITHUB_SERVER_URL": s.url, "GITHUB_API_URL": s.api(""), "GITHUB_GRAPHQL_URL": s.url + "/api/graphql",
		"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_NAME": "ghsim", "GHSIM_GIT_DIR": r.dir,
	}
}

// jobContext bounds a job by its own timeout and the server's.
func (s *Server) jobContext(minutes float64) (context.Context, context.CancelFunc, time.Duration) {
	limit := s.cfg.JobTimeout
	if own := time.Duration(minutes * float64(time.Minute)); own > 0 && own < limit {
		limit = own
	}
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	return ctx, cancel, limit
}

func firstLine(s string) string {
	for i, c := range s {
		if c == '\n' {
			return s[:i]
		}
	}
	return s
}
