package ghsim

import (
	"fmt"
	"slices"
)

// suiteOf is an app's check suite for a commit, made when there is none.
func (s *Server) suiteOf(r *repository, a *app, sha string) *suite {
	for _, st := range r.suites {
		if st.app == a && st.sha == sha {
			return st
		}
	}
	st := &suite{id: s.newID(), app: a, sha: sha, status: "queued", made: s.now(), updated: s.now()}
	for _, b := range r.branches() {
		if r.head(b) == sha && (st.branch == "" || b != r.defaultBranch) {
			st.branch = b
		}
	}
	r.suites = append(r.suites, st)
	return st
}

// requestSuites makes a check suite for each app with checks: write after a push
// and tells the app.
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-checks
func (s *Server) requestSuites(r *repository, a actor, branch, old, sha string) {
	for _, i := range s.installed(r) {
		if i.permissions["checks"] != "write" {
			continue
		}
		n := len(r.suites)
		st := s.suiteOf(r, i.app, sha)
		if len(r.suites) == n {
			continue
		}
		st.branch, st.before = branch, old
		s.emitSuite(r, a, st, "requested")
	}
}

// settleSuite computes a suite from its check runs and announces its completion.
func (s *Server) settleSuite(r *repository, a actor, st *suite) {
	was := st.status
	st.status, st.conclusion = suiteState(latestOf(r, st))
	st.updated = s.now()
	if st.status == "completed" && was != "completed" {
		s.note(Entry{Kind: "check_suite.completed", Actor: a.user.login, Repo: r.fullName(), Ref: st.app.slug, SHA: st.sha, Detail: st.conclusion})
		s.emitSuite(r, a, st, "completed")
	}
}

// latestOf are the newest check runs of each name in a suite.
func latestOf(r *repository, st *suite) []*checkRun {
	seen := map[string]bool{}
	var ks []*checkRun
	for _, k := range slices.Backward(r.checks) {
		if k.suite == st && !seen[k.name] {
			seen[k.name] = true
			ks = append(ks, k)
		}
	}
	return ks
}

// suiteState is a suite's status and conclusion: the worst of its check runs'.
func suiteState(ks []*checkRun) (status, conclusion string) {
	if len(ks) == 0 {
		return "queued", ""
	}
	order := []string{"", "skipped", "neutral", "success", "stale", "cancelled", "timed_out", "action_required", "failure"}
	for _, k := range ks {
		if k.status != "completed" {
			return "in_progress", ""
		}
		if slices.Index(order, k.conclusion) > slices.Index(order, conclusion) {
			conclusion = k.conclusion
		}
	}
	return "completed", conclusion
}

func (s *Server) suiteJSON(r *repository, st *suite) object {
	u := s.api("/repos/%s/check-suites/%d", r.fullName(), st.id)
	return object{
		"id": st.id, "node_id": nodeID("CS", st.id), "head_branch": orNull(st.branch), "head_sha": st.sha, "status": st.status,
		"conclusion": orNull(st.conclusion), "url": u, "before": orNull(st.before), "after": st.sha,
		"pull_requests": s.pullStubs(r, st.sha), "app": s.appJSON(st.app), "created_at": stamp(st.made), "updated_at": stamp(st.updated),
		"rerequestable": true, "runs_rerequestable": true, "latest_check_runs_count": len(latestOf(r, st)),
		"check_runs_url": u + "/check-runs", "head_commit": s.simpleCommitJSON(s.git.facts(r.dir, st.sha)),
	}
}

func (s *Server) suiteFullJSON(r *repository, st *suite) object {
	o := s.suiteJSON(r, st)
	o["app"], o["repository"] = s.integrationJSON(st.app), s.repoLiteJSON(r)
	return o
}

// emitSuite sends a check_suite event: completed to every app, the others only
// to the one that owns the suite.
func (s *Server) emitSuite(r *repository, a actor, st *suite, action string) {
	body := s.suiteJSON(r, st)
	if action == "rerequested" {
		delete(body, "rerequestable")
		delete(body, "runs_rerequestable")
	}
	for _, i := range s.installed(r) {
		if action == "completed" || i.app == st.app {
			s.emitTo(i, r, a, "check_suite", action, object{"check_suite": body})
		}
	}
}

func (s *Server) listSuites(c *call) (answer, error) {
	sha, found := s.commitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, unprocessable("No commit found for SHA: " + c.params["ref"])
	}
	var sts []*suite
	for _, st := range c.repo.suites {
		id := c.query.Get("app_id")
		if st.sha == sha && (id == "" || id == fmt.Sprint(st.app.id)) {
			sts = append(sts, st)
		}
	}
	return page(c, sts, "check_suites", func(st *suite) object { return s.suiteFullJSON(c.repo, st) })
}

func (c *call) suite() (*suite, error) {
	for _, st := range c.repo.suites {
		if st.id == c.id("id") {
			return st, nil
		}
	}
	return nil, notFound()
}

func (s *Server) getSuite(c *call) (answer, error) {
	st, err := c.suite()
	if err != nil {
		return answer{}, err
	}
	return ok(s.suiteFullJSON(c.repo, st)), nil
}

func (s *Server) rerequestSuite(c *call) (answer, error) {
	st, err := c.suite()
	if err != nil {
		return answer{}, err
	}
	a := c.actor()
	s.note(Entry{Kind: "check_suite.rerequested", Actor: a.user.login, Repo: c.repo.fullName(), Ref: st.app.slug, SHA: st.sha})
	if st.app == s.actions {
		for _, w := range c.repo.runs {
			if w.suite == st && w.status == "completed" {
				if err := s.rerun(c.repo, w, a, func(*job) bool { return true }); err != nil {
					return answer{}, err
				}
			}
		}
		return created(object{}), nil
	}
	st.status, st.conclusion = "queued", ""
	s.emitSuite(c.repo, a, st, "rerequested")
	return created(object{}), nil
}
