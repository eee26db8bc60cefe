package ghsim

import (
	"fmt"
	"slices"
	"time"
)

func (r *repository) check(id int64) *checkRun {
	for _, c := range r.checks {
		if c.id == id {
			return c
		}
	}
	return nil
}

var (
	checkStatuses    = []string{"queued", "in_progress", "completed", "waiting", "requested", "pending"}
	checkConclusions = []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out"}
)

// maxAnnotations is how many annotations one request may carry.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const maxAnnotations = 50

// checkInput is the body of creating or changing a check run.
type checkInput struct {
	Name        *string    `json:"name"`
	HeadSHA     string     `json:"head_sha"`
	DetailsURL  *string    `json:"details_url"`
	ExternalID  *string    `json:"external_id"`
	Status      *string    `json:"status"`
	StartedAt   *time.Time `json:"started_at"`
	Conclusion  *string    `json:"conclusion"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title       *string      `json:"title"`
		Summary     *string      `json:"summary"`
		Text        *string      `json:"text"`
		Annotations []annotation `json:"annotations"`
	} `json:"output"`
	Actions *[]object `json:"actions"`
}

func (in *checkInput) check() error {
	if in.Status != nil && !slices.Contains(checkStatuses, *in.Status) {
		return invalid("CheckRun", "status", "invalid", "")
	}
	if in.Conclusion != nil && !slices.Contains(checkConclusions, *in.Conclusion) {
		return invalid("CheckRun", "conclusion", "invalid", "")
	}
	if in.Status != nil && *in.Status == "completed" && in.Conclusion == nil {
		return invalid("CheckRun", "conclusion", "missing_field", "")
	}
	if o := in.Output; o != nil {
		switch {
		case o.Summary == nil || o.Title == nil:
			return invalid("CheckRun", "output", "missing_field", "output needs title and summary")
		case len(*o.Summary) > 65535 || o.Text != nil && len(*o.Text) > 65535:
			return invalid("CheckRun", "output", "custom", "summary and text are at most 65535 characters")
		case len(o.Annotations) > maxAnnotations:
			return unprocessable("Invalid request. No more than 50 items are allowed in output.annotations.")
		}
		for _, a := range o.Annotations {
			if a.Path == "" || a.Message == "" || !slices.Contains([]string{"notice", "warning", "failure"}, a.Level) {
				return invalid("CheckRun", "annotations", "invalid", "")
			}
		}
	}
	if in.Actions != nil && len(*in.Actions) > 3 {
		return unprocessable("Invalid request. No more than 3 items are allowed in actions.")
	}
	if in.Actions != nil {
		for _, a := range *in.Actions {
			for field, limit := range map[string]int{"label": 20, "description": 40, "identifier": 20} {
				if v := fmt.Sprint(a[field]); a[field] == nil || len([]rune(v)) > limit {
					return invalid("CheckRun", "actions", "invalid", fmt.Sprintf("%s is required and at most %d characters", field, limit))
				}
			}
		}
	}
	return nil
}

// apply changes a check run by what the input has.
func (in *checkInput) apply(c *checkRun, now time.Time) {
	for dst, src := range map[*string]*string{&c.name: in.Name, &c.externalID: in.ExternalID, &c.detailsURL: in.DetailsURL, &c.status: in.Status} {
		if src != nil {
			*dst = *src
		}
	}
	if in.StartedAt != nil {
		c.started = *in.StartedAt
	}
	if in.Conclusion != nil {
		c.status, c.conclusion, c.completed = "completed", *in.Conclusion, now
	} else if in.Status != nil {
		c.conclusion, c.completed = "", time.Time{} // opened again
	}
	if in.CompletedAt != nil {
		c.completed = *in.CompletedAt
	}
	if o := in.Output; o != nil {
		c.title, c.summary, c.text = o.Title, o.Summary, o.Text
		c.annotations = append(c.annotations, o.Annotations...)
	}
	if in.Actions != nil {
		c.actions = *in.Actions
	}
}

// checkJSON is a check run as the REST API answers it.
func (s *Server) checkJSON(r *repository, c *checkRun) object {
	o := s.checkBody(r, c)
	o["check_suite"] = object{"id": c.suite.id}
	o["app"] = s.integrationJSON(c.suite.app)
	return o
}

// checkPayload is a check run as its events carry it.
func (s *Server) checkPayload(r *repository, c *checkRun) object {
	o := s.checkBody(r, c)
	st := c.suite
	o["check_suite"] = object{
		"id": st.id, "node_id": nodeID("CS", st.id), "head_branch": orNull(st.branch), "head_sha": st.sha, "status": st.status,
		"conclusion": orNull(st.conclusion), "url": s.api("/repos/%s/check-suites/%d", r.fullName(), st.id), "before": orNull(st.before),
		"after": st.sha, "pull_requests": s.pullStubs(r, st.sha), "app": s.appJSON(st.app), "created_at": stamp(st.made), "updated_at": stamp(st.updated),
	}
	o["app"] = s.appJSON(st.app)
	if o["started_at"] == nil {
		o["started_at"] = stamp(st.made)
	}
	return o
}

func (s *Server) checkBody(r *repository, c *checkRun) object {
	u := s.api("/repos/%s/check-runs/%d", r.fullName(), c.id)
	html := s.html("/%s/runs/%d", r.fullName(), c.id)
	details := c.detailsURL
	if details == "" {
		details = html
	}
	return object{
		"id": c.id, "node_id": nodeID("CR", c.id), "name": c.name, "head_sha": c.sha, "external_id": c.externalID, "url": u,
		"html_url": html, "details_url": details, "status": c.status, "conclusion": orNull(c.conclusion),
		"started_at": stamp(c.started), "completed_at": stamp(c.completed),
		"output": object{"title": c.title, "summary": c.summary, "text": c.text, "annotations_count": len(c.annotations),
			"annotations_url": u + "/annotations"},
		"pull_requests": s.pullStubs(r, c.sha),
	}
}

// emitCheck sends a check_run event: created and completed to every app,
// rerequested and requested_action only to the one that owns the check run.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run
func (s *Server) emitCheck(r *repository, a actor, c *checkRun, action string, extra object) {
	body := object{"check_run": s.checkPayload(r, c)}
	for k, v := range extra {
		body[k] = v
	}
	for _, i := range s.installed(r) {
		if action == "created" || action == "completed" || i.app == c.suite.app {
			s.emitTo(i, r, a, "check_run", action, body)
		}
	}
}

// checkChanged announces a check run that was created or changed, and brings
// its suite up to date.
func (s *Server) checkChanged(r *repository, a actor, c *checkRun, fresh, wasDone bool) {
	if fresh {
		s.note(Entry{Kind: "check_run.created", Actor: a.user.login, Repo: r.fullName(), Ref: c.name, SHA: c.sha, Detail: c.status})
		s.emitCheck(r, a, c, "created", nil)
	}
	if c.status == "completed" && !wasDone {
		s.note(Entry{Kind: "check_run.completed", Actor: a.user.login, Repo: r.fullName(), Ref: c.name, SHA: c.sha, Detail: c.conclusion})
		s.emitCheck(r, a, c, "completed", nil)
	}
	s.settleSuite(r, a, c.suite)
}

func (s *Server) createCheck(c *call) (answer, error) {
	var in checkInput
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	sha, known := s.commitOf(c.repo, in.HeadSHA)
	switch {
	case in.Name == nil || *in.Name == "":
		return answer{}, invalid("CheckRun", "name", "missing_field", "")
	case !known || sha != in.HeadSHA:
		return answer{}, unprocessable("No commit found for SHA: " + in.HeadSHA)
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	a := c.actor()
	run := &checkRun{id: s.newID(), suite: s.suiteOf(c.repo, a.app, sha), sha: sha, status: "queued", started: s.now()}
	in.apply(run, s.now())
	c.repo.checks = append(c.repo.checks, run)
	s.checkChanged(c.repo, a, run, true, false)
	return created(s.checkJSON(c.repo, run)), nil
}

func (c *call) check() (*checkRun, error) {
	if k := c.repo.check(c.id("id")); k != nil {
		return k, nil
	}
	return nil, notFound()
}

func (s *Server) patchCheck(c *call) (answer, error) {
	run, err := c.check()
	if err != nil {
		return answer{}, err
	}
	if run.suite.app != c.actor().app {
		return answer{}, &apiError{code: 403, message: "Invalid app_id `" + itoa(c.actor().app.id) + "` - check run can only be modified by the GitHub App that created it."}
	}
	var in checkInput
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	wasDone := run.status == "completed"
	in.apply(run, s.now())
	s.checkChanged(c.repo, c.actor(), run, false, wasDone)
	return ok(s.checkJSON(c.repo, run)), nil
}

func (s *Server) getCheck(c *call) (answer, error) {
	run, err := c.check()
	if err != nil {
		return answer{}, err
	}
	return ok(s.checkJSON(c.repo, run)), nil
}

func (s *Server) listAnnotations(c *call) (answer, error) {
	run, err := c.check()
	if err != nil {
		return answer{}, err
	}
	return page(c, run.annotations, "", func(a annotation) object {
		o := object{"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": a.StartColumn, "end_column": a.EndColumn,
			"annotation_level": a.Level, "message": a.Message, "title": a.Title, "raw_details": a.RawDetails,
			"blob_href": s.html("/%s/blob/%s/%s", c.repo.fullName(), run.sha, a.Path)}
		return o
	})
}

// rerequestCheck asks for a check run again: one of the check runner's runs
// again, for another app's its suite is reset and the app is told.
func (s *Server) rerequestCheck(r *repository, a actor, c *checkRun) error {
	if c.status != "completed" {
		return unprocessable("This check run is not rerequestable")
	}
	s.note(Entry{Kind: "check_run.rerequested", Actor: a.user.login, Repo: r.fullName(), Ref: c.name, SHA: c.sha})
	if c.job != nil {
		return s.rerun(r, c.job.run, a, func(j *job) bool { return j.plan.name == c.job.plan.name })
	}
	s.emitCheck(r, a, c, "rerequested", nil)
	return nil
}

func (s *Server) postRerequest(c *call) (answer, error) {
	run, err := c.check()
	if err != nil {
		return answer{}, err
	}
	if err := s.rerequestCheck(c.repo, c.actor(), run); err != nil {
		return answer{}, err
	}
	return created(object{}), nil
}

// listChecks is GET /repos/{owner}/{repo}/commits/{ref}/check-runs.
func (s *Server) listChecks(c *call) (answer, error) {
	sha, found := s.commitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, unprocessable("No commit found for SHA: " + c.params["ref"])
	}
	return s.pageChecks(c, func(k *checkRun) bool { return k.sha == sha })
}

func (s *Server) listSuiteChecks(c *call) (answer, error) {
	id := c.id("id")
	return s.pageChecks(c, func(k *checkRun) bool { return k.suite.id == id })
}

// pageChecks lists check runs by the query: newest first, and with filter=latest,
// the default, the newest of each name in a suite.
func (s *Server) pageChecks(c *call, keep func(*checkRun) bool) (answer, error) {
	latest := c.query.Get("filter") != "all"
	seen := map[string]bool{}
	var ks []*checkRun
	for _, k := range slices.Backward(c.repo.checks) {
		key := fmt.Sprint(k.suite.id, k.name)
		if !keep(k) || latest && seen[key] {
			continue
		}
		seen[key] = true
		if n := c.query.Get("check_name"); n != "" && n != k.name {
			continue
		}
		if st := c.query.Get("status"); st != "" && st != k.status {
			continue
		}
		if id := c.query.Get("app_id"); id != "" && id != itoa(k.suite.app.id) {
			continue
		}
		ks = append(ks, k)
	}
	return page(c, ks, "check_runs", func(k *checkRun) object { return s.checkJSON(c.repo, k) })
}
